#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Our usemem beside vm-scalability's, the same command line, without a limit, in turn.

usage: classic-vs-usemem.py OURS ORIGINAL [PAIRS]

Who goes first changes from pair to pair. What is held against the budget (design.md, section 8) is
the median over the pairs of (the original's CPU time / ours), user and system of all tasks, which
other work on the machine disturbs least; the speeds that both print are shown beside it. A budget is
broken when the whole 95 % interval of the median is below 1. Exit 1 then.
"""
import math
import os
import re
import statistics
import subprocess
import sys

WORK = [
    "-q -r 20 128m",
    "-q -O -r 20 128m",
    "-q -R -r 3 64m",
    "-q -o -r 20 128m",
    "-q -j 4096 512m",
    "-q -t 2 -r 10 64m",
    "-q -n 2 -y -x -r 10 64m",
]
BUDGET = 1.0


def run(program, words):
    """CPU seconds, and the sum of the speeds that it prints."""
    child = subprocess.Popen([program, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    speeds = [int(kb) for kb in re.findall(r"= (\d+) KB/s", text)]
    if status or not speeds:
        sys.exit(f"{program} {words}: status {status}: {text}")
    return usage.ru_utime + usage.ru_stime, sum(speeds)


def interval(values):
    """The order statistics between which the true median is with 95 %."""
    half = int(1.96 * math.sqrt(len(values)) / 2 + 0.5)
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[max(0, middle - half)], ordered[min(len(ordered) - 1, middle + half)]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    ours, original = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) == 4 else 15
    broken = False
    for words in WORK:
        cpu, speed = [], []
        for i in range(pairs):
            both = {}
            for program in (ours, original) if i % 2 else (original, ours):
                both[program] = run(program, words)
            cpu.append(both[original][0] / both[ours][0])
            speed.append(both[ours][1] / both[original][1])
        low, high = interval(cpu)
        verdict = "ok" if high >= BUDGET else "BROKEN"
        broken |= high < BUDGET
        print(f"usemem {words:26} ours/original {statistics.median(cpu):.3f} "
              f"(95 %: {low:.3f} to {high:.3f}), printed speeds {statistics.median(speed):.3f}  {verdict}", flush=True)
    return broken


sys.exit(main())
