# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The matrix's table: cells from the folder of results, as JSON, text and markdown.

# table_json OUT RUNS COMMAND NAME... <"kernel lru" lines
table_json() {
	local out=$1 runs=$2 command=$3 kernel lru name
	shift 3
	while read -r kernel lru; do
		for name; do
			table_cell "$out" "$kernel" "$lru" "$name" "$runs"
		done
	done | jq -s --arg command "$command" --arg made "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		'{schema: "squeeze-matrix/1", made: $made, command: $command, cells: .}'
}

# table_cell OUT KERNEL LRU NAME RUNS: one cell from its runs.
table_cell() {
	local out=$1 kernel=$2 lru=$3 name=$4 runs=$5 n
	for ((n = 1; n <= runs; n++)); do
		table_run "$out" "$kernel/$lru/$name/run-$n"
	done | jq -s --arg kernel "$kernel" --arg lru "$lru" --arg scenario "$name" '{
		scenario: $scenario, kernel: $kernel, release: (map(.release // empty) | first), lru: $lru,
		runs: length, failed: map(select(.verdict == "fail")) | length,
		verdicts: (group_by(.verdict) | map({key: .[0].verdict, value: length}) | from_entries),
		results: map(.result // empty) }'
}

# table_run OUT BASE: verdict of one run; the result document's, else the exit code's.
table_run() {
	local exit=lost
	[[ ! -e $1/$2.exit ]] || exit=$(<"$1/$2.exit")
	# Of an empty document, as a lost guest leaves it, jq says nothing and that it went well.
	if [[ -s $1/$2.json ]] && jq -e --arg result "$2.json" '{verdict, release: .host.kernel, result: $result} | select(.verdict)' \
		"$1/$2.json" 2>/dev/null; then
		return
	fi
	jq -n --arg exit "$exit" '{verdict: ({"0": "pass", "1": "fail", "4": "skip", "32": "skip",
		"lost": "lost", "124": "timeout", "137": "timeout"}[$exit] // "error")}'
}

# Cells read "failed/runs", and what else there was: 0/3, 2/3 (1 inconclusive), skip.
# shellcheck disable=SC2016  # $columns and the like are jq's
readonly TABLE_ROWS='
	def cell:
		if (.verdicts | keys) == ["skip"] then "skip"
		else "\(.failed)/\(.runs)" + (.verdicts | del(.pass, .fail) | to_entries
			| if length > 0 then " (" + (map("\(.value) \(.key)") | join(", ")) + ")" else "" end)
		end;
	def column: .kernel + (if .lru == "keep" then "" else " " + .lru end);
	(.cells | map(column) | reduce .[] as $c ([]; if index([$c]) then . else . + [$c] end)) as $columns
	| (.cells | map(.scenario) | reduce .[] as $s ([]; if index([$s]) then . else . + [$s] end)) as $rows
	| .cells as $cells
	| [["runs failed"] + $columns]
	+ [$rows[] as $r | [$r] + [$columns[] as $c | first($cells[] | select(.scenario == $r and column == $c) | cell) // "-"]]'

table_text() {
	jq -r "$TABLE_ROWS | .[] | @tsv" | awk -F'\t' '
		{ for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) }; columns = NF }
		END {
			for (r = 1; r <= NR; r++) {
				line = ""
				for (i = 1; i <= columns; i++) line = line sprintf("%-" (width[i] + 2) "s", cell[r, i])
				sub(/ +$/, "", line)
				print line
			}
		}'
}

table_markdown() {
	jq -r "$TABLE_ROWS"' | (.[0] | "| " + join(" | ") + " |"), (.[0] | "|" + (map("---|") | add)),
		(.[1:][] | "| " + join(" | ") + " |")'
}
