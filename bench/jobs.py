#!/usr/bin/env python3
"""Measures the speed-up of `-j 2` and of two MPI ranks on the benchmarks of the papers, and what the machine itself gives.

    python3 bench/jobs.py [--jobs N] [--rounds N] [--only PART_OF_NAME] [--json FILE]

A shared machine is not equally fast all the time, and two of its processors may do less than twice the work of one. So all
kinds of runs take turns. Each round has these runs:

    before      one search with one worker
    at once     two independent searches at the same time: what the machine gives
    -j 2        and two ranks of each MPI implementation that is installed
    after       one search with one worker; the speed-ups of this round are relative to it

The script prints three lines for each program:

    the medians over all rounds
    "all processors": the medians over the rounds in which the machine had two processors for us, that is, in which
                      `before` and `at once` give at least 1.9; the measured runs do not decide which rounds these are
    "the fastest":    the fastest run of each kind, relative to the fastest `after`

"processor" is the processor time of all processes divided by that of one search. "idle" is the share of time in which workers
waited for a task.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from statistics import median

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MAZURKA = os.environ.get("MAZURKA", os.path.join(ROOT, "mazurka"))
PROGRAMS = [("filesystem", "-DN=26", 60), ("indexer", "-DN=16", 30), ("lastzero", "-DN=15", 20), ("bbuf", "-DFIFO", 5)]
MPIS = {"mpich": ["mpirun.mpich"], "openmpi": ["mpirun.openmpi", "-q", "--oversubscribe"]}
ENOUGH = 0.95  # of all processors


class Run:
    """One search. It runs in the background until result() waits for it."""

    def __init__(self, directory, how, jobs, program, flag):
        handle, self.report = tempfile.mkstemp(dir=directory, suffix=".json")
        os.close(handle)
        command = how + [MAZURKA, "check", "--strategy=exhaustive", "-q", "--progress=never", "--json=" + self.report]
        if not how:
            command.append("--jobs=%d" % jobs)
        command += [flag, os.path.join(ROOT, "tests", "papers", program + ".c")]
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)

    def result(self):
        error = self.process.communicate()[1]
        if self.process.returncode != 0:
            sys.exit("bench: %s: %s" % (" ".join(self.process.args), error.decode().strip()))
        with open(self.report) as f:
            return json.load(f)


def one_round(directory, program, flag, jobs, mpis):
    alone = lambda: Run(directory, [], 1, program, flag)
    row = {"before": alone().result()}
    together = [alone() for _ in range(jobs)]
    row["at once"] = max((r.result() for r in together), key=lambda r: r["seconds"])
    row["jobs"] = Run(directory, [], jobs, program, flag).result()
    for mpi in mpis:
        row[mpi] = Run(directory, MPIS[mpi] + ["-n", str(jobs)], jobs, program, flag).result()
    row["after"] = alone().result()
    counts = {r["executions"] for r in row.values()}
    if len(counts) != 1:
        sys.exit("bench: %s: the runs have different numbers of executions: %s" % (program, sorted(counts)))
    return row


def speedup(row, way):
    return row["after"]["seconds"] / row[way]["seconds"]


def machine(row, jobs):
    return jobs * row["before"]["seconds"] / row["at once"]["seconds"]


def line(name, rows, jobs, mpis):
    text = "%-18s %6d %9.3f %8.2f %8.2f" % (
        name, len(rows), median(r["after"]["seconds"] for r in rows), median(machine(r, jobs) for r in rows),
        median(speedup(r, "jobs") for r in rows))
    return text + "".join(" %8.2f" % median(speedup(r, m) for r in rows) for m in mpis)


def fastest(rows, jobs, mpis):
    best = lambda way: min(r[way]["seconds"] for r in rows)
    text = "%-18s %6d %9.3f %8.2f %8.2f" % ("  the fastest", len(rows), best("after"), jobs * best("before") / best("at once"),
                                             best("after") / best("jobs"))
    return text + "".join(" %8.2f" % (best("after") / best(m)) for m in mpis)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="rounds of each program (default: 60, 30, 20 and 5)")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", help="write the figures of all rounds to this file")
    options = parser.parse_args()
    mpis = [m for m in MPIS if shutil.which(MPIS[m][0]) and
            os.path.exists(os.path.join(ROOT, "build", "libmazurka-%s.so" % m))]
    everything = {}
    print("%-18s %6s %9s %8s %8s" % ("", "rounds", "-j 1 s", "at once", "-j %d" % options.jobs) +
          "".join(" %8s" % m for m in mpis) + "   processor idle tasks redundant")
    with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
        for program, flag, usual in PROGRAMS:
            if options.only not in program:
                continue
            rows = [one_round(directory, program, flag, options.jobs, mpis) for _ in range(options.rounds or usual)]
            with_all = [r for r in rows if machine(r, options.jobs) >= ENOUGH * options.jobs]
            shared = [r["jobs"] for r in rows]
            print(line("%s %s" % (program, flag), rows, options.jobs, mpis) + "   %9.2f %3.1f%% %5d %9d" % (
                median(r["jobs"]["processor_seconds"] / r["after"]["processor_seconds"] for r in rows),
                100 * median(s["sharing"]["idle"] for s in shared), median(s["tasks"] for s in shared),
                max(s["redundant"] for s in shared)), flush=True)
            if with_all:
                print(line("  all processors", with_all, options.jobs, mpis), flush=True)
            print(fastest(rows, options.jobs, mpis), flush=True)
            everything[program] = [{way: [r["seconds"], r["processor_seconds"]] for way, r in row.items()}
                                   for row in rows]
    if options.json:
        with open(options.json, "w") as f:
            json.dump(everything, f, indent=1)


if __name__ == "__main__":
    main()
