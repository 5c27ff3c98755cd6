#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# mmapread's command line. Makes nothing on the host.

bats_require_minimum_version 1.5.0
load helpers.bash

mmapread=$bin/mmapread

# Other tools may be at work on this machine.
ours() { traces | grep mmapread || true; }
setup() { before=$(ours); }
teardown() { [ "$before" = "$(ours)" ]; }

@test "--help goes to stdout, exit 0, and names every option group" {
	run --separate-stderr "$mmapread" --help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for word in --procs --pattern --readahead --fs --keep-files "Exit status" "The load:" \
		"The files:" "The run:" "Output:"; do
		[[ $output == *"$word"* ]]
	done
}

@test "--version names the tool and the suite" {
	run --separate-stderr "$mmapread" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^mmapread\ \(squeeze\)\ [0-9]+\.[0-9]+ ]]
}

@test "every long option of --help is in the man page, and the other way round" {
	man=$BATS_TEST_DIRNAME/../../man/mmapread.1
	from_help=$("$mmapread" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)
	from_man=$(grep -oE -- 'Fl Fl [a-z][a-z-]+' "$man" | sed 's/Fl Fl /--/' | sort -u)
	diff <(echo "$from_help") <(echo "$from_man")
}

@test "bad values are refused by name, value and hint" {
	assert_usage "--procs: 'many' is not a list of numbers" "$mmapread" --procs many
	assert_usage "--procs: '0' is not a list of numbers from 1 to 2048" "$mmapread" --procs 0
	assert_usage "--procs: '1,,2' is not a list" "$mmapread" --procs 1,,2
	assert_usage "--procs: '1,2,' is not a list" "$mmapread" --procs 1,2,
	assert_usage "--procs: '1-4' is not a list" "$mmapread" --procs 1-4
	assert_usage "--procs: '2049' is not a list" "$mmapread" --procs=2049
	assert_usage "--procs: at most 16 numbers" "$mmapread" \
		--procs 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
	assert_usage "--pattern: 'zigzag' is not seq or rand" "$mmapread" --pattern zigzag
	assert_usage "--advice: 'good' is not normal, random or sequential" "$mmapread" --advice good
	assert_usage "--file-size: '4q' is not a size" "$mmapread" --file-size 4q
	assert_usage "--readahead: 4 is out of range" "$mmapread" --readahead 4
	assert_usage "--readahead: 'far' is not a size" "$mmapread" --readahead far
	assert_usage "--fs: 'fat' is not btrfs, btrfs:zstd, btrfs:zstd:3, ext4 or xfs" \
		"$mmapread" --fs fat
	assert_usage "--fs: 'btrfs:zstd:99' is not" "$mmapread" --fs btrfs:zstd:99
	assert_usage "--compress: '0.5' is not a ratio from 1 to 100" "$mmapread" --compress 0.5
	assert_usage "--scenario: 'nosuch' is not one of mmapread's" "$mmapread" --scenario nosuch
	assert_usage "'file.txt': no operand is taken here" "$mmapread" file.txt
}

@test "what cannot go together is refused" {
	assert_usage "--keep-files: the image of --fs goes away" "$mmapread" --fs ext4 --keep-files
	assert_usage "--image-size: is for --fs" "$mmapread" --image-size 1g
	assert_usage "--procs: 2048 processes take 128 MiB by themselves" \
		"$mmapread" --procs 2048 --memcg 200M
	# In a ladder too, and before the first rung runs.
	assert_usage "procs-2048: --procs: 2048 processes take" \
		"$mmapread" --procs 1,2048 --memcg 200M
	assert_usage "--format: a ladder is written as text or json, not as ktap" \
		"$mmapread" --procs 1,2 --format ktap
}

@test "a folder that will not do is refused" {
	assert_usage "--dir: '/nonexistent' is no folder" "$mmapread" --dir /nonexistent
	assert_usage "--dir: 'here' is not an absolute path" "$mmapread" --dir here
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "no tmpfs at /dev/shm"
	assert_usage "--dir: '/dev/shm' is a tmpfs" "$mmapread" --dir /dev/shm
}

@test "--list and --explain" {
	run --separate-stderr "$mmapread" --list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == readahead-livelock* ]]
	run --separate-stderr "$mmapread" --explain
	[ "$status" -eq 0 ]
	[[ $output == *"FAIL means"* && $output == *"seeds/001"* && $output == *"--advice random"* ]]
}

@test "--dry-run says what would be made and changes nothing" {
	run --separate-stderr "$mmapread" --dry-run --memcg 256M
	[ "$status" -eq 0 ]
	# 104 files of 8 MiB, which is 3 x 256 MiB rounded up to whole MiB a file.
	[[ $output == *"104 x 1"* && $output == *"256 MiB"* && $output == *"832 MiB in /var/tmp"* ]]
	run --separate-stderr "$mmapread" --dry-run --procs 1,26
	[ "$status" -eq 0 ]
	[[ $output == *"1 x 1"* && $output == *"26 x 1"* ]]
}

@test "a missing mkfs is a SKIP that names its package" {
	need_root
	[ ! -e /sbin/mkfs.xfs ] || skip "mkfs.xfs is here"
	"$mmapread" --dry-run | grep -q "nothing is missing" || skip "more is missing"
	run --separate-stderr "$mmapread" --fs xfs --time 1s
	[ "$status" -eq 4 ]
	[[ $output == *SKIP* && $output == *xfsprogs* ]]
}

@test "as an unprivileged user: SKIP that names what is missing" {
	need_root
	command -v setpriv >/dev/null || skip "no setpriv"
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$mmapread" --procs 4 --memcg 64M --time 1s
	[ "$status" -eq 4 ]
	[[ $output == *SKIP* ]]
}
