#!/usr/bin/env python3
"""Disturbed runs must end like undisturbed ones: the same verdict, findings and number of executions.

    tests/endure/run.py [--runs N] [--seed S] [--seconds T] [--ranks] [--verbose]

Each run draws a program, an algorithm and one of these disturbances, at random times:

    workers    some of its workers are killed
    whole      the command is killed, and --resume goes on from its last checkpoint, again and again
    signal     the same with SIGINT or SIGTERM: the command writes a checkpoint and ends
    both       workers are killed, then the command is killed, then --resume
    limits     limits of executions, memory and time end the search, one after the other, each time with --resume
    ranks      of an mpirun, ranks other than 0 and workers are killed
    cluster    all of an mpirun is killed, and another mpirun resumes, again and again

Prints a line for each difference, and figures at the end. Exit status 1 if there was a difference."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

os.environ["MAZURKA_MUST_REPLAY"] = "1"  # a finding that does not replay is a failure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAPERS = os.path.join(ROOT, "tests", "papers")

# flags, program. Some programs have several errors. The script measures the time of an undisturbed run (Run.span). The times
# of all disturbances are shares of it, so that they hit the search on fast and on slow machines.
CASES = [
    ("-DN=13", "lastzero.c"),
    ("-DN=15", "indexer.c"),
    ("-DN=24", "filesystem.c"),
    ("-DP=3 -DC=3", "bbuf.c"),
    ("-DN=11 --algorithm=source", "lastzero.c"),
    ("-DP=3 -DC=3 --algorithm=source", "bbuf.c"),
    ("-DN=8 --algorithm=dpor", "lastzero.c"),
    ("-DP=3 -DC=3 -DIF --keep-going", "bbuf.c"),
    ("-DP=4 -DC=2 -DSIZE=1 -DIF --keep-going", "bbuf.c"),
    ("-DP=3 -DC=3 -DSIZE=1 -DIF --keep-going --algorithm=source", "bbuf.c"),
    ("-DP=4 --algorithm=stateful", "state_buffer.c"),
    ("-DP=4 --algorithm=s-por", "state_buffer.c"),
    ("-DP=4 --algorithm=dl-s-por", "state_buffer.c"),
    ("-DP=4 --algorithm=sdpor", "state_buffer.c"),
]
# Larger programs for mpirun, which needs some tenths of a second itself.
RANK_CASES = [
    ("-DN=15", "lastzero.c"),
    ("-DN=16", "indexer.c"),
    ("-DP=4 -DC=3", "bbuf.c"),
    ("-DP=4 -DC=3 -DIF --keep-going", "bbuf.c"),
    ("-DN=12 --algorithm=source", "lastzero.c"),
]
PATIENCE = 600  # seconds for one run, however disturbed
MOST_RESUMES = 60
TOO_LITTLE = re.compile("what is left needs (--memory-limit=[0-9]+M) or more")
# The command, and the option to go on without a rank that has died. (Open MPI then ends with status 0, whatever the ranks'
# status is.)
MPIRUNS = [m for m in ((("mpirun.openmpi", "-q", "--oversubscribe"), "--enable-recovery"),
                       (("mpirun.mpich",), "-disable-auto-cleanup")) if shutil.which(m[0][0])]
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "MAZURKA_RANK_TIMEOUT": "1.5"}


class Run:
    def __init__(self, case, dir, rng, span=1.0):
        self.span = span  # seconds of an undisturbed run
        self.flags, self.program = case[0].split(), os.path.join(PAPERS, case[1])
        self.dir, self.rng = dir, rng
        self.json = os.path.join(dir, "result.json")
        self.checkpoint = os.path.join(dir, "checkpoint")
        self.temporary = tempfile.mkdtemp(dir=dir)
        self.kills = self.resumes = self.redundant = 0
        self.goes_on = False
        self.jobs = rng.choice([2, 2, 3, 4])

    def command(self, *more, prefix=()):
        return list(prefix) + [os.path.join(ROOT, "mazurka"), "check", "--strategy=exhaustive", "-q",
                               "--progress=never", "--color=never", "-j", str(self.jobs), "--json=" + self.json,
                               *self.flags, *more, self.program]

    def start(self, *more, prefix=()):
        if os.path.exists(self.json):
            os.unlink(self.json)
        out = open(os.path.join(self.dir, "out"), "w")
        return subprocess.Popen(self.command(*more, prefix=prefix), stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.STDOUT, cwd=self.dir, env=dict(os.environ, TMPDIR=self.temporary))

    def result(self, status):
        """The part of the result that must be the same."""
        try:
            with open(self.json) as f:
                d = json.load(f)
        except (OSError, ValueError):
            with open(os.path.join(self.dir, "out")) as f:
                return ("no result", status, f.read()[:500])
        self.redundant += d.get("redundant", 0)
        if d["verdict"] == "failed":
            with open(os.path.join(self.dir, "out")) as f:
                return ("failed", False, status, f.read()[:500])
        errors = sorted((e["kind"], os.path.basename(e["file"] or ""), e["line"] or 0) for e in d["errors"])
        if "states" in d and d.get("states"):  # a stateful search may repeat executions, but finds the same
            self.done = d["executions"]
            return (d["verdict"], d["complete"], status, 0, 0, tuple(errors))
        self.done = d["executions"]
        # Which executions are blocked is not fixed; which are complete is.
        return (d["verdict"], d["complete"], status, d["executions"], d["cut"], tuple(errors))

    def wait(self, process, seconds=PATIENCE):
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def children(self, pid, name):
        """The workers: children with the name of the target, so neither the compiler nor a process that has not called exec yet."""
        found = []
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                for child in f.read().split():
                    with open("/proc/%s/comm" % child) as c:
                        if c.read().startswith(name):
                            found.append(int(child))
        except OSError:
            pass
        return found

    def kill_some(self, process, often, pause):
        """Kills children one by one, `often` times or until the command has ended."""
        for _ in range(often):
            if self.wait(process, self.rng.uniform(0, pause)) is not None:
                return
            children = self.children(process.pid, "program-")
            if children:
                self.kill(self.rng.choice(children), signal.SIGKILL)

    def kill(self, pid, number):
        try:
            os.kill(pid, number)
            self.kills += 1
        except ProcessLookupError:
            pass

    def left_behind(self):
        """Temporary files that are left. A command that writes the report has removed all its own. A command that was killed
        while it compiled cannot: after a resume there may be some."""
        return [] if self.resumes else [name for name in os.listdir(self.temporary) if name.startswith("mazurka-")]

    # ---- what happens ----

    def undisturbed(self):
        return self.result(self.wait(self.start()))

    def workers(self):
        process = self.start()
        self.kill_some(process, self.rng.randint(1, 5), 0.5 * self.span)
        return self.result(self.wait(process))

    def resumed(self, signals, kills):
        saving = ["--checkpoint=" + self.checkpoint,
                  "--checkpoint-interval=%.3f" % (self.span * self.rng.choice([0.05, 0.1, 0.25, 0.7]))]
        for attempt in range(MOST_RESUMES):
            more = saving + (["--resume=" + self.checkpoint] if os.path.exists(self.checkpoint) else [])
            process = self.start(*more)
            if kills:
                self.kill_some(process, self.rng.randint(0, 3), 0.25 * self.span)
            status = self.wait(process, self.span * self.rng.uniform(0.05, 1.5) * (1 + attempt / 8))  # later attempts get more time
            if status is not None:
                return self.result(status)
            self.kill(process.pid, self.rng.choice(signals))
            status = self.wait(process)
            result = self.result(status) if status >= 0 else None
            if result and (result[1] or (result[0] == "failed" and "interrupted" not in result[3])):
                return result # the command had ended already, or something is wrong
            self.resumes += 1
        return self.result(self.wait(self.start(*self.resume())))

    def whole(self):
        return self.resumed([signal.SIGKILL], False)

    def signal(self):
        return self.resumed([signal.SIGINT, signal.SIGTERM], False)

    def both(self):
        return self.resumed([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM], True)

    def limited(self, limit):
        return self.result(self.wait(self.start("--checkpoint=" + self.checkpoint, limit, *self.resume())))

    def limits(self):
        done = 0
        for _ in range(self.rng.randint(2, 12)):
            limit = self.rng.choice(["--max-executions=%d" % (done + self.rng.choice([1, 7, 300, 4000])),
                                     "--memory-limit=%dK" % self.rng.choice([128, 512, 2048, 8192]),
                                     "--time-limit=%.3f" % (self.span * self.rng.uniform(0.03, 0.5))])
            self.jobs = self.rng.choice([1, 2, 3])
            result = self.limited(limit)
            needed = TOO_LITTLE.search(result[3]) if result[0] == "failed" else None
            if needed: # the search so far had more memory: continue with as much as it needs
                result = self.limited(needed.group(1))
            if len(result) < 5 or result[1]:
                return result
            done = self.done
            self.resumes += 1
        return self.result(self.wait(self.start(*self.resume())))

    def mpirun(self, go_on):
        """The words of a random mpirun that is installed. go_on: with the option to go on without a rank that has died."""
        self.jobs = self.rng.choice([1, 1, 2])
        os.environ.update(MPI_ENVIRONMENT)
        os.environ.pop("MAZURKA_FAR", None)
        if self.rng.random() < 0.5:
            os.environ["MAZURKA_FAR"] = "1" # as if ranks were on different hosts
        self.goes_on = go_on
        words, option = self.rng.choice(MPIRUNS)
        return words + ((option,) if go_on else ()) + ("-n", "3")

    def descendants(self, pid):
        found = [pid]
        for p in found:
            try:
                with open("/proc/%d/task/%d/children" % (p, p)) as f:
                    found += [int(child) for child in f.read().split()]
            except OSError:
                pass
        return found[1:]

    def agents_and_workers(self, pid):
        """The agents of the ranks other than 0, and all workers. An agent is a child of another mazurka process."""
        def exe(p):
            try:
                return os.readlink("/proc/%s/exe" % p)
            except OSError:
                return None

        def parent(p):
            try:
                with open("/proc/%d/stat" % p) as f:
                    return f.read().rsplit(")", 1)[1].split()[1]
            except OSError:
                return None

        def is_worker(p):
            try:
                with open("/proc/%d/environ" % p, "rb") as f:
                    return exe(p) != own and b"MAZURKA_CHANNEL=" in f.read()
            except OSError:
                return False

        own = os.path.join(ROOT, "mazurka")
        all = self.descendants(pid)
        agents = [p for p in all if exe(p) == own and exe(parent(p)) == own]
        return agents, [p for p in all if is_worker(p)]

    def ranks(self):
        """Ranks other than 0 are killed, and workers anywhere."""
        process = self.start(prefix=self.mpirun(True))
        for _ in range(self.rng.randint(3, 8)):
            if self.wait(process, self.span * self.rng.uniform(0.07, 0.25)) is not None:
                break
            agents, workers = self.agents_and_workers(process.pid)
            if not workers:
                continue  # before all ranks have come, MPI cannot go on without one
            victims = agents if self.rng.random() < 0.5 else workers
            if victims:
                self.kill(self.rng.choice(victims), signal.SIGKILL)
        return self.result_of_mpirun(process)

    def cluster(self):
        """All of an mpirun is killed, and another one goes on."""
        for _ in range(self.rng.randint(1, 4)):
            more = ["--checkpoint=" + self.checkpoint, "--checkpoint-interval=%.3f" % (0.07 * self.span)]
            process = self.start(*more, *self.resume(), prefix=self.mpirun(False))
            if self.wait(process, self.span * self.rng.uniform(0.2, 0.8)) is not None:
                return self.result_of_mpirun(process)
            for p in self.descendants(process.pid) + [process.pid]:
                self.kill(p, signal.SIGKILL)
            self.wait(process)
            self.resumes += 1
        return self.result_of_mpirun(self.start(*self.resume(), prefix=self.mpirun(False)))

    def resume(self):
        return ["--resume=" + self.checkpoint] if os.path.exists(self.checkpoint) else []

    def result_of_mpirun(self, process):
        """If mpirun goes on without a rank, its exit status means nothing: only the result counts."""
        status = self.wait(process)
        result = self.result(status)
        if self.goes_on and status is not None and len(result) > 4:
            result = result[:2] + ({"verified": 0, "error": 1}.get(result[0], 2),) + result[3:]
        return result


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0, help="stop after so long")
    p.add_argument("--ranks", action="store_true", help="kill ranks of an mpirun instead")
    p.add_argument("--verbose", action="store_true")
    return p.parse_args()


def main():
    a = parse()
    began, expected, spans, totals = time.time(), {}, {}, {}
    different = runs = kills = resumes = redundant = 0
    ways, cases = ["workers", "whole", "signal", "both", "limits"], CASES
    if a.ranks and MPIRUNS:
        ways, cases = ["ranks", "cluster"], RANK_CASES
    for i in range(a.runs):
        if a.seconds and time.time() - began > a.seconds:
            break
        rng = random.Random(a.seed * 1000003 + i)
        case, way = cases[(a.seed + i) % len(cases)], ways[(i + i // len(cases)) % len(ways)]
        with tempfile.TemporaryDirectory(prefix="mazurka-endure-", ignore_cleanup_errors=True) as dir:
            if case not in expected:
                Run(case, dir, rng).undisturbed()  # the second one finds the program in the cache
                start = time.time()
                expected[case] = Run(case, dir, rng).undisturbed()
                spans[case] = max(time.time() - start, 0.02)
                if expected[case][:2] not in (("verified", True), ("error", True)):
                    sys.exit("%s %s: %r" % (case[1], case[0], expected[case]))
            run = Run(case, dir, rng, spans[case])
            got, left = getattr(run, way)(), run.left_behind()
        runs += 1
        kills += run.kills
        resumes += run.resumes
        redundant += run.redundant
        totals[way] = totals.get(way, 0) + 1
        same = got == expected[case] and not left
        if not same:
            different += 1
        if a.verbose or not same:
            print("%s run %d: %s %s, %s: %d kills, %d resumes%s" % (
                "same" if same else "DIFFERENT", i, case[1], case[0], way, run.kills, run.resumes,
                "" if same else "\n  expected %r\n  got      %r\n  left behind: %r" % (expected[case], got, left)), flush=True)
    print("%d runs disturbed (%s): %d kills, %d resumes, %d executions explored again, %d different, %.0f s" % (
        runs, ", ".join("%s %d" % w for w in sorted(totals.items())), kills, resumes, redundant, different,
        time.time() - began))
    return 1 if different else 0


sys.exit(main())
