#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints the "computed" reference values of test_stats.c.

Nothing in common with src/common/stats.c: 60-digit decimals, densities integrated by tanh-sinh
quadrature, binomial tails summed exactly, U counted pair by pair. Standard library only.
"""
from collections import Counter
from decimal import Decimal as D, getcontext
from fractions import Fraction as F
from math import comb

getcontext().prec = 60
PI = D("3.14159265358979323846264338327950288419716939937510582097494")
HALF = D("0.5")


def integrate(f, a, b, step=D("0.03125"), terms=220):
    """Tanh-sinh over (a, b); f gets x, x - a and b - x, the latter two without cancellation."""
    total = D(0)
    for k in range(-terms, terms + 1):
        grow = (k * step).exp()
        e = (PI / 2 * (grow - 1 / grow)).exp()
        weight = PI * (grow + 1 / grow) / 2 * e / (1 + e) ** 2
        from_a, to_b = (b - a) * e / (1 + e), (b - a) / (1 + e)
        if from_a > 0 and to_b > 0 and weight > D("1e-55"):
            total += f(a + from_a, from_a, to_b) * weight
    return total * step * (b - a)


def beta_inc(a, b, x):
    a, b, x = D(a), D(b), D(x)
    below = integrate(lambda t, u, v: ((a - 1) * u.ln() + (b - 1) * (1 - t).ln()).exp(), D(0), x)
    above = integrate(lambda t, u, v: ((a - 1) * t.ln() + (b - 1) * v.ln()).exp(), x, D(1))
    return below / (below + above)


def erfc(z):
    return 1 - 2 / PI.sqrt() * integrate(lambda t, u, v: (-t * t).exp(), D(0), D(z))


def dec(q):
    return D(q.numerator) / D(q.denominator)


def variance(v):
    m = sum(v) / len(v)
    return sum((x - m) ** 2 for x in v) / (len(v) - 1)


def welch(a, b):
    va, vb = variance(a) / len(a), variance(b) / len(b)
    t = dec(sum(a) / len(a) - sum(b) / len(b)) / dec(va + vb).sqrt()
    df = dec((va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)))
    return t, df, beta_inc(df / 2, HALF, df / (df + t * t))


def mann_whitney(a, b):
    u = sum(F(1) if y > x else F(1, 2) if y == x else F(0) for x in a for y in b)
    n = len(a) + len(b)
    ties = sum(t**3 - t for t in Counter(a + b).values())
    var = F(len(a) * len(b), 12) * (n + 1 - F(ties, n * (n - 1)))
    d = u - F(len(a) * len(b), 2)
    d -= F(1, 2) if d > 0 else F(-1, 2) if d < 0 else 0
    z = dec(d) / dec(var).sqrt()
    return dec(u), z, erfc(abs(z) / D(2).sqrt())


def bisect(is_below):
    low, high = D(0), D(1)
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def clopper_pearson(k, n, confidence):
    tail = (1 - D(confidence)) / 2

    def between(p, first, last):
        return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(first, last + 1))

    low = D(0) if k == 0 else bisect(lambda p: between(p, k, n) < tail)
    high = D(1) if k == n else bisect(lambda p: between(p, 0, k) > tail)
    return low, high


def show(what, *values):
    print(f"{what:32}", *(f"{v:.15f}" for v in values))


SLEEP_1 = [F(x) for x in "0.7 -1.6 -0.2 -1.2 -0.1 3.4 3.7 0.8 0.0 2.0".split()]
SLEEP_2 = [F(x) for x in "1.9 0.8 1.1 0.1 -0.1 4.4 5.5 1.6 4.6 3.4".split()]

for a, b, x in [("0.5", "0.5", "0.3"), ("2.5", "1.5", "0.7"), ("50", "0.5", "0.99"),
                ("1000", "2000", "0.34"), ("0.1", "9", "0.01")]:
    show(f"I_{x}({a}, {b})", beta_inc(a, b, x))
show("Welch, sleep: t df p", *welch(SLEEP_1, SLEEP_2))
show("Mann-Whitney, sleep: U z p", *mann_whitney(SLEEP_1, SLEEP_2))
show("Mann-Whitney, ages: U z p",
     *mann_whitney([F(x) for x in (19, 22, 16, 29, 24)], [F(x) for x in (20, 11, 17, 12)]))
for k, n, confidence in [(682, 925, "0.95"), (3, 15, "0.9"), (6, 8, "0.95"), (1, 20, "0.99"),
                         (0, 10, "0.95"), (10, 10, "0.95")]:
    show(f"Clopper-Pearson {k} of {n}, {confidence}", *clopper_pearson(k, n, confidence))
