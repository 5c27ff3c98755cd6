#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The lab's command lines and its failures, without a network and without booting anything: a mirror
# of the test's own stands in for Debian's.
# shellcheck disable=SC2030,SC2031,SC2154  # each test is a subshell; bats sets stderr_lines

bats_require_minimum_version 1.5.0

lab=$BATS_TEST_DIRNAME/../../lab

setup_file() {
	mirror=$BATS_FILE_TMPDIR/mirror
	make_package "$mirror"
	publish "$mirror" "$(sha256sum "$mirror/pool/image.deb" | cut -d' ' -f1)"
	printf 'Types: deb\nURIs: file:%s\nSuites: bookworm\nComponents: main\nTrusted: yes\n' \
		"$mirror" >"$BATS_FILE_TMPDIR/mirror.sources"
}

setup() {
	mirror=$BATS_FILE_TMPDIR/mirror
	export SQUEEZE_LAB_SOURCES=$BATS_FILE_TMPDIR/mirror.sources
	export SQUEEZE_LAB_CACHE=$BATS_TEST_TMPDIR/cache
}

# make_package MIRROR: a kernel image package with next to nothing in it.
make_package() {
	local tree=$1/tree
	mkdir -p "$tree"/{DEBIAN,boot,lib/modules/9.9.9-amd64/kernel/fs} "$1/pool"
	echo image >"$tree/boot/vmlinuz-9.9.9-amd64"
	echo CONFIG_SMP=y >"$tree/boot/config-9.9.9-amd64"
	touch "$tree/lib/modules/9.9.9-amd64/modules.order"
	printf 'Package: linux-image-9.9.9-amd64\nVersion: 9.9.9-1\nArchitecture: amd64\nMaintainer: test <test@localhost>\nDescription: test\n' \
		>"$tree/DEBIAN/control"
	dpkg-deb -b "$tree" "$1/pool/image.deb" >/dev/null
}

# publish MIRROR SHA256: package lists that give the image this checksum.
publish() {
	local dist=$1/dists/bookworm list=main/binary-amd64/Packages
	mkdir -p "$dist/${list%/*}"
	printf 'Package: linux-image-9.9.9-amd64\nVersion: 9.9.9-1\nArchitecture: amd64\nFilename: pool/image.deb\nSize: %s\nSHA256: %s\nDescription: test\n\n' \
		"$(stat -c %s "$1/pool/image.deb")" "$2" >"$dist/$list"
	printf 'Package: linux-image-9.8.1-amd64\nVersion: 9.8.1-1\nArchitecture: amd64\nDepends: linux-modules-9.8.1-amd64 (= 9.8.1-1)\nFilename: pool/none.deb\nSize: 1\nSHA256: %064d\nDescription: test\n\n' \
		0 >>"$dist/$list"
	printf 'Suite: bookworm\nCodename: bookworm\nArchitectures: amd64\nComponents: main\nDate: Tue, 01 Dec 2026 00:00:00 UTC\nSHA256:\n %s %s %s\n' \
		"$(sha256sum "$dist/$list" | cut -d' ' -f1)" "$(stat -c %s "$dist/$list")" "$list" >"$dist/Release"
}

# fake_qemu CONSOLE...: stands in for QEMU; each boot writes the next of these to its console and dies, and
# a boot after the last runs "the command": a line on stdout, exit code 7.  "late: …" dies under the command.
fake_qemu() {
	export FAKE_DIR=$BATS_TEST_TMPDIR/qemu
	mkdir "$FAKE_DIR"
	printf '%s\n' "$@" >"$FAKE_DIR/consoles"
	cat >"$FAKE_DIR/qemu-system-x86_64" <<-'QEMU'
		#!/bin/bash
		[[ $1 != --version ]] || exec echo fake
		for word; do
			case $word in
			file:*) console=${word#file:} ;;
			file,id=*) exec {fd}>"${word#*path=}"; id=${word#file,id=}; declare "${id%%,*}=$fd" ;;
			esac
		done
		echo boot >>"$FAKE_DIR/boots"
		line=$(sed -n "$(wc -l <"$FAKE_DIR/boots")p" "$FAKE_DIR/consoles")
		[[ $line == "" || $line == late:* ]] || { echo "$line" >"$console"; exit 0; }
		echo ready >&"$status"
		[[ -z $line ]] || { echo "$line" >"$console"; exit 0; }
		echo 'it ran' >&"$stdout"
		echo 'exit 7' >&"$status"
		sleep 5
	QEMU
	chmod +x "$FAKE_DIR/qemu-system-x86_64"
	export PATH=$FAKE_DIR:$PATH SQUEEZE_LAB_ACCEL=tcg
}

# refused WORDS COMMAND...: nothing on stdout, one line with the words, the hint, exit 64.
refused() {
	local words=$1
	shift
	run --separate-stderr "$@"
	[ "$status" -eq 64 ] || { echo "exit $status: $*"; return 1; }
	[ -z "$output" ] || { echo "stdout: $output"; return 1; }
	[ "${#stderr_lines[@]}" -eq 2 ] || { echo "not two lines: $stderr"; return 1; }
	[[ ${stderr_lines[0]} == *"$words"* ]] || { echo "no '$words' in: $stderr"; return 1; }
	[ "${stderr_lines[1]}" = "Try 'lab/${1##*/} --help' for more information." ]
}

# fails CODE WORDS COMMAND...: that exit code, the words in the last line.
fails() {
	local code=$1 words=$2
	shift 2
	run --separate-stderr "$@"
	[ "$status" -eq "$code" ] || { echo "exit $status, not $code: $stderr"; return 1; }
	[[ ${stderr_lines[-1]} == *"$words"* ]] || { echo "no '$words' in: $stderr"; return 1; }
}

@test "--help: on stdout, exit 0, every option and exit code" {
	for tool in kernel run matrix; do
		run --separate-stderr "$lab/$tool" --help
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == *"Usage: lab/$tool"* && $output == *"Exit status"* ]]
	done
	for option in --memory --cpus --numa --disk --share --lru --cgroup --ballast --append --env --timeout --console; do
		run "$lab/run" --help
		[[ $output == *"$option"* ]]
	done
}

@test "run: bad options are refused by name and value" {
	refused "no kernel given" "$lab/run"
	refused "no command given" "$lab/run" 6.12
	refused "no command given" "$lab/run" 6.12 --
	refused "no kernel given" "$lab/run" -- true
	refused "'--cpus': 'many'" "$lab/run" 6.12 --cpus many -- true
	refused "'--cpus': '0'" "$lab/run" 6.12 --cpus=0 -- true
	refused "'--memory': '2X'" "$lab/run" 6.12 --memory 2X -- true
	refused "'--memory'" "$lab/run" 6.12 --memory 64M -- true
	refused "'--numa'" "$lab/run" 6.12 --numa 4 -- true
	refused "'--lru': 'fifo'" "$lab/run" 6.12 --lru fifo -- true
	refused "'--cgroup': 'v3'" "$lab/run" 6.12 --cgroup v3 -- true
	refused "'--timeout': 'soon'" "$lab/run" 6.12 --timeout soon -- true
	refused "'--timeout': '0'" "$lab/run" 6.12 --timeout 0 -- true
	refused "'--again': 'x'" "$lab/run" 6.12 --again x -- true
	refused "'--disk': 'big'" "$lab/run" 6.12 --disk big -- true
	refused "'--disk': '1G,iops=x'" "$lab/run" 6.12 --disk 1G,iops=x -- true
	refused "'--share': '/none'" "$lab/run" 6.12 --share /none -- true
	refused "root folder" "$lab/run" 6.12 --share / -- true
	refused "'--env': '1A'" "$lab/run" 6.12 --env 1A -- true
	refused "'--ballast'" "$lab/run" 6.12 --ballast 3G -- true
	refused "'--append' needs a value" "$lab/run" 6.12 --append
	refused "'--bogus'" "$lab/run" 6.12 --bogus -- true
	refused "'ls'" "$lab/run" 6.12 ls
	refused "'../x'" "$lab/run" ../x -- true
}

@test "kernel: bad command lines are refused" {
	refused "a verb is needed" "$lab/kernel"
	refused "'fetch'" "$lab/kernel" fetch
	refused "get needs" "$lab/kernel" get
	refused "'a/b'" "$lab/kernel" get a/b
	refused "'--bogus'" "$lab/kernel" list --bogus
	refused "build needs" "$lab/kernel" build
	refused "'/none.patch'" "$lab/kernel" build 6.12 --patch /none.patch
	refused "'--jobs': 'x'" "$lab/kernel" build 6.12 --jobs x
	refused "'--name' needs a value" "$lab/kernel" build 6.12 --name
	refused "'7.3'" "$lab/kernel" build 6.12 7.3
	refused "remove needs" "$lab/kernel" remove
}

@test "matrix: bad command lines are refused" {
	refused "no command given" "$lab/matrix"
	refused "'--lru': 'fifo'" "$lab/matrix" --lru keep,fifo -- true
	refused "'--runs': '0'" "$lab/matrix" --runs 0 -- true
	refused "'--format': 'html'" "$lab/matrix" --format html -- true
	refused "'--vary': 'threads'" "$lab/matrix" --vary threads -- true
	refused "'--scenario': 'x'" "$lab/matrix" --scenario x
	refused "'--limit': 'x'" "$lab/matrix" --limit x -- true
	refused "two scenarios" "$lab/matrix" --scenario a=true --scenario a=false
	refused "'true'" "$lab/matrix" true
	refused "'--pairs': 'none' is not one of" "$lab/matrix" --proof --pairs none
	refused "'--pairs': 'x' goes with --proof only" "$lab/matrix" --pairs x -- true
	refused "not 'true '" "$lab/matrix" --proof -- true
}

@test "kernel list: what the mirror has; a kernel without its modules is incomplete" {
	run --separate-stderr "$lab/kernel" list
	[ "$status" -eq 0 ]
	[[ $output =~ 9\.9\ +9\.9\.9-amd64\ +9\.9\.9-1\ +bookworm\ +- ]]
	[[ $output =~ 9\.8\ +9\.8\.1-amd64\ .*incomplete ]]
	fails 120 "incomplete on the mirror" "$lab/kernel" get 9.8
}

@test "kernel get: by series, version, release, newest; once" {
	run --separate-stderr "$lab/kernel" get 9.9
	[ "$status" -eq 0 ]
	[ "$output" = 9.9.9-amd64 ]
	[ -s "$SQUEEZE_LAB_CACHE/kernels/9.9.9-amd64/vmlinuz" ]
	rm -r "$SQUEEZE_LAB_CACHE/apt"
	for name in 9.9 9.9.9 9.9.9-1 9.9.9-amd64 newest; do
		run --separate-stderr "$lab/kernel" get "$name"
		[ "$status" -eq 0 ]
		[ "$output" = 9.9.9-amd64 ]
		[ -z "$stderr" ]
	done
	run "$lab/kernel" remove 9.9.9-amd64
	[ "$status" -eq 0 ]
	[ -z "$(ls -A "$SQUEEZE_LAB_CACHE/kernels")" ]
}

@test "an unknown kernel: 120" {
	fails 120 "unknown kernel '9.7'" "$lab/kernel" get 9.7
}

@test "a wrong checksum: 119, nothing kept" {
	copy=$BATS_TEST_TMPDIR/bad
	cp -r "$mirror" "$copy"
	publish "$copy" "$(printf '%064d' 7)"
	sed "s|$mirror|$copy|" "$SQUEEZE_LAB_SOURCES" >"$BATS_TEST_TMPDIR/bad.sources"
	export SQUEEZE_LAB_SOURCES=$BATS_TEST_TMPDIR/bad.sources
	fails 119 "wrong checksum for linux-image-9.9.9-amd64" "$lab/kernel" get 9.9
	[ -z "$(ls -A "$SQUEEZE_LAB_CACHE/kernels")" ]
}

@test "no mirror in the sources: 120" {
	echo 'deb http://localhost/other jammy extra' >"$BATS_TEST_TMPDIR/none.list"
	export SQUEEZE_LAB_SOURCES=$BATS_TEST_TMPDIR/none.list
	fails 120 "no Debian mirror" "$lab/kernel" get 9.9
}

@test "no disk space: 122, both numbers" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	mkdir "$SQUEEZE_LAB_CACHE"
	# shellcheck disable=SC2016
	fails 122 "needs 400 MiB, has 4 MiB" unshare -m sh -c \
		'mount -t tmpfs -o size=4m none "$SQUEEZE_LAB_CACHE" && exec "$0" get 9.9' "$lab/kernel"
}

@test "no memory: 122" {
	fails 122 "not enough memory" "$lab/run" 9.9 --memory 9999G -- true
}

@test "a boot that QEMU's emulation breaks is done again, twice at most" {
	local int3='Oops: int3: 0000; Kernel panic - not syncing: Fatal exception in interrupt'
	fake_qemu "$int3" "$int3"
	run --separate-stderr "$lab/run" 9.9 --memory 256M -- true
	[ "$status" -eq 7 ]
	[ "$output" = 'it ran' ]
	[ "$(grep -c 'booting again' <<<"$stderr")" -eq 2 ]
	printf '%s\n' "$int3" >>"$FAKE_DIR/consoles"
	rm "$FAKE_DIR/boots"
	run --separate-stderr "$lab/run" 9.9 --memory 256M -- true
	[ "$status" -eq 123 ]
	[ "$(wc -l <"$FAKE_DIR/boots")" -eq 3 ]
	[[ $stderr == *'the guest panicked: Kernel panic'* ]]
	[ -z "$(ls "$SQUEEZE_LAB_CACHE/run")" ]
}

@test "what QEMU breaks under the command: 123, or again as often as --again says; a matrix does the run again" {
	local late='late: Oops: int3: 0000; Kernel panic - not syncing: Fatal exception in interrupt'
	fake_qemu "$late" "$late"
	fails 123 'Fatal exception' "$lab/run" 9.9 --memory 256M -- true
	rm "$FAKE_DIR/boots"
	fails 123 'Fatal exception' "$lab/run" 9.9 --memory 256M --again 1 -- true
	[ "$(wc -l <"$FAKE_DIR/boots")" -eq 2 ]
	rm "$FAKE_DIR/boots"
	run --separate-stderr "$lab/run" 9.9 --memory 256M --again 2 -- true
	[ "$status" -eq 7 ]
	[ "$output" = 'it ran' ]
	# Two broken boots, and one that the lab could not use.
	rm "$FAKE_DIR/boots"
	run "$lab/matrix" --kernels 9.9 --runs 1 --guest --memory=256M --out "$BATS_TEST_TMPDIR/out" -- true
	[ "$(wc -l <"$FAKE_DIR/boots")" -eq 3 ]
	printf '%s\n' 'late: Kernel panic - not syncing: Out of memory' >"$FAKE_DIR/consoles"
	rm "$FAKE_DIR/boots"
	run "$lab/run" 9.9 --memory 256M --again 2 -- true
	[ "$status" -eq 123 ]
	run "$lab/matrix" --kernels 9.9 --runs 1 --guest --memory=256M --out "$BATS_TEST_TMPDIR/out" -- true
	[ "$(wc -l <"$FAKE_DIR/boots")" -eq 2 ]
}

@test "any other panic is the guest's own: 123 at once" {
	fake_qemu 'Kernel panic - not syncing: VFS: Unable to mount root fs'
	run --separate-stderr "$lab/run" 9.9 --memory 256M -- true
	[ "$status" -eq 123 ]
	[ "$(wc -l <"$FAKE_DIR/boots")" -eq 1 ]
}

# only_programs PROGRAM...: a folder with these and no others, for PATH.
only_programs() {
	local program
	mkdir "$BATS_TEST_TMPDIR/bin"
	for program; do ln -s "$(command -v "$program")" "$BATS_TEST_TMPDIR/bin"; done
}

@test "QEMU missing: 121 and the package" {
	only_programs bash dirname cat awk sed readlink busybox cpio mke2fs setpriv flock xz zstd
	fails 121 "qemu-system-x86_64 is missing: install the Debian package qemu-system-x86" \
		env PATH="$BATS_TEST_TMPDIR/bin" "$BASH" "$lab/run" 9.9 -- true
	rm "$BATS_TEST_TMPDIR"/bin/{setpriv,flock}
	fails 121 "qemu-system-x86_64 setpriv flock are missing: install the Debian packages qemu-system-x86 util-linux" \
		env PATH="$BATS_TEST_TMPDIR/bin" "$BASH" "$lab/run" 9.9 -- true
}

@test "matrix: a native run makes the table; runs that exist are kept" {
	cat >"$BATS_TEST_TMPDIR/tool" <<-'TOOL'
		#!/bin/bash
		printf '{"verdict": "%s", "host": {"kernel": "k"}}' "$1" >"${@: -1}"
		echo ran >>"${0%/*}/ran"
		[[ $1 != fail ]]
	TOOL
	chmod +x "$BATS_TEST_TMPDIR/tool"
	for _ in 1 2; do
		run --separate-stderr "$lab/matrix" --kernels native --runs 2 --vary v=pass,fail --format json \
			--out "$BATS_TEST_TMPDIR/out" -- "$BATS_TEST_TMPDIR/tool" '{v}'
		[ "$status" -eq 0 ]
	done
	[ "$(jq -c '[.cells[] | [.scenario, .failed, .runs]]' <<<"$output")" = '[["tool-v-pass",0,2],["tool-v-fail",2,2]]' ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/ran")" -eq 4 ]
	grep -q 'tool-v-fail *2/2' "$BATS_TEST_TMPDIR/out/table.txt"
	grep -qF '| tool-v-pass | 0/2 |' "$BATS_TEST_TMPDIR/out/table.md"
	# As an interrupt of the matrix leaves it.
	rm "$BATS_TEST_TMPDIR"/out/native/keep/tool-v-pass/run-2.{exit,json}
	run -0 "$lab/matrix" --kernels native --runs 2 --vary v=pass,fail --out "$BATS_TEST_TMPDIR/out" -- "$BATS_TEST_TMPDIR/tool" '{v}'
	[ "$(wc -l <"$BATS_TEST_TMPDIR/ran")" -eq 5 ]
	grep -q 'tool-v-pass *0/2$' "$BATS_TEST_TMPDIR/out/table.txt"
}

# proof_table LINE...: a tool whose verdict is its first word, or of its Nth run the Nth of two, and cells for it.
proof_table() {
	export SQUEEZE_LAB_PROOF=$BATS_TEST_TMPDIR/proof.table
	cat >"$BATS_TEST_TMPDIR/tool" <<-'TOOL'
		#!/bin/bash
		echo ran >>"${0%/*}/ran"
		verdict=$1
		[[ $verdict != flip || $(wc -l <"${0%/*}/ran") -gt 1 ]] || verdict=fail
		[[ $verdict != flip ]] || verdict=pass
		printf '{"verdict": "%s", "host": {"kernel": "k"}, "runs": [{"metrics": {"touches": {"value": %d}}}]}' \
			"$verdict" "$(wc -l <"${0%/*}/ran")" >"${@: -1}"
		[[ $verdict != fail ]]
	TOOL
	chmod +x "$BATS_TEST_TMPDIR/tool"
	printf 'cell | %s\n' "${@//TOOL/$BATS_TEST_TMPDIR/tool}" >"$SQUEEZE_LAB_PROOF"
}

proof() {
	run --separate-stderr "$lab/matrix" --proof --out "$BATS_TEST_TMPDIR/out" "$@"
}

@test "proof: the plan comes first; each cell's verdicts against what is wanted; runs that exist are kept" {
	proof_table 'one | native | keep | 3 | fail 2 | 9 | | touches | TOOL fail' \
		'two | native | keep | 2 | pass 2 | 9 | | | TOOL pass' \
		'three | native | keep | 12 | no-fail 12 | 1 | | | TOOL inconclusive'
	proof --dry-run
	[ "$status" -eq 0 ]
	[[ $stderr == *'17 runs in 0 boots, 0 kernels to build: about 1 minutes'* ]]
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	for _ in 1 2; do
		proof --format json
		[ "$status" -eq 0 ]
		[ "$(jq -c '[.cells[] | [.pair, .k, .n, .held]]' <<<"$output")" = \
			'[["one",3,3,true],["two",2,2,true],["three",12,12,true]]' ]
	done
	[ "$(jq -c '.cells[0].metrics.touches | [.min, .median, .max]' <<<"$output")" = '[1,15,17]' ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/ran")" -eq 17 ]
	# shellcheck disable=SC2016  # backquotes of markdown
	grep -q '| one | k | keep | fail in 2 of 3 | 3 fail | `touches` 1 … 15 … 17 |' "$BATS_TEST_TMPDIR/out/proof.md"
}

@test "proof: a pair, and its kernel, is found at the head of a long table" {
	# Longer than a pipe holds, so that a reader that stops at the first match would be seen.
	local -a more
	mapfile -t more < <(printf 'p%d | k | keep | 1 | pass 1 | 1 | | | TOOL pass\n' {1..3000})
	proof_table 'one | k | keep | 1 | pass 1 | 1 | | | TOOL pass' "${more[@]}"
	echo 'kernel | k | 9.9 |' >>"$SQUEEZE_LAB_PROOF"
	for _ in 1 2 3; do
		proof --dry-run --pairs one
		[ "$status" -eq 0 ]
		[[ $stderr == *'1 kernels to build'* ]]
	done
}

@test "proof: the plan counts the first build of each version" {
	proof_table 'one | old | keep | 1 | pass 1 | 0 | | | TOOL pass' 'two | a | keep | 1 | pass 1 | 0 | | | TOOL pass' \
		'two | b | keep | 1 | pass 1 | 0 | | | TOOL pass'
	printf '%s\n' 'kernel | old | 9.8 |' 'kernel | a | 9.9 |' 'kernel | b | 9.9 |' >>"$SQUEEZE_LAB_PROOF"
	proof --dry-run
	# Two first builds of 1400 s and 6 GiB, three times 70 s and 100 MiB, three boots of 8 s.
	[[ $stderr == *'3 kernels to build: about 51 minutes, 12588 MiB in the cache'* ]]
	mkdir -p "$SQUEEZE_LAB_CACHE/build/9.9.3-1/obj"
	proof --dry-run
	[[ $stderr == *'3 kernels to build: about 28 minutes, 6444 MiB in the cache'* ]]
}

@test "proof: all that is missing is named at once, before anything is built" {
	proof_table 'one | k | keep | 1 | pass 1 | 1 | | | TOOL pass'
	echo 'kernel | k | 9.9 |' >>"$SQUEEZE_LAB_PROOF"
	only_programs bash dirname cat awk sed readlink cut grep sort uniq wc cmp find jq
	fails 121 "flex bison" env PATH="$BATS_TEST_TMPDIR/bin" "$BASH" "$lab/matrix" --proof --out "$BATS_TEST_TMPDIR/none"
	[[ $stderr == *"install the Debian packages qemu-system-x86 busybox-static "*" flex bison bc "* ]]
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
}

@test "proof: results that are complete make the table without QEMU" {
	local dir=$BATS_TEST_TMPDIR/out/one/k/keep/one
	proof_table 'one | k | keep | 1 | pass 1 | 1 | | | TOOL pass'
	mkdir -p "$dir"
	echo '{"verdict": "pass", "host": {"kernel": "k"}}' >"$dir/run-1.json"
	echo 0 >"$dir/run-1.exit"
	only_programs bash dirname cat awk sed readlink cut grep sort uniq wc cmp find jq mkdir date
	run -0 --separate-stderr env PATH="$BATS_TEST_TMPDIR/bin" "$BASH" "$lab/matrix" --proof --out "$BATS_TEST_TMPDIR/out"
	[[ $output == *'| one | k | keep | pass in 1 of 1 | 1 pass |'* ]]
}

@test "proof: a cell that is not as wanted: exit 1, and it says which" {
	proof_table 'one | native | keep | 2 | pass 2 | 9 | | | TOOL flip' 'two | native | keep | 1 | pass 1 | 9 | | | TOOL fail'
	proof --pairs one
	[ "$status" -eq 1 ]
	[[ $output == *'| pass in 2 of 2 | 1 fail, 1 pass, **not as wanted** |'* ]]
	[[ $output != *two* ]]
	[[ ${stderr_lines[-1]} == *'not every cell is as wanted' ]]
	# A control that could not be run has not shown anything.
	proof_table 'one | native | keep | 1 | no-fail 1 | 9 | | | TOOL skip'
	run -1 "$lab/matrix" --proof --out "$BATS_TEST_TMPDIR/skipped"
	[[ $output == *'1 skip, **not as wanted**'* ]]
	proof_table 'one | native | keep | 1 | pass 1 | 9 | | | not-built pass'
	fails 121 'not-built is missing: build it' "$lab/matrix" --proof --out "$BATS_TEST_TMPDIR/none"
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
}

@test "matrix: a run that left an empty document counts as lost" {
	local out=$BATS_TEST_TMPDIR/out
	mkdir -p "$out/native/keep/true"
	: >"$out/native/keep/true/run-1.json"
	echo lost >"$out/native/keep/true/run-1.exit"
	run --separate-stderr "$lab/matrix" --kernels native --runs 1 --format json --out "$out" -- true
	[ "$status" -eq 125 ]
	[ "$(jq -c '.cells[0] | [.runs, .verdicts]' "$out/table.json")" = '[1,{"lost":1}]' ]
}
