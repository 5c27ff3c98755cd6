# SPDX-License-Identifier: GPL-2.0-only
# What the command-line tests share. BIN is build/bin, set by ctest.

bin=${BIN:-$BATS_TEST_DIRNAME/../../build/bin}
check=$BATS_TEST_DIRNAME/../check
# The system's own Python first: the shim of a version manager takes ten times a check's own time.
PATH=/usr/bin:$PATH

# The contract of a refused command line: nothing on stdout, one line that names the option (and the
# value), the hint, exit 64.
assert_usage() {
	local words=$1
	shift
	local err code=0 out
	err=$(mktemp)
	out=$("$@" 2>"$err") || code=$?
	[ "$code" -eq 64 ] || { echo "exit $code, not 64: $*"; cat "$err"; return 1; }
	[ -z "$out" ] || { echo "stdout is not empty: $out"; return 1; }
	[ "$(wc -l <"$err")" -eq 2 ] || { echo "not two lines:"; cat "$err"; return 1; }
	grep -qF -- "$words" "$err" || { echo "no '$words' in:"; cat "$err"; return 1; }
	grep -qxF "Try '${1##*/} --help' for more information." "$err" ||
		{ echo "no hint in:"; cat "$err"; return 1; }
	rm -f "$err"
}

# Everything on the host that bears our name, or could be ours.
traces() {
	find /sys/fs/cgroup -type d -name 'squeeze-*' 2>/dev/null || true
	awk 'NR > 1 { print $1 }' /proc/swaps
	losetup -a 2>/dev/null || true
	grep squeeze /proc/self/mountinfo || true
	find /var/tmp -maxdepth 1 -name 'squeeze-*'
	find /run/squeeze -type f -not -name '.*' 2>/dev/null || true
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}
