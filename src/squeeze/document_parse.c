/* SPDX-License-Identifier: GPL-2.0-only */
#include "document.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cleanup.h"
#include "document_impl.h"
#include "parse.h"

/* More than any tool writes (result.h: 24 checks, 12 histograms, 48 parameters; --runs is a matter
 * of minutes each), so that a hostile file costs no more than it should. */
#define RUNS_MAX 1000
#define FACTS_MAX 200
#define TEXT_MAX 4096

static void free_json(json_t **j)
{
	json_decref(*j);
}

static const char *type_name(const json_t *j)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",  [JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a real",	     [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	     [JSON_NULL] = "null",
	};

	return names[json_typeof(j)];
}

int reader_field(struct reader *r, const json_t *obj, const char *key, json_type type, json_t **ret)
{
	json_t *j = json_object_get(obj, key);

	*ret = NULL;
	if (!j || json_is_null(j))
		return 0;
	if (json_typeof(j) != type)
		return fail_say(r->f, EINVAL, "%s: damaged: \"%s\" is %s", r->path, key,
				type_name(j));
	*ret = j;
	return 0;
}

int reader_nomem(const struct reader *r)
{
	return fail_set(r->f, ENOMEM, "%s", r->path);
}

const char *reader_clean(struct reader *r, const char *s)
{
	size_t length = strlen(s);
	char *copy, *p;

	if (length > TEXT_MAX) {
		length = TEXT_MAX;
		while (length && ((unsigned char)s[length] & 0xc0) == 0x80)
			length--; /* not in the middle of a character */
	}
	copy = pool_strndup(&r->doc->pool, s, length);
	if (!copy)
		return NULL;
	for (p = copy; *p; p++) {
		unsigned char c = (unsigned char)*p, next = (unsigned char)p[1];

		if (c == '\n' || c == '\t')
			*p = ' ';
		else if (c < 0x20 || c == 0x7f)
			*p = '?';
		else if (c == 0xc2 && next >= 0x80 && next <= 0x9f)
			p[0] = p[1] = '?'; /* U+0080 … U+009F: terminals obey these too */
	}
	return copy;
}

int reader_text(struct reader *r, const json_t *obj, const char *key, const char **ret)
{
	json_t *j;
	int e = reader_field(r, obj, key, JSON_STRING, &j);

	if (e < 0)
		return e;
	*ret = j ? reader_clean(r, json_string_value(j)) : "";
	return *ret ? 0 : reader_nomem(r);
}

struct value reader_number(const json_t *j)
{
	uint64_t large;

	if (json_is_integer(j)) {
		json_int_t i = json_integer_value(j);

		return i >= 0 ? value_u64((uint64_t)i) : value_real((double)i);
	}
	/* An integer that load_json() had to put in quotes. */
	if (json_is_string(j) && json_string_length(j) >= READER_LARGE_DIGITS &&
	    parse_u64(json_string_value(j), &large) == 0)
		return value_u64(large);
	return json_is_real(j) ? value_real(json_real_value(j)) : value_absent();
}

uint64_t reader_u64(const json_t *obj, const char *key)
{
	struct value v = reader_number(json_object_get(obj, key));

	return v.kind == VALUE_COUNT ? v.u : 0;
}

int reader_verdict(struct reader *r, const json_t *obj, enum verdict *ret)
{
	const char *text;
	int e = reader_text(r, obj, "verdict", &text);

	if (e < 0)
		return e;
	for (unsigned int v = 0; v < VERDICT_NR; v++) {
		if (!strcmp(text, verdict_name((enum verdict)v))) {
			*ret = (enum verdict)v;
			return 0;
		}
	}
	return fail_say(r->f, EINVAL, "%s: damaged: \"%.40s\" is no verdict", r->path, text);
}

/* Text of a scalar; arrays of scalars are joined by blanks; NULL for what is neither. */
static const char *scalar_text(struct reader *r, const json_t *j)
{
	_cleanup_free_ char *dumped = NULL;

	if (json_is_string(j))
		return reader_clean(r, json_string_value(j));
	if (json_is_null(j))
		return "";
	/* 17 digits tell any two doubles apart. */
	dumped = json_dumps(j, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17) | JSON_COMPACT);
	return dumped ? reader_clean(r, dumped) : NULL;
}

static int read_facts(struct reader *r, json_t *obj, struct doc_fact **ret, size_t *ret_nr)
{
	struct doc_fact *facts;
	size_t nr = 0;
	const char *key;
	json_t *j;

	if (json_object_size(obj) > FACTS_MAX)
		return fail_say(r->f, EINVAL, "%s: damaged: %zu parameters", r->path,
				json_object_size(obj));
	facts = pool_array(&r->doc->pool, json_object_size(obj) + 2, sizeof(*facts));
	if (!facts)
		return reader_nomem(r);
	json_object_foreach(obj, key, j)
	{
		struct doc_fact *fact = &facts[nr];

		if (json_is_array(j) || json_is_object(j))
			continue; /* host.swap: read_swap() */
		fact->name = reader_clean(r, key);
		fact->text = scalar_text(r, j);
		fact->number = reader_number(j);
		if (!fact->name || !fact->text)
			return reader_nomem(r);
		nr++;
	}
	*ret = facts;
	*ret_nr = nr;
	return 0;
}

/* The swap devices as one fact, "zram" or "zram file", since their kinds are what must be alike. */
static int read_swap(struct reader *r, const json_t *host)
{
	struct document *doc = r->doc;
	const char *kinds = "none";
	json_t *swap, *device;
	uint64_t bytes = 0;
	size_t i;
	int e = reader_field(r, host, "swap", JSON_ARRAY, &swap);

	if (e < 0 || !swap)
		return e;
	json_array_foreach(swap, i, device)
	{
		const char *kind;

		e = reader_text(r, device, "kind", &kind);
		if (e < 0)
			return e;
		bytes += reader_u64(device, "size_bytes");
		kinds = i ? pool_printf(&doc->pool, "%.200s %.40s", kinds, kind) : kind;
		if (!kinds)
			return reader_nomem(r);
	}
	doc->host[doc->nr_host++] = (struct doc_fact){ "swap", kinds, value_absent() };
	doc->host[doc->nr_host++] =
		(struct doc_fact){ "swap_bytes",
				   pool_printf(&doc->pool, "%llu", (unsigned long long)bytes),
				   value_u64(bytes) };
	return doc->host[doc->nr_host - 1].text ? 0 : reader_nomem(r);
}

/* One word as a shell needs it. */
static char *quote(struct pool *p, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_@%+=:,./-";
	size_t used = 0;
	char *out;

	if (*word && !word[strspn(word, safe)])
		return pool_strdup(p, word);
	out = pool_alloc(p, strlen(word) * 4 + 3); /* each ' becomes '\'' */
	if (!out)
		return NULL;
	out[used++] = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			for (const char *q = "'\\''"; *q; q++)
				out[used++] = *q;
		} else {
			out[used++] = *word;
		}
	}
	out[used] = '\'';
	return out;
}

static int read_command(struct reader *r, const json_t *root)
{
	const char *command = "";
	json_t *words, *word;
	size_t i;
	int e = reader_field(r, root, "command", JSON_ARRAY, &words);

	if (e < 0)
		return e;
	json_array_foreach(words, i, word)
	{
		const char *text = json_is_string(word) ? reader_clean(r, json_string_value(word))
							: "?";
		const char *quoted = text ? quote(&r->doc->pool, text) : NULL;

		if (quoted &&
		    strlen(command) < TEXT_MAX) /* as long as it can be quoted in a mail */
			command =
				pool_printf(&r->doc->pool, "%s%s%s", command, i ? " " : "", quoted);
		if (!quoted || !command)
			return reader_nomem(r);
	}
	r->doc->command = command;
	return 0;
}

/* Only a document of this very schema goes on; others are told apart by their number. */
static int check_schema(struct reader *r, const json_t *root)
{
	static const char prefix[] = "squeeze-result/";
	const json_t *j = json_object_get(root, "schema");
	const char *text = json_is_string(j) ? reader_clean(r, json_string_value(j)) : "";
	long ours = strtol(&RESULT_SCHEMA[sizeof(prefix) - 1], NULL, 10), theirs;
	char *end;

	if (!text)
		return reader_nomem(r);
	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0)
		return fail_say(r->f, ENOMSG,
				"%s: not a Squeeze result document (no \"schema\": \"%s\")",
				r->path, RESULT_SCHEMA);
	if (!strcmp(text, RESULT_SCHEMA))
		return 0;
	errno = 0;
	theirs = strtol(text + sizeof(prefix) - 1, &end, 10);
	if (errno || *end || end == text + sizeof(prefix) - 1 || theirs == ours)
		return fail_say(r->f, EPROTONOSUPPORT, "%s: unknown schema \"%.60s\"", r->path,
				text);
	return fail_say(r->f, EPROTONOSUPPORT,
			"%s: schema \"%.60s\" is %s than %s, which is what this "
			"squeeze reads",
			r->path, text, theirs > ours ? "newer" : "older", RESULT_SCHEMA);
}

static int read_head(struct reader *r, const json_t *root)
{
	struct document *doc = r->doc;
	const struct {
		const char *key;
		const char **text;
	} texts[] = {
		{ "tool", &doc->tool },		{ "version", &doc->version },
		{ "scenario", &doc->scenario }, { "document", &doc->described },
		{ "fix", &doc->fix },		{ "started", &doc->started },
		{ "reason", &doc->reason },
	};
	json_t *obj;
	int e = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts) && !e; i++)
		e = reader_text(r, root, texts[i].key, texts[i].text);
	if (e < 0)
		return e;
	if (!*doc->tool || !*doc->scenario)
		return fail_say(r->f, EINVAL, "%s: damaged: no \"%s\"", r->path,
				*doc->tool ? "scenario" : "tool");
	e = reader_verdict(r, root, &doc->verdict);
	if (e < 0)
		return e;
	e = reader_field(r, root, "host", JSON_OBJECT, &obj);
	if (!e && obj)
		e = read_facts(r, obj, &doc->host, &doc->nr_host);
	if (!e && obj)
		e = read_swap(r, obj);
	if (!e)
		e = reader_field(r, root, "params", JSON_OBJECT, &obj);
	if (!e && obj)
		e = read_facts(r, obj, &doc->params, &doc->nr_params);
	return e < 0 ? e : read_command(r, root);
}

static int read_runs(struct reader *r, const json_t *root)
{
	json_t *runs, *run;
	size_t i;
	int e = reader_field(r, root, "runs", JSON_ARRAY, &runs);

	if (e < 0)
		return e;
	if (json_array_size(runs) > RUNS_MAX)
		return fail_say(r->f, EINVAL, "%s: damaged: %zu runs", r->path,
				json_array_size(runs));
	r->doc->runs = pool_array(&r->doc->pool, json_array_size(runs), sizeof(struct doc_run));
	if (!r->doc->runs)
		return reader_nomem(r);
	r->doc->nr_runs = json_array_size(runs);
	json_array_foreach(runs, i, run)
	{
		if (!json_is_object(run))
			return fail_say(r->f, EINVAL, "%s: damaged: run %zu is %s", r->path, i + 1,
					type_name(run));
		e = reader_run(r, run, &r->doc->runs[i]);
		if (e < 0)
			return e;
	}
	return 0;
}

/* jansson's integers are signed: a document with one above 2^63 (a seed, say) is read again with
 * those as strings. */
static int load_json(struct reader *r, const void *data, size_t size, json_t **ret)
{
	json_error_t error;
	const char *text;

	*ret = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
	if (!*ret && json_error_code(&error) == json_error_numeric_overflow) {
		_cleanup_free_ char *quoted = reader_quote_large(data, size, &size);

		if (!quoted)
			return reader_nomem(r);
		*ret = json_loadb(quoted, size, JSON_REJECT_DUPLICATES, &error);
	}
	if (*ret)
		return 0;
	text = reader_clean(r, error.text);
	if (!size)
		return fail_say(r->f, EINVAL, "%s: empty", r->path);
	if (json_error_code(&error) == json_error_premature_end_of_input)
		return fail_say(r->f, EINVAL,
				"%s: cut short: the text ends at line %d, inside a value", r->path,
				error.line);
	return fail_say(r->f, EINVAL, "%s: damaged: line %d, column %d: %.100s", r->path,
			error.line, error.column, text ? text : "");
}

int document_parse(const char *path, const void *data, size_t size, struct document **ret,
		   struct fail *f)
{
	__attribute__((cleanup(document_freep))) struct document *doc = calloc(1, sizeof(*doc));
	struct reader r = { .doc = doc, .path = path, .f = f };
	__attribute__((cleanup(free_json))) json_t *root = NULL;
	int e;

	if (!doc)
		return fail_set(f, ENOMEM, "%s", path);
	doc->path = pool_strdup(&doc->pool, path);
	if (!doc->path)
		return reader_nomem(&r);
	e = load_json(&r, data, size, &root);
	if (e < 0)
		return e;
	if (!json_is_object(root))
		return fail_say(f, ENOMSG, "%s: not a Squeeze result document", path);
	e = check_schema(&r, root);
	if (!e)
		e = read_head(&r, root);
	if (!e)
		e = read_runs(&r, root);
	if (e < 0)
		return e;
	*ret = doc;
	doc = NULL;
	return 0;
}
