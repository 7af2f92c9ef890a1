#!/usr/bin/env python3
"""The matrix: every expectation of the test programs, under both compilers, -O0 and -O2, all algorithms, all --backtrack modes.

    tests/matrix.py [--all] [--cells N] [--seed N] [--jobs N] [--slow] [--share I/N] [FILE...]

A cell is one expectation (see expect.sh) with a compiler, an optimization, an algorithm and a --backtrack mode. Without --all a
random sample of N cells is run, drawn from `seed` (default: the time; it is printed, and the environment variable
MATRIX_SEED=N runs the same sample again). An expectation leaves these open:

    compiler, -O    unless its flags or the keys compiler=gcc, opt=0 say otherwise
    algorithm       only `all` (not `sleep`) and `every`; the key search=stateless leaves out the stateful ones
    --backtrack     unless its flags or the key backtrack=MODE,... say otherwise

Numbers of states (states=, transitions=, revisited=) are those of gcc at the given -O with the default --backtrack: what
compilers leave in frames, and what each mode compares, tells more states apart or fewer. In other cells only the verdict counts.
Each such key needs its reason in the comment at the head of the program. Prints failures, then "N passed, M failed"."""
import argparse
import concurrent.futures
import glob
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINE = re.compile(r"^ *(?:\*|//|/\*) (EXPECT|SLOW|OPTIONS) +(.*?) *(?:\*/ *)?$")
STATELESS = ("optimal", "source", "dpor", "sleep")
STATEFUL = ("stateful", "s-por", "de-s-por", "dl-s-por", "sdpor")
BASELINES = ("sdpor-naive", "sdpor-initial", "static-stateful")  # stateful ones, only where an expectation names them
NAMED = STATELESS + STATEFUL + BASELINES + ("none", "classic", "static", "portfolio")
BACKTRACK = ("auto", "undo", "checkpoint", "rerun")
STATEFUL_BACKTRACK = ("auto", "checkpoint")  # stateful algorithms cannot run again from the start
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
PATTERNS = ("tests/programs/*.c", "tests/programs/*.cpp", "tests/classics/*.c", "tests/papers/*.c")


class Cell:
    def __init__(self, path, expectation, algorithm, compiler, optimize, backtrack, slow):
        self.path, self.expectation, self.algorithm, self.compiler = path, expectation, algorithm, compiler
        self.optimize, self.backtrack, self.slow = optimize, backtrack, slow

    def run(self):
        flags = [self.optimize] if self.optimize else []
        flags += ["--backtrack=" + self.backtrack] if self.backtrack != "auto" else []
        environment = dict(os.environ, MZ_TEST_FLAGS=" ".join(flags), MAZURKA_CC=self.compiler,
                           MAZURKA_CXX={"gcc": "g++", "clang": "clang++"}[self.compiler],
                           MZ_TEST_DIR=os.path.join("build", "test", "matrix-%d" % threading.get_native_id()),
                           MZ_TEST_TIMEOUT="900" if self.slow else "180")
        if self.algorithm in STATEFUL:
            environment["MZ_TEST_ALGORITHMS"] = self.algorithm
        else:
            environment.pop("MZ_TEST_ALGORITHMS", None)
        if self.compiler != "gcc" or self.optimize or self.backtrack != "auto":
            environment["MZ_TEST_NO_STATES"] = "1"
        words = " ".join(self.algorithm if w in ("all", "every") else w for w in self.expectation.split())
        start = time.time()
        out = subprocess.run(["sh", "tests/expect.sh", self.path, words], capture_output=True, text=True, env=environment,
                             stdin=subprocess.DEVNULL)
        return out.returncode == 0, "%s: %s %s" % (self.compiler, " ".join(flags), out.stdout.strip()), time.time() - start


def keys_of(words):
    return dict(w.split("=", 1) for w in words if re.match(r"(compiler|opt|search|backtrack)=", w))


def algorithms_of(words, keys):
    named = [w for w in words if w in NAMED]
    if named:
        return named[:1]
    stateless = STATELESS if "every" in words else STATELESS[:3]
    return stateless if keys.get("search") == "stateless" or "--heap=reuse" in words else stateless + STATEFUL


def cells_of(path, kind, expectation, options):
    words = expectation.split()
    flags, keys = [w for w in options + words if w.startswith("-")], keys_of(words)
    compilers = keys["compiler"].split(",") if "compiler" in keys else COMPILERS
    optimize = ["-O" + o for o in keys["opt"].split(",")] if "opt" in keys else ["-O0", "-O2"]
    if any(f.startswith("-O") for f in flags):
        optimize = [""]
    for algorithm in algorithms_of(words, keys):
        backtrack = STATEFUL_BACKTRACK if algorithm in STATEFUL + BASELINES + ("portfolio",) else BACKTRACK
        if "backtrack" in keys:
            backtrack = [b for b in backtrack if b in keys["backtrack"].split(",")]
        if any(f.startswith("--backtrack") for f in flags):
            backtrack = ["auto"]
        for compiler, o, b in itertools.product(compilers, optimize, backtrack):
            yield Cell(path, expectation, algorithm, compiler, o, b, kind == "SLOW")


def all_cells(paths, slow):
    for path in paths:
        lines = []
        with open(path) as f:
            lines = [m.groups() for m in map(LINE.match, f) if m]
        options = " ".join(text for kind, text in lines if kind == "OPTIONS").split()
        for kind, text in lines:
            if kind == "EXPECT" or (slow and kind == "SLOW"):
                yield from cells_of(path, kind, text, options)


def sample(cells, count, seed):
    """Cells of as many different expectations as possible: a random cell of each, in random order, until there are enough."""
    r = random.Random(seed)
    of = {}
    for c in cells:
        of.setdefault((c.path, c.expectation), []).append(c)
    groups = [r.sample(g, len(g)) for _, g in sorted(of.items())]
    chosen = []
    while groups and len(chosen) < count:
        r.shuffle(groups)
        chosen += [g.pop() for g in groups]
        groups = [g for g in groups if g]
    return chosen[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cells", type=int, default=400)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MATRIX_SEED") or time.time()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--slow", action="store_true", help="also the expectations that are marked SLOW")
    parser.add_argument("--share", default="1/1", help="I/N: the I-th of N equal parts of all cells")
    parser.add_argument("--times", action="store_true", help="the slowest cells, in the end")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    os.chdir(ROOT)
    paths = options.files or sorted(p for pattern in PATTERNS for p in glob.glob(pattern))
    cells = list(all_cells(paths, options.slow))
    if options.all:
        part, parts = map(int, options.share.split("/"))
        chosen = random.Random(1).sample(range(len(cells)), len(cells))[part - 1::parts]
        chosen = [cells[i] for i in sorted(chosen)]  # cells that share a compiled program run one after the other
    else:
        chosen = sample(cells, options.cells, options.seed)
        print("%d of %d cells, MATRIX_SEED=%d" % (len(chosen), len(cells), options.seed), flush=True)
    passed, late, times = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for good, text, seconds in pool.map(Cell.run, chosen):
            passed += good
            times.append((seconds, text))
            if not good and "got a time-out" in text:  # a slow machine is not a failure
                late += 1
                print("did not end in time: " + text.replace("FAIL ", ""), flush=True)
            elif not good:
                print(text if "FAIL" in text else "FAIL " + text, flush=True)
    for seconds, text in sorted(times, reverse=True)[:20 if options.times else 0]:
        print("%.1f s %s" % (seconds, text))
    failed = len(chosen) - passed - late
    if late > max(5, len(chosen) // 50):
        print("FAIL %d cells did not end in time: too many" % late)
        failed += 1
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
