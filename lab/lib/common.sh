# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every lab command shares: messages, exit codes, the cache, sizes.
#
# Exit codes are the same in all lab commands.  They lie just under those that
# the shell reserves (126 and up), so that a command run in a guest can be told
# from a lab that could not run it.
# shellcheck disable=SC2034  # these are read by the scripts that source this
readonly LAB_EX_USAGE=64      # bad command line
readonly LAB_EX_CHECKSUM=119  # a download's checksum or signature is wrong
readonly LAB_EX_UNKNOWN=120   # no such kernel, or the mirror does not have it
readonly LAB_EX_MISSING=121   # a program is missing on this machine
readonly LAB_EX_SPACE=122     # not enough disk space or memory
readonly LAB_EX_GUEST=123     # the guest panicked or ended without a result
readonly LAB_EX_TIMEOUT=124   # the time limit ran out
readonly LAB_EX_LAB=125       # anything else the lab could not do

LAB_CACHE=${SQUEEZE_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/squeeze-lab}
LAB_VERBOSE=${LAB_VERBOSE:-0}
LAB_LOCKED=
# Else "x=$(f)" goes on after an error inside f.
shopt -s inherit_errexit

# lab_self NAME: how messages and usage call the running command.
lab_self() { LAB_SELF=$1; }

note() { printf '%s: %s\n' "$LAB_SELF" "$*" >&2; }
detail() { [[ $LAB_VERBOSE == 0 ]] || note "$@"; }

# lab_emulation_broke CONSOLE: did QEMU break the guest, and neither its kernel nor what ran in it?  A kernel patches
# its own code as it boots, and when a tracepoint is first used; now and then a CPU that QEMU emulates still runs
# into the breakpoint after the kernel has taken it away.  Seen on 2026-12-01 in 3 of some 20 boots, and once
# 22 s later.
lab_emulation_broke() { grep -aq 'Oops: int3' "$1" 2>/dev/null; }

# die CODE MESSAGE: one line, then out.
die() {
	local code=$1
	shift
	note "$@"
	exit "$code"
}

# usage_error MESSAGE: the message names the option and the value.
usage_error() {
	note "$@"
	printf "Try '%s --help' for more information.\n" "$LAB_SELF" >&2
	exit "$LAB_EX_USAGE"
}

# need_value OPTION COUNT: COUNT is how many words are left, the option included.
need_value() {
	(($2 >= 2)) || usage_error "option '$1' needs a value"
}

# What boots a guest, as need_program takes it.
readonly -a LAB_GUEST_PROGRAMS=(qemu-system-x86_64 qemu-system-x86 busybox busybox-static cpio cpio
	mke2fs e2fsprogs setpriv util-linux flock util-linux xz xz-utils zstd zstd)

# need_program PROGRAM PACKAGE [PROGRAM PACKAGE]...: all that are missing are named at once, so that one
# installation mends it.  A PROGRAM with a slash is a file that must exist.
need_program() {
	local -a programs=() packages=()
	while (($#)); do
		if [[ $1 == */* ]]; then [[ -e $1 ]]; else command -v "$1" >/dev/null; fi || {
			programs+=("$1")
			[[ " ${packages[*]} " == *" $2 "* ]] || packages+=("$2")
		}
		shift 2
	done
	case ${#programs[@]} in
	0) ;;
	1) die "$LAB_EX_MISSING" "${programs[0]} is missing: install the Debian package ${packages[0]}" ;;
	*) die "$LAB_EX_MISSING" "${programs[*]} are missing: install the Debian packages ${packages[*]}" ;;
	esac
}

# parse_size TEXT: bytes on stdout; non-zero when TEXT is not a size.
parse_size() {
	local re='^([0-9]{1,12})([kKmMgGtT]?)([iI]?[bB])?$' shift_by=0
	[[ $1 =~ $re ]] || return 1
	case ${BASH_REMATCH[2],,} in
	k) shift_by=10 ;;
	m) shift_by=20 ;;
	g) shift_by=30 ;;
	t) shift_by=40 ;;
	esac
	echo $((10#${BASH_REMATCH[1]} << shift_by))
}

# parse_seconds TEXT: whole seconds on stdout; takes s, m, h and no unit.
parse_seconds() {
	local re='^([0-9]{1,9})([smh]?)$' factor=1
	[[ $1 =~ $re ]] || return 1
	case ${BASH_REMATCH[2]} in
	m) factor=60 ;;
	h) factor=3600 ;;
	esac
	echo $((10#${BASH_REMATCH[1]} * factor))
}

mib() { echo $((($1 + 1048575) / 1048576)); }

# need_space DIRECTORY BYTES WHAT-FOR: the directory must exist.
need_space() {
	local have
	have=$(df --output=avail -B1 "$1" | tail -n 1)
	((have >= $2)) ||
		die "$LAB_EX_SPACE" "not enough disk space in $1 for $3: needs $(mib "$2") MiB, has $(mib "$have") MiB"
}

# make_dir DIRECTORY...: with one clear line when that cannot be done.
make_dir() {
	mkdir -p -- "$@" 2>/dev/null || die "$LAB_EX_LAB" "cannot make the folder $*"
}

# lab_lock FILE: waits for the lock, once, and keeps it until the end of the process.
lab_lock() {
	local fd
	[[ $LAB_LOCKED != *"|$1|"* ]] || return 0
	LAB_LOCKED+="|$1|"
	exec {fd}>"$1"
	flock -n "$fd" || {
		note "waiting for another lab command that holds $1"
		flock "$fd"
	}
}

# sort_versions: Debian version order, oldest first (sort -V knows '~').
sort_versions() { sort -V "$@"; }
