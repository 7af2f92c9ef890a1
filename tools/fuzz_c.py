#!/usr/bin/env python3
"""Random C programs: mazurka must find exactly what an interpreter in Python finds over all interleavings.

    tools/fuzz_c.py [--seed N] [--count N] [--mode free|racy|twin] [--seconds S] [--full] [--keep DIR] [--jobs N]

A program has up to four threads that use atomics of all sizes and orders, locks, condition variables, semaphores, barriers,
keys, cancellation, cleanup handlers, signals to itself, structures that are returned and passed by value, memcpy and the
like, join results, heap blocks and waiting loops, on variables that are static, on the heap, or on the stack of main or of
another thread (random_c/generate.py). random_c/oracle.py finds everything that the program can do. With gcc or clang at
-O0 to -O3 (drawn at random), the script compares:

    free    no data race; the set of outcomes, and whether a deadlock or livelock is possible
    racy    whether there is a data race; if not, the same as above
    twin    the same program with plain variables and --data-races=allow, and with atomic variables

for `optimal`, `source`, two more stateless configurations (drawn: algorithm, --backtrack, -j 2), and two stateful ones;
with --full for all of them. Stateless algorithms must count the same number of executions, and every finding must be
replayed. A program with a difference is made smaller and kept in DIR as fuzz-c-SEED.c, and the exit status is 1. Seed N
is always the same program."""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "random_c"))
from c_text import c_text  # noqa: E402
from generate import Program  # noqa: E402
from oracle import explore  # noqa: E402
from shrink import shrink  # noqa: E402

STATEFUL = ("stateful", "s-por", "de-s-por", "dl-s-por", "sdpor")
BASELINES = ("static-stateful", "sdpor-initial")  # stateful, too
WAYS = [("--algorithm=%s" % a, "--backtrack=%s" % b) for a in ("optimal", "source", "dpor", "sleep")
        for b in ("auto", "undo", "checkpoint", "rerun")] + [("--algorithm=optimal", "-j2"), ("--algorithm=source", "-j2")] + [
        ("--algorithm=static", "--sleep-sets")]
STATEFUL_WAYS = [("--algorithm=%s" % a,) + w for a in STATEFUL
                 for w in ((), ("--state-match=exact",), ("--backtrack=checkpoint",))] + [("--algorithm=%s" % a,) for a in BASELINES]
FIRST = [("--algorithm=optimal",), ("--algorithm=source",)]
LIMIT = 20000  # states for the oracle
CHUNK = 16  # programs between two looks at the clock
ORACLE_EXPECTS_STUCK = {"deadlock", "livelock"}


class Checker:
    """Runs mazurka on one program after the other in a directory of its own."""

    def __init__(self, mazurka, directory):
        self.mazurka, self.directory = mazurka, directory
        self.environment = dict(os.environ, XDG_CACHE_HOME=directory, MAZURKA_CHECK_FORESEEN="1",
                                MAZURKA_SHARE_AT_ONCE="1")

    def path(self, name):
        return os.path.join(self.directory, name)

    def compile(self, text, compiler, optimize):
        """None, or what the compiler said."""
        with open(self.path("fuzz.c"), "w") as f:
            f.write(text)
        environment = dict(self.environment, MAZURKA_CC=compiler)
        out = subprocess.run([self.mazurka, "cc", optimize, "-o", self.path("fuzz"), self.path("fuzz.c")],
                             capture_output=True, text=True, env=environment, timeout=120)
        return None if out.returncode == 0 else out.stderr.strip()

    def check(self, words):
        """The JSON object, or a text that says why there is none."""
        try:
            out = subprocess.run([self.mazurka, "check", "--strategy=exhaustive", "--json", "--quiet", "--keep-going", "--time-limit=30",
                                  "--max-steps=300", "--trace=" + self.path("fuzz.trace")] + list(words) +
                                 [self.path("fuzz")], capture_output=True, text=True, env=self.environment, timeout=90)
            return json.loads(out.stdout)
        except subprocess.TimeoutExpired:
            return "does not end"
        except ValueError:
            return "status %d: %s" % (out.returncode, out.stderr.strip()[:300])


def disagreement(expected, result, subset):
    """What is wrong with a result, as text; None if nothing is. subset: it may have fewer outcomes."""
    if isinstance(result, str):
        return result
    errors = result["errors"]
    unsure = [e for e in errors if not e["replayed"]]
    if unsure:
        return "not replayed: " + unsure[0]["message"]
    kinds = {e["kind"] for e in errors}
    outcomes = {int(e["message"].split("outcome ")[1].rstrip('"')) for e in errors if e["kind"] == "assertion"}
    if expected.race or "data-race" in kinds:
        return None if expected.race and "data-race" in kinds else "data race: expected %s, got %s" % (
            expected.race, sorted(kinds))
    strange = kinds - {"assertion"} - ORACLE_EXPECTS_STUCK
    if strange:
        return "found " + ", ".join(e["message"] for e in errors if e["kind"] in strange)
    stuck = bool(kinds & ORACLE_EXPECTS_STUCK)
    complete = result["complete"] and not subset
    if outcomes - expected.outcomes or (complete and expected.outcomes - outcomes):
        return "outcomes: expected %s, got %s" % (sorted(expected.outcomes), sorted(outcomes))
    if (stuck and not expected.stuck) or (complete and expected.stuck and not stuck):
        return "deadlock or livelock: expected %s, got %s" % (expected.stuck, sorted(kinds))
    return None


class Comparison:
    """One program: what is expected, what is found, and where they differ."""

    def __init__(self, checker, full):
        self.checker, self.full = checker, full

    def ways(self, program):
        r = random.Random(program.seed)
        if self.full:
            return FIRST + WAYS + STATEFUL_WAYS
        return FIRST + r.sample(WAYS, 2) + r.sample(STATEFUL_WAYS, 2)

    def first_difference(self, program, only=None):
        """(ways, text), "left out", or None. only: just these ways, and no others."""
        expected = explore(program, LIMIT)
        if expected is None:
            return "left out"
        for atomic_twin in ([False, True] if program.mode == "twin" else [False]):
            said = self.checker.compile(c_text(program, atomic_twin), program.compiler, program.optimize)
            if said:
                return (("cc",), said)
            plain = program.mode == "twin" and not atomic_twin
            subset = plain and not program.volatile and program.optimize != "-O0"
            found = self.compare(program, expected, plain, subset, only)
            if found:
                return found
        return None

    def compare(self, program, expected, plain, subset, only):
        counts = {}
        for way in only or self.ways(program):
            words = way + (("--data-races=allow",) if plain else ())
            result = self.checker.check(words)
            wrong = disagreement(expected, result, subset)
            if wrong:
                return (way, wrong)
            if result["complete"] and "--algorithm=" + result["algorithm"] in words and not expected.race:
                if result["algorithm"] not in STATEFUL + BASELINES:
                    counts[result["executions"]] = way
                if result["algorithm"] == "optimal" and result["blocked"]:
                    return (way, "%d blocked executions" % result["blocked"])
            if len(counts) > 1:
                return (FIRST[0], "executions: %s" % counts) if len(only or ()) > 1 else (tuple(counts.values()), "executions: %s" % counts)
        return None


def reduce(comparison, program, found):
    """The smallest program that differs in the same ways, and what it differs in."""
    ways = found[0] if isinstance(found[0][0], tuple) else (found[0],)
    only = None if ways[0] == ("cc",) else list(ways)
    start = time.time()

    def fails(candidate):
        if time.time() - start > 120:
            return False
        got = comparison.first_difference(candidate, only)
        return got not in (None, "left out") and got[1].split(":")[0] == found[1].split(":")[0]

    small = shrink(program, fails)
    return small, comparison.first_difference(small, only) or found


def run_seed(arguments):
    """(seed, mode, what differs or None or "left out")"""
    seed, options = arguments
    program = Program(seed, options.mode)
    with tempfile.TemporaryDirectory(prefix="mazurka-fuzz-") as directory:
        comparison = Comparison(Checker(options.mazurka, directory), options.full)
        found = comparison.first_difference(program)
        if found in (None, "left out"):
            return seed, program.mode, found
        if not options.no_shrink:
            program, found = reduce(comparison, program, found)
        name = os.path.join(options.keep, "fuzz-c-%d.c" % seed)
        with open(name, "w") as f:
            f.write("/* %s %s, %s: %s */\n" % (program.compiler, program.optimize, found[0], found[1]) + c_text(program))
        return seed, program.mode, "%s (%s, %s, %s %s) %s: %s" % (
            name, program.mode, " ".join(program.kinds), program.compiler, program.optimize, found[0], found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0, help="begin no program after so long")
    parser.add_argument("--mode", choices=("free", "racy", "twin"))
    parser.add_argument("--full", action="store_true", help="all algorithms and all ways to go back")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--keep", default="build", help="where programs go that differ")
    parser.add_argument("--mazurka", default=os.path.join(HERE, "..", "mazurka"))
    options = parser.parse_args()
    options.mazurka = os.path.abspath(options.mazurka)
    os.makedirs(options.keep, exist_ok=True)
    sys.setrecursionlimit(10000)
    start, ran, left_out, different = time.time(), 0, 0, 0
    end = options.seed + options.count
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for first in range(options.seed, end, CHUNK):
            if options.seconds and time.time() - start > options.seconds:
                break
            seeds = [(s, options) for s in range(first, min(first + CHUNK, end))]
            for seed, mode, found in pool.map(run_seed, seeds):
                ran += found != "left out"
                left_out += found == "left out"
                if found not in (None, "left out"):
                    different += 1
                    print("FAIL seed %d: %s" % (seed, found), flush=True)
    print("seeds %d to %d: %d programs compared, %d left out, %d different" % (
        options.seed, options.seed + ran + left_out - 1, ran, left_out, different))
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
