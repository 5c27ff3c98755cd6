/* SPDX-License-Identifier: GPL-2.0-only */
#include "proctext.h"

#include <errno.h>
#include <string.h>

#include "parse.h"

/* A piece of the text between separators; not terminated. */
struct word {
	const char *s;
	size_t len;
};

static const char *line_end(const char *s)
{
	return strchrnul(s, '\n');
}

/* The next word of the line that ends at @end; empty when there is none. */
static struct word next_word(const char **cursor, const char *end)
{
	struct word w;

	while (*cursor < end && (**cursor == ' ' || **cursor == '\t'))
		++*cursor;
	w.s = *cursor;
	while (*cursor < end && **cursor != ' ' && **cursor != '\t')
		++*cursor;
	w.len = (size_t)(*cursor - w.s);
	return w;
}

static bool word_is(struct word w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.s, text, w.len) == 0;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The kernel writes blank, tab, newline and backslash as \ooo (seq_path). */
static int copy_path(struct word w, char *ret, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < w.len; i++) {
		char c = w.s[i];

		if (c == '\\' && i + 3 < w.len && w.s[i + 1] <= '3' && is_octal(w.s[i + 1]) &&
		    is_octal(w.s[i + 2]) && is_octal(w.s[i + 3])) {
			c = (char)((w.s[i + 1] - '0') << 6 | (w.s[i + 2] - '0') << 3 |
				   (w.s[i + 3] - '0'));
			i += 3;
		}
		if (used + 1 >= size)
			return -ENAMETOOLONG;
		ret[used++] = c;
	}
	ret[used] = '\0';
	return 0;
}

/* What does not fit is cut behind the last whole option: half an option could read like another. */
static void copy_options(struct word w, char *ret, size_t size)
{
	size_t len = w.len;

	if (len >= size) {
		len = size - 1;
		while (len > 0 && w.s[len] != ',')
			len--;
	}
	memcpy(ret, w.s, len);
	ret[len] = '\0';
}

/* Over one blank and one field that may be empty, as the source of mount -t tmpfs "" /mnt is. */
static void skip_field(const char **cursor, const char *end)
{
	if (*cursor < end)
		++*cursor;
	while (*cursor < end && **cursor != ' ')
		++*cursor;
}

/* Numbers and device before the paths are checked for presence only. */
static int mount_line(const char *line, const char *end, struct mount_entry *ret)
{
	struct word root, point, options, word;

	for (int i = 0; i < 3; i++) {
		if (next_word(&line, end).len == 0)
			return -EINVAL;
	}
	root = next_word(&line, end);
	point = next_word(&line, end);
	options = next_word(&line, end);
	/* Any number of optional fields (shared:1, master:2), ended by a dash. */
	do {
		word = next_word(&line, end);
		if (word.len == 0)
			return -EINVAL;
	} while (!word_is(word, "-"));
	word = next_word(&line, end);
	if (word.len == 0)
		return -EINVAL;
	copy_options(word, ret->fs_type, sizeof(ret->fs_type));
	skip_field(&line, end); /* source */
	copy_options(options, ret->options, sizeof(ret->options));
	copy_options(next_word(&line, end), ret->super_options, sizeof(ret->super_options));
	if (copy_path(root, ret->root, sizeof(ret->root)) < 0)
		return -ENAMETOOLONG;
	return copy_path(point, ret->point, sizeof(ret->point));
}

int mountinfo_each(const char *text, int (*each)(const struct mount_entry *m, void *data),
		   void *data)
{
	struct mount_entry entry;

	while (*text) {
		const char *end = line_end(text);

		if (mount_line(text, end, &entry) == 0) {
			int r = each(&entry, data);

			if (r)
				return r;
		}
		text = *end ? end + 1 : end;
	}
	return 0;
}

/* The next item of a comma list that ends at @end. */
static bool next_item(const char **cursor, const char *end, struct word *ret)
{
	const char *comma;

	if (*cursor > end)
		return false;
	comma = memchr(*cursor, ',', (size_t)(end - *cursor));
	ret->s = *cursor;
	ret->len = (size_t)((comma ? comma : end) - *cursor);
	*cursor = (comma ? comma : end) + 1;
	return true;
}

static bool list_has(const char *list, size_t len, const char *item)
{
	const char *cursor = list;
	struct word w;

	while (next_item(&cursor, list + len, &w)) {
		if (word_is(w, item))
			return true;
	}
	return false;
}

bool mount_option_has(const char *options, const char *option)
{
	return *option && list_has(options, strlen(options), option);
}

/* "ID:controllers:path"; the v2 hierarchy is 0 and has no controllers named. */
static bool cgroup_line_names(const char *line, const char *end, const char *controller,
			      struct word *ret_path)
{
	const char *list, *colon;
	uint64_t id;

	if (parse_u64_at(&line, &id) < 0 || *line != ':')
		return false;
	list = line + 1;
	colon = memchr(list, ':', (size_t)(end - list));
	if (!colon)
		return false;
	if (*controller ? !list_has(list, (size_t)(colon - list), controller)
			: id != 0 || colon != list)
		return false;
	*ret_path = (struct word){ .s = colon + 1, .len = (size_t)(end - colon - 1) };
	return true;
}

int proc_cgroup_path(const char *text, const char *controller, char *ret_path, size_t size)
{
	while (*text) {
		const char *end = line_end(text);
		struct word path;

		if (cgroup_line_names(text, end, controller, &path)) {
			if (path.len >= size)
				return -ENAMETOOLONG;
			/* Not escaped by the kernel: only a newline could mislead, and cgroup names
			 * cannot hold one. */
			memcpy(ret_path, path.s, path.len);
			ret_path[path.len] = '\0';
			return 0;
		}
		text = *end ? end + 1 : end;
	}
	return -ENOENT;
}

/* The whole word must be a number. */
static int word_u64(struct word w, uint64_t *ret)
{
	const char *p = w.s;
	uint64_t value;

	if (w.len == 0 || parse_u64_at(&p, &value) < 0 || p != w.s + w.len)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int word_int(struct word w, int *ret)
{
	bool negative = w.len > 0 && *w.s == '-';
	uint64_t value;

	if (negative) {
		w.s++;
		w.len--;
	}
	if (word_u64(w, &value) < 0 || value > INT_MAX)
		return -EINVAL;
	*ret = negative ? -(int)value : (int)value;
	return 0;
}

static int word_kib(struct word w, uint64_t *ret_bytes)
{
	uint64_t kib;

	if (word_u64(w, &kib) < 0 || __builtin_mul_overflow(kib, 1024, ret_bytes))
		return -EINVAL;
	return 0;
}

static int swap_line(const char *line, const char *end, struct swap_entry *ret)
{
	struct word path = next_word(&line, end);
	struct word type = next_word(&line, end);

	ret->partition = word_is(type, "partition");
	if (!ret->partition && !word_is(type, "file"))
		return -EINVAL; /* the header among others */
	if (word_kib(next_word(&line, end), &ret->size_bytes) < 0 ||
	    word_kib(next_word(&line, end), &ret->used_bytes) < 0 ||
	    word_int(next_word(&line, end), &ret->priority) < 0)
		return -EINVAL;
	return copy_path(path, ret->path, sizeof(ret->path));
}

int swaps_each(const char *text, int (*each)(const struct swap_entry *s, void *data), void *data)
{
	struct swap_entry entry;

	while (*text) {
		const char *end = line_end(text);

		if (swap_line(text, end, &entry) == 0) {
			int r = each(&entry, data);

			if (r)
				return r;
		}
		text = *end ? end + 1 : end;
	}
	return 0;
}

/* Field numbers as in proc_pid_stat(5); the state is field 3. */
#define STAT_PPID 4
#define STAT_MINFLT 10
#define STAT_MAJFLT 12
#define STAT_STARTTIME 22

static int stat_numbers(const char *p, struct proc_stat *ret)
{
	const char *end = line_end(p);

	for (int field = STAT_PPID; field <= STAT_STARTTIME; field++) {
		struct word w = next_word(&p, end);
		int r = w.len ? 0 : -EINVAL;

		if (field == STAT_PPID)
			r = word_int(w, &ret->ppid);
		else if (field == STAT_MINFLT)
			r = word_u64(w, &ret->minor_faults);
		else if (field == STAT_MAJFLT)
			r = word_u64(w, &ret->major_faults);
		else if (field == STAT_STARTTIME)
			r = word_u64(w, &ret->start_time_ticks);
		if (r < 0)
			return r;
	}
	return 0;
}

int proc_stat_parse(const char *text, struct proc_stat *ret)
{
	struct proc_stat s = { 0 };
	const char *open = strchr(text, '(');
	/* comm is whatever the task says it is: only the last parenthesis is surely the
	 * kernel's. */
	const char *close = strrchr(text, ')');
	size_t comm_len;

	if (!open || !close || close < open || open == text || open[-1] != ' ')
		return -EINVAL;
	if (word_int((struct word){ .s = text, .len = (size_t)(open - 1 - text) }, &s.pid) < 0)
		return -EINVAL;
	comm_len = (size_t)(close - open - 1);
	if (comm_len >= sizeof(s.comm))
		return -EINVAL;
	memcpy(s.comm, open + 1, comm_len);
	if (close[1] != ' ' || close[2] < 'A' || close[2] > 'z' || close[3] != ' ')
		return -EINVAL;
	s.state = close[2];
	if (stat_numbers(close + 4, &s) < 0)
		return -EINVAL;
	*ret = s;
	return 0;
}
