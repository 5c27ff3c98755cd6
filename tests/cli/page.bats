#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The report's page in a real browser, without a network: nothing is logged, every chart shows
# something, nothing is wider than the window. Screenshots are left in build/artefacts.

bats_require_minimum_version 1.5.0
load helpers.bash

# shellcheck disable=SC2154 # bin is from helpers.bash
squeeze=$bin/squeeze
results=$BATS_TEST_DIRNAME/../data/results
artefacts=$bin/../artefacts

setup_file() {
	local c
	for c in chromium chromedriver curl jq; do
		command -v $c >/dev/null || skip "needs $c (apt-get install chromium chromium-driver curl jq)"
	done
	export DRIVER_LOG=$BATS_FILE_TMPDIR/driver.log
	chromedriver --port=0 >"$DRIVER_LOG" 2>&1 3>&- &
	export DRIVER_PID=$!
	local port=
	while [ -z "$port" ]; do
		kill -0 "$DRIVER_PID"
		port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$DRIVER_LOG")
	done
	export DRIVER=http://127.0.0.1:$port/session
	local args
	args=$(jq -n --arg d "$BATS_FILE_TMPDIR/profile" '["--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--disable-dev-shm-usage", "--user-data-dir=" + $d]')
	SESSION=$(jq -n --argjson a "$args" --arg b "$(command -v chromium)" '{capabilities: {alwaysMatch: {
		"goog:chromeOptions": {binary: $b, args: $a}, "goog:loggingPrefs": {browser: "ALL"}}}}' |
		curl -sS --max-time 60 -d @- "$DRIVER" | jq -er .value.sessionId)
	export SESSION
}

teardown_file() {
	[ -z "${SESSION-}" ] || curl -sS --max-time 20 -X DELETE "$DRIVER/$SESSION" >/dev/null || true
	if [ -n "${DRIVER_PID-}" ]; then
		kill "$DRIVER_PID" || true
		wait "$DRIVER_PID" || true
	fi
}

# ask PATH JSON: one WebDriver command; its value on stdout.
ask() {
	curl -sS --max-time 60 -d "$2" "$DRIVER/$SESSION/$1" | jq -e '.value | if type == "object" and .error then error(.message) else . end' || [ $? -eq 1 ]
}

cdp() {
	ask goog/cdp/execute "$(jq -n --arg c "$1" --argjson p "$2" '{cmd: $c, params: $p}')" >/dev/null
}

js() {
	ask execute/sync "$(jq -n --arg s "$1" '{script: $s, args: []}')"
}

# look FILE WIDTH SCHEME NAME: opens the page as a reader with that window and setting would.
look() {
	cdp Network.enable '{}'
	cdp Network.emulateNetworkConditions '{"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}'
	cdp Emulation.setDeviceMetricsOverride "{\"width\": $2, \"height\": 900, \"deviceScaleFactor\": 1, \"mobile\": false}"
	cdp Emulation.setEmulatedMedia "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"$3\"}]}"
	ask url "$(jq -n --arg u "file://$1" '{url: $u}')" >/dev/null
	mkdir -p "$artefacts"
	ask goog/cdp/execute '{"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}}' |
		jq -r .data | base64 -d >"$artefacts/$4.png"
	[ "$(ask se/log '{"type": "browser"}')" = "[]" ]
	[ "$(js 'return document.documentElement.scrollWidth <= innerWidth')" = true ]
	# Each chart has a curve of some length, in the frame of its drawing, in a colour that is not
	# the background's.
	[ "$(js 'return [...document.querySelectorAll("svg.chart")].filter(s => {
		const frame = s.getBoundingClientRect();
		return frame.width < 200 || ![...s.querySelectorAll("path.curve")].some(c => {
			const box = c.getBoundingClientRect(), style = getComputedStyle(c);
			return c.getTotalLength() > 0 && box.left >= frame.left - 1 && box.right <= frame.right + 1 &&
				box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1 &&
				style.stroke != "none" && style.stroke != getComputedStyle(document.body).backgroundColor;
		});
	}).length')" = 0 ]
}

@test "recorded results, light and dark, wide and narrow" {
	local page=$BATS_TEST_TMPDIR/report.html
	"$squeeze" report "$results" --base "$results" -o "$page"
	look "$page" 1280 light report-1280-light
	[ "$(js 'return document.querySelectorAll("svg.chart").length >= 5')" = true ]
	look "$page" 1280 dark report-1280-dark
	[ "$(js 'return getComputedStyle(document.body).backgroundColor')" != '"rgb(255, 255, 255)"' ]
	look "$page" 400 light report-400-light
	look "$page" 400 dark report-400-dark
}

@test "everything can be reached by keyboard, and paper is white" {
	local page=$BATS_TEST_TMPDIR/report.html
	"$squeeze" report "$results" -o "$page"
	look "$page" 1280 dark report-keyboard
	[ "$(js 'return [...document.querySelectorAll("figure, .scroll, pre, a")].every(e => e.tabIndex == 0)')" = true ]
	[ "$(js 'return [...document.querySelectorAll("svg.chart")].every(s =>
		document.getElementById(s.getAttribute("aria-labelledby")).textContent.length > 3)')" = true ]
	[ "$(js 'const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
		return new Set(ids).size == ids.length')" = true ]
	[ "$(js 'return [...document.querySelectorAll("a")].every(a => document.querySelector(a.getAttribute("href")))')" = true ]
	cdp Emulation.setEmulatedMedia '{"media": "print"}'
	[ "$(js 'return getComputedStyle(document.body).backgroundColor')" = '"rgb(255, 255, 255)"' ]
}

@test "a hostile document runs nothing" {
	local d=$BATS_TEST_TMPDIR/evil evil='"><script>document.title="owned"</script><img src=x onerror=document.title="owned">'
	mkdir "$d"
	jq --arg e "$evil" '.tool = $e | .scenario = $e | .reason = $e | .host.kernel = $e | .command = [$e]
		| .params.swap = $e | .runs[0].notes = [$e] | .runs[0].checks[0].name = $e
		| .runs[0].metrics[$e] = {value: 1, unit: $e}
		| .runs[0].histograms[$e] = .runs[0].histograms.touch' "$results/over-isolation-pass.json" >"$d/x.json"
	"$squeeze" report "$d" -o "$d/report.html"
	look "$d/report.html" 1280 light report-hostile
	[ "$(js 'return document.title.startsWith("Squeeze report")')" = true ]
	[ "$(js 'return document.scripts.length + document.images.length')" = 0 ]
}

@test "results of a real run on this machine" {
	[ -x "$bin/usemem" ] || skip "needs usemem"
	need_root
	local d=$BATS_TEST_TMPDIR/real i code
	mkdir "$d"
	for i in 1 2; do
		code=0
		"$bin/usemem" --threads 8 --memcg 16M --time 3s --quiet --json "$d/$i.json" >/dev/null || code=$?
		[ "$code" -ne 4 ] || [ "$(jq -r .verdict "$d/$i.json")" != skip ] ||
			skip "$(jq -r .reason "$d/$i.json")"
		[ "$code" -le 4 ]
	done
	"$squeeze" report "$d" -o "$d/report.html"
	look "$d/report.html" 1280 light report-real
	[ "$(js 'return document.querySelectorAll("svg.chart").length >= 3')" = true ]
}
