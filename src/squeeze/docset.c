/* SPDX-License-Identifier: GPL-2.0-only */
#include "docset.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"

static int complain(struct docset *set, const char *sentence)
{
	char **more = reallocarray(set->complaints, set->nr_complaints + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	set->complaints = more;
	more[set->nr_complaints] = strdup(sentence);
	if (!more[set->nr_complaints])
		return -ENOMEM;
	set->nr_complaints++;
	return 0;
}

static int add_file(struct docset *set, const char *path, int from_folder)
{
	struct document **more = reallocarray(set->docs, set->nr + 1, sizeof(struct document *));
	struct document *doc;
	struct fail f = { 0 };
	int r;

	if (!more)
		return -ENOMEM;
	set->docs = more;
	r = document_load(path, &doc, &f);
	if (r == -ENOMSG && from_folder) {
		set->nr_foreign++;
		return 0;
	}
	if (r < 0)
		return complain(set, f.what);
	more[set->nr++] = doc;
	return 0;
}

static int add_found_file(struct docset *set, const char *path)
{
	return add_file(set, path, 1);
}

static int is_json(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + length - 5, ".json");
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

/* Calls @add for what @choose takes of the folder, in the order of version numbers. */
static int add_entries(struct docset *set, const char *path, int (*choose)(const struct dirent *),
		       int (*add)(struct docset *, const char *))
{
	struct dirent **names = NULL;
	int n = scandir(path, &names, choose, versionsort), r = 0;
	struct fail f;

	if (n < 0) {
		(void)fail_set(&f, errno, "%s", path);
		return complain(set, f.what);
	}
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *entry = NULL;

		if (r == 0 && asprintf(&entry, "%s/%s", path, names[i]->d_name) < 0) {
			entry = NULL;
			r = -ENOMEM;
		}
		if (r == 0)
			r = add(set, entry);
		free(names[i]);
	}
	free(names);
	return r;
}

static int add_folder(struct docset *set, const char *path)
{
	size_t before = set->nr + set->nr_complaints;
	int r = add_entries(set, path, is_json, add_found_file);

	if (r == 0 && set->nr + set->nr_complaints == before)
		r = add_entries(set, path, is_folder, add_folder);
	return r;
}

static int add_named_folder(struct docset *set, const char *path)
{
	size_t before = set->nr + set->nr_complaints;
	struct fail f;
	int r = add_folder(set, path);

	if (r == 0 && set->nr + set->nr_complaints == before) {
		(void)fail_say(&f, ENOENT,
			       "%s: no result documents (*.json) in this folder or below", path);
		r = complain(set, f.what);
	}
	return r;
}

int docset_add(struct docset *set, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return add_named_folder(set, path);
	return add_file(set, path, 0);
}

void docset_free(struct docset *set)
{
	for (size_t i = 0; i < set->nr; i++)
		document_free(set->docs[i]);
	for (size_t i = 0; i < set->nr_complaints; i++)
		free(set->complaints[i]);
	free(set->docs);
	free(set->complaints);
	*set = DOCSET_EMPTY;
}
