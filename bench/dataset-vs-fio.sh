#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# mmapread's files of the default run (104 of 30 MiB) against fio writing the same with the same block
# size and queue depth, in turn, so that a disk's moods meet both. Prints each round and the ratio of
# the medians; exit 1 under 0.8 (issue 5), 4 when fio is missing.
#
# usage: bench/dataset-vs-fio.sh [BIN [FOLDER [ROUNDS]]]
set -euo pipefail

bin=${1:-"$(dirname "$0")/../build/bin"}
base=${2:-/var/tmp}
rounds=${3:-5}
files=104
bytes=$((30 << 20))
least=0.8

command -v fio > /dev/null || { echo "skipped: fio is missing (apt-get install fio)"; exit 4; }
dir=$(mktemp -d "$base/bench-dataset.XXXXXX")
trap 'rm -rf "$dir"' EXIT

ours() {
	mkdir "$dir/ours"
	"$bin/bench_dataset" "$dir/ours" "$files" "$bytes"
	rm -rf "$dir/ours"
}

# One job writes one file after the other, as mmapread does; what is timed is fio's own runtime, the
# final syncs included. fio writes the same buffer again and again, hardly changed, which is its default
# and faster than bytes made anew for every block, as mmapread's are.
theirs() {
	mkdir "$dir/fio"
	fio --name=w --directory="$dir/fio" --rw=write --bs=1M --iodepth=32 --ioengine=io_uring \
		--direct=1 --nrfiles="$files" --filesize="$bytes" --file_service_type=sequential \
		--end_fsync=1 --output-format=json |
		python3 -c 'import json, sys
j = json.load(sys.stdin)["jobs"][0]
print(j["write"]["io_bytes"], j["job_runtime"] * 1000000)'
	rm -rf "$dir/fio"
}

speed() { awk '{ printf "%.0f\n", $1 / $2 * 1e9 / 1048576 }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

printf 'round  mmapread MiB/s  fio MiB/s\n'
for ((i = 1; i <= rounds; i++)); do
	a=$(ours | speed)
	b=$(theirs | speed)
	printf '%5d  %14d  %9d\n' "$i" "$a" "$b"
	echo "$a" >> "$dir/a"
	echo "$b" >> "$dir/b"
done
awk -v a="$(median < "$dir/a")" -v b="$(median < "$dir/b")" -v least="$least" 'BEGIN {
	printf "ratio of the medians %.2f (budget >= %.2f)\n", a / b, least
	exit !(a / b >= least) }'
