#!/usr/bin/env python3
"""Measures whether the estimates of `mazurka check` can be believed (docs/internals/estimates.md).

    bench/estimate.py [--seeds N] [--executions M] [NAME...]

For each program of the list, whose number of executions is known, it makes N surveys with different seeds and M random
executions each. The 90 % interval should contain the true number in 90 of 100 surveys. `high / low` is the width of the
median interval, `error` the median of |ln(estimate / true)|.

The exit status is 1 if an interval contains the true number in fewer than 80 of 100 surveys."""
import argparse
import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = [  # name, true number of executions, arguments
    ("aget(5)", 113400, "-DT=5 tests/papers/aget.c"),
    ("fib(7)", 616227, "-DN=7 tests/papers/fib.c"),
    ("filesystem(26)", 8192, "-DN=26 tests/papers/filesystem.c"),
    ("indexer(16)", 32768, "-DN=16 tests/papers/indexer.c"),
    ("lastzero(10)", 3328, "-DN=10 tests/papers/lastzero.c"),
    ("lastzero(15)", 147456, "-DN=15 tests/papers/lastzero.c"),
    ("readers(16)", 65536, "-DN=16 tests/papers/readers.c"),
    ("casrot(11)", 182905, "-DN=11 tests/papers/casrot.c"),
    ("floating_read(6)", 5040, "-DN=6 tests/papers/floating_read.c"),
    ("dining_philosophers(6)", 62, "-DN=6 tests/classics/dining_philosophers.c"),
    ("locks(4,7)", 1067352, "-DN=4 -DR=7 bench/estimate_locks.c"),
]


def survey(arguments, seed, executions):
    """(estimate, low, high), or None if there were too few samples."""
    command = [os.path.join(ROOT, "mazurka"), "check", "--estimate=only", f"--max-executions={executions}",
               "--keep-going", "--json", "--quiet"] + arguments.split()
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=dict(os.environ, MAZURKA_SURVEY_SEED=str(seed)), check=False)
    if run.returncode not in (1, 3):
        sys.exit(f"estimate.py: {' '.join(command)}: status {run.returncode}\n{run.stderr}")
    e = json.loads(run.stdout).get("estimate")
    return (e["executions"], e["low"], e["high"]) if e else None


def median(values):
    return sorted(values)[len(values) // 2] if values else float("nan")


def measure(name, true, arguments, seeds, executions):
    found = [survey(arguments, seed, executions) for seed in range(1, seeds + 1)]
    known = [f for f in found if f]
    inside = sum(low <= true <= high for _, low, high in known)
    error = median([abs(math.log(mean / true)) for mean, _, _ in known])
    width = median([high / low for _, low, high in known])
    print(f"{name:24} {true:9} {inside:4} of {len(found):3} {width:10.2f} {error:8.3f}", flush=True)
    return 100 * inside >= 80 * len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--executions", type=int, default=3000)
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    print(f"{'program':24} {'true':>9} {'inside':>11} {'high / low':>10} {'error':>8}")
    good = [measure(n, true, arguments, a.seeds, a.executions) for n, true, arguments in PROGRAMS
            if not a.names or n in a.names]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
