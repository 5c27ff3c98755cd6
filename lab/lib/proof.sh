# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2030,SC2031  # a cell's fields are read in the shell that uses them
# lab/matrix --proof: every verdict both ways, as lab/proof.table lists it.
#
# A cell is one line of the table: a command on one kernel and LRU, and the verdict it must give. Results are
# $OUT/PAIR/KERNEL/LRU/NAME/run-N.*, as the matrix keeps them.

readonly PROOF_TABLE=${SQUEEZE_LAB_PROOF:-$LAB_DIR/proof.table}
# A boot takes about 8 s here; the first build of a version took 23 min on 2 CPUs, one more about 1 min.
readonly PROOF_BOOT_S=8 PROOF_FIRST_BUILD_S=1400 PROOF_BUILD_S=70
readonly PROOF_BUILD_GIB=6 PROOF_KERNEL_MIB=100 PROOF_RUN_KIB=150

# proof_lines KIND: the table's lines of that kind without its first field, fields between "|".
proof_lines() {
	sed -e '/^#/d' -e '/^[[:space:]]*$/d' -e 's/[[:space:]]*|[[:space:]]*/|/g' "$PROOF_TABLE" |
		awk -F'|' -v OFS='|' -v kind="$1" '$1 == kind { sub(/^[^|]*\|/, ""); print }'
}

# proof_cells: "PAIR|KERNEL|LRU|RUNS|WANT|SECONDS|GUEST|METRICS|COMMAND", of the pairs that were asked for.
proof_cells() {
	local line
	proof_lines cell | while IFS= read -r line; do
		[[ -z $PAIRS || ,$PAIRS, == *",${line%%|*},"* ]] && echo "$line"
	done || true
}

# Not grep -q, here and below: it ends at the first match, and what writes to it dies of that (pipefail).
proof_check_pairs() {
	local pair
	for pair in ${PAIRS//,/ }; do
		proof_lines cell | grep "^$pair|" >/dev/null || usage_error "option '--pairs': '$pair' is not one of: $(proof_lines cell |
			cut -d'|' -f1 | uniq | paste -sd' ')"
	done
}

# proof_unbuilt: "NAME|VERSION|PATCHES" of the kernels of the cells that the cache lacks, or has with other patches.
proof_unbuilt() {
	local name version patches file
	proof_lines kernel | while IFS='|' read -r name version patches; do
		proof_cells | cut -d'|' -f2 | grep -x "$name" >/dev/null || continue
		for file in $patches; do cat "$LAB_DIR/patches/$file"; done |
			cmp -s - "$LAB_KERNELS/$name/patches" || echo "$name|$version|$patches"
	done
}

# proof_without_tree <versions: those of which nothing has been built yet.
proof_without_tree() {
	local version dir
	while read -r version; do
		while read -r dir; do
			! build_version_matches "$version" "${dir##*/}" || continue 2
		done < <(find "$LAB_BUILDS" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' 2>/dev/null)
		echo "$version"
	done
}

proof_build() {
	local name version patches file
	while IFS='|' read -r name version patches <&4; do
		local -a option=()
		for file in $patches; do option+=(--patch "$LAB_DIR/patches/$file"); done
		"$LAB_DIR/kernel" build "$version" "${option[@]}" --name "$name" >/dev/null
	done 4< <(proof_unbuilt)
}

# proof_pending: sets LEFT to the runs of the cell just read that have no result yet.
proof_pending() {
	local n
	LEFT=0
	for ((n = 1; n <= runs; n++)); do
		[[ -e $OUT/$pair/$kernel/$lru/$pair/run-$n.exit ]] || LEFT=$((LEFT + 1))
	done
}

# proof_plan: what is to be done, and how long and how much it takes. Sets BOOTS and BUILDS to how many there are.
proof_plan() {
	local pair kernel lru runs want seconds guest metrics command
	local total=0 time=0 mib=0 first=0
	BOOTS=0
	while IFS='|' read -r pair kernel lru runs want seconds guest metrics command; do
		proof_pending
		echo "$pair, $kernel, lru $lru: $LEFT of $runs runs of $seconds s, wanted: $want"
		echo "    $command"
		total=$((total + LEFT)) time=$((time + LEFT * seconds))
		((LEFT == 0)) || [[ $kernel == native ]] || BOOTS=$((BOOTS + (runs > 9 ? 1 : LEFT)))
	done < <(proof_cells)
	BUILDS=$(proof_unbuilt | wc -l)
	if ((BUILDS)); then
		first=$(proof_unbuilt | cut -d'|' -f2 | sort -u | proof_without_tree | wc -l)
		time=$((time + BUILDS * PROOF_BUILD_S + first * PROOF_FIRST_BUILD_S))
		mib=$((BUILDS * PROOF_KERNEL_MIB + first * PROOF_BUILD_GIB * 1024))
	fi
	note "$total runs in $BOOTS boots, $BUILDS kernels to build: about $(((time + BOOTS * PROOF_BOOT_S) / 60 + 1)) minutes," \
		"$mib MiB in the cache and $((total * PROOF_RUN_KIB / 1024 + 1)) MiB in $OUT"
}

# proof_check_programs, after proof_plan: all that is needed for what is still to be done, before anything is built;
# what is found missing after an hour costs the hour. The commands are this tree's own programs.
proof_check_programs() {
	local program
	local -a needed=(jq jq)
	((BOOTS == 0)) || needed+=("${LAB_GUEST_PROGRAMS[@]}")
	((BUILDS == 0)) || needed+=("${LAB_BUILD_PROGRAMS[@]}")
	need_program "${needed[@]}"
	while read -r program; do
		command -v "$program" >/dev/null ||
			die "$LAB_EX_MISSING" "$program is missing: build it (cmake --preset release && cmake --build --preset release)"
	done < <(proof_cells | cut -d'|' -f9 | cut -d' ' -f1 | sort -u)
}

# proof_round N: the Nth run of each cell, so that the kernels of a pair take turns; all runs of a cell that
# has more than nine at once, since those are controls and boots take time.
proof_round() {
	local out=$OUT pair kernel lru runs want seconds guest metrics command failed=0
	while IFS='|' read -r pair kernel lru runs want seconds guest metrics command <&4; do
		((runs >= $1)) || continue
		# shellcheck disable=SC2034  # run_column reads them
		RUNS=$((runs > 9 ? runs : $1)) OUT=$out/$pair NAMES=("$pair") COMMANDS=("$command")
		# shellcheck disable=SC2034
		read -ra GUEST <<<"$guest"
		make_dir "$OUT"
		run_column "$kernel" "$lru" || failed=$?
	done 4< <(proof_cells)
	OUT=$out
	return "$failed"
}

# proof_json: the document with every cell.
proof_json() {
	local pair kernel lru runs want seconds guest metrics command
	while IFS='|' read -r pair kernel lru runs want seconds guest metrics command; do
		table_cell "$OUT" "$pair/$kernel" "$lru" "$pair" "$runs" |
			jq --arg pair "$pair" --arg kernel "$kernel" --arg guest "$guest" --arg command "$command" \
				--arg want "$want" --slurpfile documents <(proof_documents) --arg metrics "$metrics" '
				($want | split(" ")) as [$verdict, $least]
				| . + {pair: $pair, kernel: $kernel, guest: $guest, command: $command,
					want: {verdict: $verdict, least: ($least | tonumber)},
					n: .runs, k: (if $verdict == "no-fail" then (.verdicts.pass // 0) + (.verdicts.inconclusive // 0) else .verdicts[$verdict] // 0 end)}
				| . + {held: (.k >= .want.least and (.verdicts | has("lost") | not)),
					metrics: ($metrics | split(" ") | map({key: ., value: (. as $m | $documents
						| map(.runs[0].metrics[$m].value // empty) | sort
						| if length == 0 then null else {min: .[0], median: .[length / 2 | floor], max: .[-1]} end)})
						| from_entries)}
				| del(.scenario, .runs)'
	done < <(proof_cells) | jq -s --arg command "$1" --arg made "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		'{schema: "squeeze-proof/1", made: $made, command: $command, cells: .}'
}

# proof_documents: those of the cell just read, one after the other.
proof_documents() {
	local n file
	for ((n = 1; n <= runs; n++)); do
		file=$OUT/$pair/$kernel/$lru/$pair/run-$n.json
		[[ ! -s $file ]] || jq -c . "$file" 2>/dev/null || true
	done
}

# proof_markdown <proof.json
proof_markdown() {
	jq -r '
		def number: if . == null then "-" elif . >= 1e9 then "\(. / 1e8 | round / 10)e9"
			elif . >= 100 then round | tostring else "\(. * 100 | round / 100)" end;
		def metric: "`\(.key)` " + (if .value == null then "-" else "\(.value.min | number) … \(.value.median | number) … \(.value.max | number)" end);
		"| pair | kernel | LRU | wanted | seen | |", "|---|---|---|---|---|---|",
		(.cells[] | "| \(.pair) | \(.release // .kernel) | \(.lru) | \(.want.verdict) in \(.want.least) of \(.n) | "
			+ "\(.verdicts | to_entries | map("\(.value) \(.key)") | join(", "))\(if .held then "" else ", **not as wanted**" end) | "
			+ "\(.metrics | to_entries | map(metric) | join("; ")) |")'
}

proof_main() {
	local round rounds failed=0
	proof_plan >&2
	((DRY_RUN == 0)) || return 0
	proof_check_programs
	make_dir "$OUT"
	OUT=$(readlink -f "$OUT")
	proof_build
	rounds=$(proof_cells | awk -F'|' '$4 > 9 { $4 = 1 } $4 > n { n = $4 } END { print n + 0 }')
	for ((round = 1; round <= rounds; round++)); do
		proof_round "$round" || failed=$?
	done
	proof_json "$1" >"$OUT/proof.json"
	proof_markdown <"$OUT/proof.json" >"$OUT/proof.md"
	if [[ $FORMAT == json ]]; then cat "$OUT/proof.json"; else cat "$OUT/proof.md"; fi
	((failed == 0)) || die "$LAB_EX_LAB" "some runs were lost or could not be done (see $OUT)"
	jq -e 'all(.cells[]; .held)' "$OUT/proof.json" >/dev/null || { note 'not every cell is as wanted'; exit 1; }
}
