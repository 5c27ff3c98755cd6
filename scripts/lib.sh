# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What scripts/demo and scripts/test share. Sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What the tools need to be built, with all optional parts.
# shellcheck disable=SC2034  # used by those that source this
build_packages=(gcc libc6-dev cmake ninja-build pkg-config
	libcgroup-dev liburing-dev libnuma-dev libcap-dev libjansson-dev libdevmapper-dev
	clang bpftool libbpf-dev libelf-dev zlib1g-dev)

say() { printf '%s: %s\n' "${0##*/}" "$*"; }

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root or sudo for: $*"
	fi
}

missing_packages() {
	local p
	for p in "$@"; do
		dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || echo "$p"
	done
}

# Installs exactly what is missing of the packages named, and says what that is.
need_packages() {
	local missing
	command -v dpkg-query >/dev/null || {
		say "no dpkg here: taking for granted that these are installed: $*"
		return 0
	}
	mapfile -t missing < <(missing_packages "$@")
	[ "${#missing[@]}" -gt 0 ] || return 0
	say "installing ${missing[*]}"
	as_root apt-get update -qq
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		"${missing[@]}" >/dev/null
}

# build PRESET [CMAKE OPTIONS…]
build() {
	local preset=$1
	shift
	say "building: cmake --preset $preset $*"
	(cd "$top" && cmake --preset "$preset" "$@" >/dev/null && cmake --build --preset "$preset" -- --quiet)
}
