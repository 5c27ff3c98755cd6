/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast mmapread writes its files: bench_dataset FOLDER FILES BYTES [RATIO [SEED]] writes them and
 * prints "BYTES NANOSECONDS" (written and synced). bench/dataset-vs-fio.sh holds it against fio.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "backing.h"
#include "dataset.h"
#include "parse.h"
#include "progress.h"

static int usage(void)
{
	fprintf(stderr, "usage: bench_dataset FOLDER FILES BYTES [RATIO [SEED]]\n");
	return 64;
}

int main(int argc, char **argv)
{
	struct dataset set = { .content = { .seed = 1, .ratio = 1 } };
	struct fail f = { 0 };
	uint64_t files, began_ns, took_ns;

	if (argc < 4 || parse_u64(argv[2], &files) < 0 || files < 1 || files > 100000 ||
	    parse_size(argv[3], &set.file_bytes) < 0)
		return usage();
	if ((argc > 4 && parse_real(argv[4], &set.content.ratio) < 0) ||
	    (argc > 5 && parse_u64(argv[5], &set.content.seed) < 0))
		return usage();
	(void)snprintf(set.dir, sizeof(set.dir), "%s", argv[1]);
	set.nr_files = (unsigned int)files;
	set.buffered = backing_wants_buffered(set.dir);
	began_ns = clock_now_ns();
	if (dataset_write(&set, &f) < 0) {
		fprintf(stderr, "bench_dataset: %s\n", f.what);
		return 2;
	}
	took_ns = clock_now_ns() - began_ns;
	printf("%" PRIu64 " %" PRIu64 "\n", set.nr_files * set.file_bytes, took_ns);
	return 0;
}
