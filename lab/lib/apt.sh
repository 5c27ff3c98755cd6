# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian's packages of any suite, by apt, without touching the host's apt.
#
# Mirror addresses and keyrings come from the host's own sources; only the suite
# names are exchanged.  State, cache, status and hooks are private, so neither
# the host's lists nor its package database can change.

readonly LAB_SUITES="bullseye bookworm bookworm-updates bookworm-backports \
trixie trixie-updates trixie-backports forky sid experimental"
readonly LAB_SECURITY_SUITES='bullseye-security bookworm-security trixie-security'
readonly LAB_APT=$LAB_CACHE/apt
readonly LAB_LISTS_MAX_AGE_MIN=$((24 * 60))

apt_private() { APT_CONFIG=$LAB_APT/apt.conf "$@"; }

# Sources to start from: the host's, or (another mirror, tests) a file of the user's.
apt_source_files() {
	if [[ -n ${SQUEEZE_LAB_SOURCES:-} ]]; then
		echo "$SQUEEZE_LAB_SOURCES"
	else
		find /etc/apt/sources.list /etc/apt/sources.list.d -type f \
			\( -name '*.list' -o -name '*.sources' \) 2>/dev/null || true
	fi
}

# apt_mirrors_in FILE: "main|security <tab> URI <tab> fields" for each Debian mirror in it.
# Fields are the Signed-By and Trusted lines by which the host trusts the mirror,
# with \v between their lines.  Read from the files and not from apt, which says
# nothing of a mirror before its first "apt-get update".
apt_mirrors_in() {
	awk -v style="${1##*.}" '
		function kind_of(suite) {
			if (suite !~ /^(oldoldstable|oldstable|stable|testing|unstable|bullseye|bookworm|trixie|forky|duke|sid|experimental)([-\/].*)?$/) return ""
			return suite ~ /-security$|\/updates$/ ? "security" : "main"
		}
		function put(uri, suite) {
			if (kind_of(suite) != "" && uri ~ /^(https?|file|ftp|mirror[^:]*|copy):/)
				print kind_of(suite) "\t" uri "\t" trust
		}
		function flush_stanza(  u, s, i, j, nu, ns) {
			nu = split(uris, u, " "); ns = split(suites, s, " ")
			for (i = 1; i <= nu && binary; i++) for (j = 1; j <= ns; j++) put(u[i], s[j])
			uris = suites = trust = field = ""; binary = 0
		}
		/^[[:space:]]*#/ { next }
		style == "list" {
			if ($1 != "deb") next
			trust = ""
			if (match($0, /signed-by=[^] ]+/)) trust = trust "Signed-By: " substr($0, RSTART + 10, RLENGTH - 10) "\v"
			if (match($0, /trusted=yes/)) trust = trust "Trusted: yes\v"
			sub(/\[[^]]*\]/, "")
			put($2, $3)
			next
		}
		/^[[:space:]]*$/ { flush_stanza(); next }
		/^[[:space:]]/ { if (field == "trust") trust = trust $0 "\v"; else if (field == "uris") uris = uris " " $0; else if (field == "suites") suites = suites " " $0; next }
		{ field = ""; value = $0; sub(/^[^:]*:[[:space:]]*/, "", value) }
		/^Types:/ { binary = value ~ /(^| )deb( |$)/ }
		/^URIs:/ { uris = value; field = "uris" }
		/^Suites:/ { suites = value; field = "suites" }
		/^(Signed-By|Trusted):/ { trust = trust $0 "\v"; field = "trust" }
		END { if (style != "list") flush_stanza() }
	' "$1"
}

# The first mirror of each kind, as apt sources of all suites.
apt_write_sources() {
	local file kind uri trust suites seen=
	while read -r file; do apt_mirrors_in "$file"; done < <(apt_source_files) |
		while IFS=$'\t' read -r kind uri trust; do
			[[ $seen != *"$kind"* ]] || continue
			seen+=" $kind"
			suites=$LAB_SUITES
			[[ $kind == main ]] || suites=$LAB_SECURITY_SUITES
			printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nArchitectures: amd64\n' "$uri" "$suites"
			printf '%s\n' "${trust//$'\v'/$'\n'}"
		done
}

apt_write_config() {
	# The host's download settings (proxy and the like) hold here too; its hooks do not.
	apt-config dump | grep '^Acquire::' || true
	cat <<-CONF
		Dir::Etc::parts "/dev/null";
		Dir::Etc::main "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::sourcelist "$LAB_APT/debian.sources";
		Dir::State "$LAB_APT/state";
		Dir::State::status "$LAB_APT/status";
		Dir::Cache "$LAB_APT/cache";
		APT::Architecture "amd64";
		APT::Architectures "amd64";
		APT::Sandbox::User "root";
		APT::Get::Assume-Yes "true";
	CONF
}

apt_prepare() {
	need_program apt-get apt dpkg-deb dpkg
	make_dir "$LAB_APT"/{state/lists/partial,cache/archives/partial}
	lab_lock "$LAB_APT/lock"
	apt_write_sources >"$LAB_APT/debian.sources.new"
	[[ -s $LAB_APT/debian.sources.new ]] ||
		die "$LAB_EX_UNKNOWN" "no Debian mirror in the apt sources: $(apt_source_files | paste -sd' ')"
	apt_write_config >"$LAB_APT/apt.conf"
	: >"$LAB_APT/status"
	# Other sources than last time make the old lists worthless.
	if cmp -s "$LAB_APT/debian.sources.new" "$LAB_APT/debian.sources"; then
		rm "$LAB_APT/debian.sources.new"
	else
		rm -f "$LAB_APT/catalogue"
		mv "$LAB_APT/debian.sources.new" "$LAB_APT/debian.sources"
	fi
}

# apt_refresh: new package lists.  A suite that the mirror lacks is no error.
apt_refresh() {
	need_space "$LAB_APT" $((400 << 20)) 'package lists'
	detail 'fetching package lists'
	apt_private apt-get -q update >"$LAB_APT/update.log" 2>&1 || true
	apt_write_catalogue >"$LAB_APT/catalogue.new"
	if [[ ! -s $LAB_APT/catalogue.new ]]; then
		rm -f "$LAB_APT/catalogue.new"
		die "$LAB_EX_UNKNOWN" "no package lists from the mirror: $(grep -m 1 '^[EW]:' "$LAB_APT/update.log" || echo "see $LAB_APT/update.log")"
	fi
	mv "$LAB_APT/catalogue.new" "$LAB_APT/catalogue"
}

# The catalogue: version, kind, release or series, package, suite; one line each.
# Kinds: image, source, and broken: an image whose package of modules the mirror
# has no more (Debian keeps the signed half of a split kernel longer).
apt_write_catalogue() {
	local suite file
	# shellcheck disable=SC2016  # apt expands these
	apt_private apt-get indextargets --format '$(RELEASE) $(FILENAME)' 'Created-By: Packages' |
		while read -r suite file; do
			apt_private /usr/lib/apt/apt-helper cat-file "$file" 2>/dev/null | catalogue_of_suite "$suite"
		done | sort -u | catalogue_join
}

catalogue_join() {
	awk -F'\t' -v OFS='\t' '
		$2 == "modules" { has[$1, $3] = 1; next }
		{ line[++n] = $0 }
		END {
			for (i = 1; i <= n; i++) {
				$0 = line[i]
				if ($2 == "split") $2 = ($1, $3) in has ? "image" : "broken"
				print
			}
		}'
}

catalogue_of_suite() {
	awk -v suite="$1" '
		function flush_package() {
			if (pkg ~ /^linux-image-[0-9].*-amd64(-unsigned)?$/ && !meta) {
				rel = pkg; sub(/^linux-image-/, "", rel); sub(/-unsigned$/, "", rel)
				print ver "\t" (split_up ? "split" : "image") "\t" rel "\t" pkg "\t" suite
			} else if (pkg ~ /^linux-modules-[0-9].*-amd64$/) {
				rel = pkg; sub(/^linux-modules-/, "", rel)
				print ver "\tmodules\t" rel "\t" pkg "\t" suite
			} else if (pkg ~ /^linux-source-[0-9.]+$/) {
				rel = pkg; sub(/^linux-source-/, "", rel)
				print ver "\tsource\t" rel "\t" pkg "\t" suite
			}
			pkg = ver = ""; meta = split_up = 0
		}
		/^Package: / { pkg = $2 }
		/^Version: / { ver = $2 }
		/^Depends: .*linux-modules-/ { split_up = 1 }
		/^Description: .*\(meta-package\)/ { meta = 1 }
		/^$/ { flush_package() }
		END { flush_package() }
	'
}

# apt_catalogue: the catalogue's path, refreshed when it is missing or a day old.
apt_catalogue() {
	local file=$LAB_APT/catalogue
	if [[ -z $(find "$file" -mmin "-$LAB_LISTS_MAX_AGE_MIN" 2>/dev/null) ]]; then
		apt_refresh
	fi
}

# apt_field PACKAGE VERSION FIELD
apt_field() {
	apt_private apt-cache show "$1=$2" 2>/dev/null | sed -n "s/^$3: //p" | head -n 1
}

# apt_download PACKAGE VERSION DIRECTORY: the .deb's path on stdout.
apt_download() {
	local package=$1 version=$2 dir=$3 log=$LAB_APT/download.log deb size
	size=$(apt_field "$package" "$version" Size)
	need_space "$dir" $((size + (64 << 20))) "$package"
	detail "downloading $package $version ($(mib "$size") MiB)"
	(cd "$dir" && apt_private apt-get -q download "$package=$version") >"$log" 2>&1 || apt_download_failed "$package" "$log"
	deb=$(find "$dir" -maxdepth 1 -name "${package}_*.deb" | head -n 1)
	apt_verify "$deb" "$package" "$version"
	echo "$deb"
}

apt_download_failed() {
	local reason
	reason=$(grep -m 1 -E 'Hash Sum|size mismatch|unexpected size' "$2") &&
		die "$LAB_EX_CHECKSUM" "wrong checksum for $1: ${reason## }"
	reason=$(grep -m 1 -iE 'no space left|free space' "$2") &&
		die "$LAB_EX_SPACE" "not enough disk space for $1: ${reason## }"
	die "$LAB_EX_UNKNOWN" "cannot download $1: $(grep -m 1 '^E:' "$2" || echo "see $2")"
}

# apt has checked already; this catches a file that went bad on its way to the disk.
apt_verify() {
	local want have
	want=$(apt_field "$2" "$3" SHA256)
	have=$(sha256sum "$1" | cut -d' ' -f1)
	[[ $want == "$have" ]] ||
		die "$LAB_EX_CHECKSUM" "wrong checksum for $2: expected $want, got $have"
}
