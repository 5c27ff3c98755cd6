# SPDX-License-Identifier: GPL-2.0-only
"""What the checkers share: read standard input strictly, refuse by raising Bad, exit 0 or 1.

The checkers know the formats' contracts (KTAP, LTP's kirk, RFC 4180, LAVA, HdrHistogram, and
squeeze-result/1 as design.md 4.3 has it). They must never be adapted to what Squeeze happens to print.
"""

import sys


class Bad(Exception):
    """The document breaks its contract; the text names the line or the place."""


def need(condition, where, what):
    if not condition:
        raise Bad(f"{where}: {what}")


def read_lines():
    """The lines of standard input, as (number, text); refuses what is no text file."""
    data = sys.stdin.buffer.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Bad(f"byte {error.start}: not UTF-8") from None
    need(text, "line 1", "empty document")
    need(text.endswith("\n"), f"line {text.count(chr(10)) + 1}", "no newline at the end")
    lines = text[:-1].split("\n")
    for number, line in enumerate(lines, 1):
        for char in line:
            need(char == "\t" or ord(char) >= 0x20, f"line {number}", f"control character {char!r}")
    return list(enumerate(lines, 1))


def expected_exit():
    """The exit code given by --exit, or None."""
    if len(sys.argv) == 1:
        return None
    if len(sys.argv) == 3 and sys.argv[1] == "--exit" and sys.argv[2].isdigit():
        return int(sys.argv[2])
    print(f"usage: {sys.argv[0]} [--exit CODE] < DOCUMENT", file=sys.stderr)
    sys.exit(64)


def main(name, check):
    code = expected_exit()
    try:
        check(code)
    except Bad as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
