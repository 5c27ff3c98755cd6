# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Builds kernels from Debian's linux-source.
#
# One tree for each source version, $LAB_BUILDS/VERSION, serves every build of it:
#   src  obj  applied/NN-NAME.patch (what is in src now)  config.sum
# so that a build with other patches compiles only what those touch.

readonly LAB_BUILDS=$LAB_CACHE/build
readonly LAB_BUILD_BYTES=$((9 << 30))
readonly -a LAB_BUILD_PROGRAMS=(make make gcc gcc flex flex bison bison bc bc patch patch xz xz-utils perl perl
	/usr/include/libelf.h libelf-dev)

# build_kernel VERSION NAME JOBS [PATCH]...
build_kernel() {
	local version=$1 name=$2 jobs=$3 tree
	shift 3
	build_check_patches "$@"
	need_program "${LAB_BUILD_PROGRAMS[@]}"
	make_dir "$LAB_BUILDS"
	lab_lock "$LAB_BUILDS/lock"
	tree=$(build_tree "$version")
	[[ -n $name ]] || name=$(build_default_name "$version" "$@")
	kernel_check_name "$name"
	build_name_free "$name"
	build_patch "$tree" "$@"
	build_configure "$tree"
	build_make "$tree" "$name" "$jobs"
	build_install "$tree" "$name"
	echo "$name"
}

build_check_patches() {
	local file
	for file; do
		[[ -f $file && -r $file ]] || usage_error "option '--patch': '$file' is not a readable file"
	done
}

build_default_name() {
	local name=$1-built file
	shift
	for file; do
		file=${file##*/}
		name+=-${file%.*}
	done
	echo "${name//[^A-Za-z0-9.+~_-]/-}"
}

# A build must not take the place of one of Debian's kernels.
build_name_free() {
	[[ ! -e $LAB_KERNELS/$1/info || $(kernel_info "$1" ORIGIN) == built ]] ||
		usage_error "option '--name': '$1' is one of Debian's kernels"
}

# --- the tree ------------------------------------------------------------------

# build_tree VERSION: the path of its tree, unpacked when the cache lacks it.
build_tree() {
	local wanted=$1 dir found=
	while read -r dir; do
		if build_version_matches "$wanted" "${dir##*/}"; then found=$dir; fi
	done < <(find "$LAB_BUILDS" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' | sort_versions)
	if [[ -z $found ]]; then
		found=$(build_fetch "$wanted")
	fi
	echo "$found"
}

build_version_matches() {
	[[ $1 == newest || $2 == "$1" || $2 == "$1"[.~-]* ]]
}

# build_find_source VERSION: "version package" of the newest linux-source of that version.
build_find_source() {
	local version kind package _ found=
	while IFS=$'\t' read -r version kind _ package _; do
		[[ $kind == source ]] || continue
		if build_version_matches "$1" "$version"; then found="$version $package"; fi
	done < <(sort_versions "$LAB_APT/catalogue")
	[[ -n $found ]] || die "$LAB_EX_UNKNOWN" "no linux-source for '$1' on the mirror (has: $(build_source_list))"
	echo "$found"
}

build_source_list() {
	awk -F'\t' '$2 == "source" { print $3 }' "$LAB_APT/catalogue" | sort -uV | paste -sd' '
}

build_fetch() (
	apt_prepare
	apt_catalogue
	found=$(build_find_source "$1")
	read -r version package <<<"$found"
	need_space "$LAB_BUILDS" "$LAB_BUILD_BYTES" "the sources and objects of $package"
	work=$LAB_BUILDS/.new-$version
	rm -rf "$work"
	make_dir "$work/tree/src" "$work/tree/obj" "$work/tree/applied"
	trap 'rm -rf "$work"' EXIT
	note "getting $package $version, once"
	deb=$(apt_download "$package" "$version" "$work")
	detail 'unpacking the sources'
	dpkg-deb --fsys-tarfile "$deb" | tar -x -O --wildcards '*/linux-source-*.tar.xz' |
		tar -x -J -C "$work/tree/src" --strip-components=1
	mv "$work/tree" "$LAB_BUILDS/$version"
	echo "$LAB_BUILDS/$version"
)

# --- patches -------------------------------------------------------------------

# build_patch TREE [PATCH]...: makes src hold just these.  What stays applied is
# left alone, since touching a file means compiling it again.
build_patch() {
	local tree=$1 file n=0 i
	local -a now=()
	shift
	mapfile -t now < <(find "$tree/applied" -name '*.patch' | sort)
	while ((n < $# && n < ${#now[@]})) && cmp -s "${now[n]}" "${@:n+1:1}"; do
		n=$((n + 1))
	done
	for ((i = ${#now[@]} - 1; i >= n; i--)); do
		build_patch_one "$tree" "${now[i]}" -R
		rm "${now[i]}"
	done
	for file in "${@:n+1}"; do
		build_patch_one "$tree" "$file"
		cp "$file" "$(printf '%s/applied/%02d-%s.patch' "$tree" "$n" "$(basename "$file" .patch)")"
		n=$((n + 1))
	done
}

# build_patch_one TREE FILE [-R]: all of it or nothing.
build_patch_one() {
	local tree=$1 file=$2
	shift 2
	local -a patch=(patch -d "$tree/src" -p1 -s -f --no-backup-if-mismatch "$@")
	"${patch[@]}" --dry-run <"$file" >"$tree/patch.log" 2>&1 ||
		die "$LAB_EX_LAB" "patch $file does not apply: $(head -n 1 "$tree/patch.log")"
	detail "patch $* $file"
	"${patch[@]}" <"$file" >"$tree/patch.log" 2>&1
}

# --- make ----------------------------------------------------------------------

# build_run_make TREE ARGUMENT...: at low priority; the log is TREE/build.log.
build_run_make() {
	local tree=$1
	shift
	nice -n 19 make -C "$tree/src" O="$tree/obj" "$@" >>"$tree/build.log" 2>&1 ||
		die "$LAB_EX_LAB" "the build failed: $(grep -m 1 -E 'error:|\*\*\*|No space left' "$tree/build.log") (log: $tree/build.log)"
}

build_configure() {
	local tree=$1 sum
	: >"$tree/build.log"
	sum=$(sha256sum <"$LAB_DIR/config/squeeze.config")
	[[ ! -e $tree/config.sum || $(<"$tree/config.sum") != "$sum" ]] || return 0
	detail 'configuring'
	build_run_make "$tree" KCONFIG_ALLCONFIG="$LAB_DIR/config/squeeze.config" allnoconfig
	build_config_report "$tree"
	echo "$sum" >"$tree/config.sum"
}

# What this kernel does not know or could not grant; names change between versions.
build_config_report() {
	local missing
	missing=$(grep -E '^CONFIG_[A-Z0-9_]+=[^n]' "$LAB_DIR/config/squeeze.config" |
		grep -vxFf "$1/obj/.config" | cut -d= -f1 | sed 's/CONFIG_//' | paste -sd' ') || true
	[[ -z $missing ]] || note "not in this kernel: $missing"
}

build_make() {
	local tree=$1 name=$2 jobs=$3
	note "building $name (the first build of a version takes long; log: $tree/build.log)"
	build_run_make "$tree" -j"$jobs" LOCALVERSION="-$name" bzImage
}

build_install() {
	local tree=$1 name=$2 ready release
	release=$(<"$tree/obj/include/config/kernel.release")
	ready=$LAB_KERNELS/.new-$name
	rm -rf "$ready"
	make_dir "$ready"
	cp "$tree/obj/arch/x86/boot/bzImage" "$ready/vmlinuz"
	cp "$tree/obj/.config" "$ready/config"
	cat "$tree"/applied/*.patch >"$ready/patches" 2>/dev/null || true
	kernel_write_info "$ready" "${tree##*/}" "$release" built
	rm -rf "${LAB_KERNELS:?}/$name"
	mv "$ready" "$LAB_KERNELS/$name"
}
