# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The cache of kernels: one folder each under $LAB_CACHE/kernels.
#
#   vmlinuz  config  info  modules/lib/modules/RELEASE/   (plain .ko files)
#
# info holds NAME VERSION RELEASE ORIGIN lines, "key=value", read by kernel_info.

readonly LAB_KERNELS=$LAB_CACHE/kernels

# Folders of modules that a guest could want; the rest (GPUs, sound, …) is most
# of a Debian kernel and of no use here.
readonly LAB_MODULE_DIRS='arch block crypto fs lib mm net/9p net/core drivers/block
	drivers/char drivers/dax drivers/md drivers/net/dummy drivers/net/net_failover
	drivers/net/virtio_net drivers/nvdimm drivers/scsi/scsi_debug drivers/virtio'

kernel_dir() { echo "$LAB_KERNELS/$1"; }
kernel_info() { sed -n "s/^$2=//p" "$LAB_KERNELS/$1/info"; }

# kernel_cached: names of the kernels in the cache, oldest version first.
kernel_cached() {
	local info name
	for info in "$LAB_KERNELS"/*/info; do
		[[ -e $info ]] || continue
		name=${info%/info}
		name=${name##*/}
		printf '%s\t%s\n' "$(kernel_info "$name" VERSION)" "$name"
	done | sort_versions | cut -f2
}

# version_matches WANTED VERSION RELEASE: "6.12", "6.12.117", a whole release or package version.
version_matches() {
	local wanted=$1 version=$2 release=$3
	[[ $wanted == "$release" || $wanted == "$version" ]] && return 0
	[[ $release == *-amd64 && $release != *-cloud-amd64 && $release != *-rt-amd64 ]] || return 1
	if [[ $wanted == newest ]]; then
		[[ $version != *~rc* ]]
	else
		[[ $version == "$wanted"[.~-]* ]]
	fi
}

# kernel_find_cached WANTED: name of the newest cached Debian kernel or of the build with that name.
kernel_find_cached() {
	local wanted=$1 name found=
	if [[ -e $LAB_KERNELS/$wanted/info ]]; then
		echo "$wanted"
		return
	fi
	while read -r name; do
		[[ $(kernel_info "$name" ORIGIN) == debian ]] || continue
		version_matches "$wanted" "$(kernel_info "$name" VERSION)" "$name" && found=$name
	done < <(kernel_cached)
	[[ -n $found ]] && echo "$found"
}

# kernel_find_available WANTED [KIND]: "version release package suite" of the newest on the mirror.
kernel_find_available() {
	local wanted=$1 want_kind=${2:-image} version kind release package suite found=
	while IFS=$'\t' read -r version kind release package suite; do
		[[ $kind == "$want_kind" ]] || continue
		version_matches "$wanted" "$version" "$release" || continue
		# Where the same version exists signed and unsigned, take the signed one.
		[[ $package == *-unsigned && $found == "$version $release "* ]] && continue
		found="$version $release $package $suite"
	done < <(sort_versions "$LAB_APT/catalogue")
	[[ -n $found ]] && echo "$found"
}

# kernel_check_name WANTED: what cannot be a version or a name is bad usage, not an unknown kernel.
kernel_check_name() {
	[[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9.+~_-]*$ ]] || usage_error "'$1' is not a kernel version or name"
}

# kernel_get WANTED: gets it if needed; its name on stdout.
kernel_get() {
	local wanted=$1 found version name package code=0
	if [[ $wanted != newest ]] && kernel_find_cached "$wanted"; then
		return
	fi
	apt_prepare
	found=$(kernel_look_up "$wanted") || code=$?
	if ((code)); then
		# Without the mirror, the newest that the cache holds will do.
		[[ $wanted == newest ]] && kernel_find_cached newest && return
		exit "$code"
	fi
	read -r version name package _ <<<"$found"
	if [[ ! -e $LAB_KERNELS/$name/info ]]; then
		kernel_fetch "$version" "$name" "$package"
	fi
	echo "$name"
}

# kernel_look_up WANTED: what kernel_find_available says, on lists that are fresh enough.
kernel_look_up() {
	apt_catalogue
	kernel_find_available "$1" && return
	# Perhaps it is newer than the lists, unless those were made just now.
	[[ -n $(find "$LAB_APT/catalogue" -mmin -2) ]] || apt_refresh
	kernel_find_available "$1" && return
	! kernel_find_available "$1" broken >/dev/null ||
		die "$LAB_EX_UNKNOWN" "kernel '$1' is incomplete on the mirror: its package of modules is gone"
	die "$LAB_EX_UNKNOWN" "unknown kernel '$1': see 'lab/kernel list'"
}

# kernel_packages PACKAGE VERSION: it and, since 6.19 split it, the packages that hold its parts.
kernel_packages() {
	local package=$1 version=$2 part
	echo "$package"
	apt_field "$package" "$version" Depends | tr ',|' '\n' |
		sed -n 's/^ *\(linux-\(base\|binary\|modules\|image\)-[0-9][^ ]*\).*/\1/p' | sort -u |
		while read -r part; do
			# Some whole images depend on a base package that holds nothing needed here
			# and that the mirror has no more; a part that is needed is missed later.
			[[ -z $(apt_field "$part" "$version" Size) ]] || echo "$part"
		done
}

kernel_fetch() (
	version=$1 name=$2 package=$3
	make_dir "$LAB_KERNELS"
	work=$LAB_KERNELS/.new-$name
	rm -rf "$work"
	make_dir "$work/debs" "$work/root"
	trap 'rm -rf "$work"' EXIT
	note "getting Debian kernel $name ($version), once"
	for part in $(kernel_packages "$package" "$version"); do
		deb=$(apt_download "$part" "$version" "$work/debs")
		need_space "$work" $((3 * $(stat -c %s "$deb") + (64 << 20))) "unpacking $part"
		kernel_unpack "$deb" "$work/root"
		rm "$deb"
	done
	kernel_assemble "$work" "$name" "$version"
	rm -rf "${LAB_KERNELS:?}/$name"
	mv "$work/ready" "$LAB_KERNELS/$name"
)

kernel_unpack() {
	local dir
	local -a wanted=('./boot/*' '*/modules/*/vmlinuz' '*/modules/*/config' '*/modules/*/modules.*')
	for dir in $LAB_MODULE_DIRS; do
		wanted+=("*/modules/*/kernel/$dir*")
	done
	# tar complains of patterns that match nothing; what is missing shows later.
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards "${wanted[@]}" 2>/dev/null || true
}

# kernel_assemble WORK NAME VERSION: from unpacked packages to a folder of the cache.
# Three layouts exist: all in one package; since 6.19 split, the image still in
# /boot; since 7.2 image and config in the folder of the modules.
kernel_assemble() {
	local work=$1 name=$2 version=$3 root=$1/root ready=$1/ready
	mkdir -p "$ready/modules/lib/modules"
	kernel_take "$root" 'vmlinuz*' "$ready/vmlinuz" "$name"
	kernel_take "$root" 'config*' "$ready/config" "$name"
	find "$root" -type d -path "*/lib/modules/$name" -exec mv {} "$ready/modules/lib/modules" \; -prune
	[[ -d $ready/modules/lib/modules/$name/kernel ]] ||
		die "$LAB_EX_LAB" "no modules in the packages of $name"
	modules_prepare "$ready/modules" "$name"
	kernel_write_info "$ready" "$version" "$name" debian
}

# kernel_take ROOT PATTERN TARGET NAME
kernel_take() {
	local file
	file=$(find "$1" -type f \( -path '*/boot/*' -o -path '*/modules/*' \) -name "$2" -print -quit)
	[[ -n $file ]] || die "$LAB_EX_LAB" "no ${2%\*} in the packages of $4"
	mv "$file" "$3"
}

kernel_write_info() {
	printf 'VERSION=%s\nRELEASE=%s\nORIGIN=%s\n' "$2" "$3" "$4" >"$1/info"
}

# Plain .ko files: busybox, which serves as modprobe in the guest, does not know every compression.
modules_prepare() {
	local base=$1 release=$2
	find "$base" -name '*.ko.xz' -exec xz -d {} +
	find "$base" -name '*.ko.zst' -exec zstd -q -d --rm {} +
	find "$base" -name '*.ko.gz' -exec gzip -d {} +
	busybox depmod -b "$base" "$release"
}
