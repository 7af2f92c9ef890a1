#!/usr/bin/env python3
"""Shows how much of the source programs built with --coverage have executed.

    tools/coverage.py [--floor PERCENT] FOLDER...      folders of object files with their .gcda files

Prints lines and branches per source file, least covered first, then the sums. The sum counts each line of a file once,
however many objects contain it. Exit status 1 if fewer than PERCENT of the lines were executed. Needs gcov (gcc 9 or newer)."""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys


def read(gcda):
    out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", gcda], capture_output=True, check=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--floor", type=float, default=0)
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    lines = collections.defaultdict(collections.Counter)  # file -> line -> count
    branches = collections.defaultdict(collections.Counter)  # file -> (line, number) -> count
    for folder in options.folders:
        for gcda in sorted(glob.glob(os.path.join(folder, "**", "*.gcda"), recursive=True)):
            for source in read(gcda)["files"]:
                name = os.path.relpath(source["file"])
                if not name.startswith(("src/engine", "src/trace")):
                    continue
                for line in source["lines"]:
                    lines[name][line["line_number"]] += line["count"]
                    for i, branch in enumerate(line["branches"]):
                        branches[name][line["line_number"], i] += branch["count"]
    if not lines:
        print("FAIL  coverage: no object was executed")
        return 1

    def row(name, of_lines, of_branches):
        done, taken = sum(c > 0 for c in of_lines), sum(c > 0 for c in of_branches)
        share = 100.0 * done / len(of_lines)
        print("      %-45s %5.1f %% of %4d lines, %5.1f %% of %4d branches" % (
            name, share, len(of_lines), 100.0 * taken / max(1, len(of_branches)), len(of_branches)))
        return share

    def executed(name):
        return sum(c > 0 for c in lines[name].values()) / len(lines[name])

    for name in sorted(lines, key=executed):
        row(name, lines[name].values(), branches[name].values())
    share = row("all", [c for f in lines.values() for c in f.values()], [c for f in branches.values() for c in f.values()])
    good = share >= options.floor
    print("%-5s coverage of the engine: %.1f %% of its lines" % ("ok" if good else "FAIL", share))
    return not good


if __name__ == "__main__":
    sys.exit(main())
