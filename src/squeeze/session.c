/* SPDX-License-Identifier: GPL-2.0-only */
#include "session.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "cmd.h"
#include "parse.h"
#include "text.h"

#define NS_PER_S UINT64_C(1000000000)

static void print_upper(FILE *out, const char *s, int width)
{
	int n = 0;

	for (; *s; s++, n++)
		fputc(toupper((unsigned char)*s), out);
	fprintf(out, "%*s", n < width ? width - n : 0, "");
}

void session_record(struct session *s, struct session_item *item, enum verdict v,
		    const char *reason, uint64_t elapsed_ns)
{
	char text[32];

	item->runs++;
	item->failed += v == VERDICT_FAIL;
	item->judged += v == VERDICT_FAIL || v == VERDICT_PASS;
	item->elapsed_ns += elapsed_ns;
	if (item->runs == 1 || cmd_worse(item->verdict, v) != item->verdict) {
		item->verdict = v;
		(void)snprintf(item->reason, sizeof(item->reason), "%s", reason);
	}
	if (s->quiet)
		return;
	if (s->live)
		fputs("\r\033[K", stderr);
	fprintf(stderr, "%s, run %u of %u: ", item->entry->name, s->round, s->rounds);
	print_upper(stderr, verdict_name(v), 0);
	if (elapsed_ns)
		fprintf(stderr, " after %s\n", format_duration(elapsed_ns, text, sizeof(text)));
	else
		fprintf(stderr, ": %s\n", reason); /* the tool was not even started */
}

unsigned int session_seconds_left(const struct session *s, uint64_t elapsed_ns)
{
	uint64_t over = elapsed_ns / NS_PER_S;
	unsigned int round_s = 0, left;
	bool after = false;

	for (size_t i = 0; i < s->nr; i++)
		round_s += s->items[i].entry->seconds;
	left = (s->rounds - s->round) * round_s;
	for (size_t i = 0; i < s->nr; i++) {
		unsigned int own = s->items[i].entry->seconds;

		if (&s->items[i] == s->current) {
			left += own > over ? own - (unsigned int)over : 0;
			after = true;
		} else if (after) {
			left += own;
		}
	}
	return left;
}

void session_show_progress(const struct session *s, uint64_t elapsed_ns)
{
	const struct suite_entry *e = s->current->entry;
	unsigned int left = session_seconds_left(s, elapsed_ns);

	fprintf(stderr,
		"\r\033[K[%zu/%zu] %s, run %u of %u: %llu s of about %u s; about %u:%02u left",
		(size_t)(s->current - s->items) + 1, s->nr, e->name, s->round, s->rounds,
		(unsigned long long)(elapsed_ns / NS_PER_S), e->seconds, left / 60, left % 60);
	(void)fflush(stderr);
}

enum verdict session_verdict(const struct session *s)
{
	enum verdict worst = VERDICT_PASS;
	size_t runs = 0;

	for (size_t i = 0; i < s->nr; i++) {
		runs += s->items[i].runs;
		if (s->items[i].runs)
			worst = cmd_worse(worst, s->items[i].verdict);
	}
	return runs ? worst : VERDICT_INCONCLUSIVE;
}

static void print_item(const struct session_item *item, FILE *out)
{
	char text[32], rate[48] = "-";

	fprintf(out, "%-24s ", item->entry->name);
	if (!item->runs) {
		fputs("not run\n", out);
		return;
	}
	if (item->judged)
		(void)snprintf(rate, sizeof(rate), "%zu of %zu", item->failed, item->judged);
	print_upper(out, verdict_name(item->verdict), 13);
	fprintf(out, "%-10s %10s\n", rate, format_duration(item->elapsed_ns, text, sizeof(text)));
	if (item->verdict == VERDICT_PASS || !*item->reason)
		return;
	fputs("    ", out);
	text_paragraph(out, item->reason, 4, 4);
}

void session_summary(const struct session *s, FILE *out)
{
	fprintf(out, "%-24s %-13s%-10s %10s\n", "scenario", "verdict", "failed", "time");
	for (size_t i = 0; i < s->nr; i++)
		print_item(&s->items[i], out);
	if (s->signal)
		fprintf(out, "\nEnded early by %s: what was measured until then is kept.\n",
			strsignal(s->signal));
	fprintf(out, "\nResults are in %s. To see them: squeeze report %s -o %s/report.html\n",
		s->out, s->out, s->out);
}

/* Enough for the last sentence of any tool. */
#define TAIL_SIZE 2048

bool session_last_line(const char *path, char *ret, size_t size)
{
	_cleanup_fclose_ FILE *in = fopen(path, "re");
	char tail[TAIL_SIZE + 1];
	size_t n;
	char *line;

	if (!in)
		return false;
	if (fseek(in, -TAIL_SIZE, SEEK_END) < 0)
		rewind(in); /* shorter than that */
	n = fread(tail, 1, TAIL_SIZE, in);
	while (n && isspace((unsigned char)tail[n - 1]))
		n--;
	tail[n] = '\0';
	if (!n || memchr(tail, '\0', n))
		return false;
	line = strrchr(tail, '\n');
	(void)text_clean(line ? line + 1 : tail, "", ret, size);
	return true;
}
