"""Runs one experiment: `mazurka check`, mz-simulate on a recorded tree, or another tool on the same program.

An Outcome is the result of one experiment. Only outcomes that are measurements (finished, limited) are kept, by class Kept,
in a file with one JSON object a line. The key of a line has all that the measurement depends on: program, flags, arguments,
options, and the bytes of mazurka itself. So a run that is interrupted loses at most the row that it was measuring, and no row is
measured twice with the same build. main.py is the only caller.
"""
import dataclasses
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

FINISHED = "finished"        # the search was complete
LIMITED = "limited"          # a limit ended it: figures are lower bounds
UNAVAILABLE = "unavailable"  # refused by mazurka, or a part of the checkout is missing: `text` says what
FAILED = "failed"            # it ran and something went wrong: `text` says what
NOT_RUN = "not run"          # not asked for, or there is nothing to run: `text` says why

GRACE = 120     # seconds that a search may take beyond its time limit: compiling, stopping
SHORT = 1.0     # seconds; a shorter search is run REPEAT times, and the fastest run counts
REPEAT = 3
COUNTING = 5    # times the limit, for the sizes of sets
ROUNDS = 7      # kind overhead: searches of each kind, in turn
COUNTS = ("executions", "blocked", "cut", "transitions", "states", "revisited")


@dataclasses.dataclass
class Limits:
    seconds: float
    transitions: int = 0  # 0: none


@dataclasses.dataclass
class Outcome:
    status: str
    text: str = ""
    figures: dict = dataclasses.field(default_factory=dict)
    points: list = dataclasses.field(default_factory=list)  # speedup: [workers, speed-up]
    kept: bool = False                                      # it was measured by an earlier run
    facts: dict = dataclasses.field(default_factory=dict)   # of a kept one: limit, when, commit, load

    def measured(self):
        return self.status in (FINISHED, LIMITED)


def digest(*parts):
    h = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        h.update(b"%d:" % len(data))
        h.update(data)
    return h.hexdigest()


def digest_of_file(path):
    """The digest of the bytes of a file, or of all files in a directory. "" if it is neither."""
    if os.path.isdir(path):
        return digest(*(digest(os.path.relpath(name, path), digest_of_file(name))
                        for name in sorted(glob.glob(os.path.join(path, "**"), recursive=True)) if os.path.isfile(name)))
    try:
        with open(path, "rb") as file:
            return digest(file.read())
    except OSError:
        return ""


class Kept:
    """The measurements of earlier runs. add() writes a line at once; a line that is damaged or half written is ignored."""

    def __init__(self, path, commit=""):
        self.path, self.lines, self.commit = path, {}, commit
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    self.read(line)
        except FileNotFoundError:
            pass

    def read(self, line):
        try:
            entry = json.loads(line)
            key, limit = entry["key"], float(entry["limit"])
            outcome = Outcome(entry["status"], entry["text"], entry["figures"], entry["points"], kept=True,
                              facts={name: entry.get(name) for name in ("limit", "when", "commit", "load")})
        except (ValueError, KeyError, TypeError):
            return
        if outcome.measured() and isinstance(outcome.figures, dict):
            self.remember(key, limit, outcome)

    def remember(self, key, limit, outcome):
        """Keeps the newest measurement. A search that a limit ended does not replace a finished one or one with a higher limit."""
        before, known = self.lines.get(key, (0, None))
        if outcome.status == FINISHED or not known or (known.status == LIMITED and limit >= before):
            self.lines[key] = (limit, outcome)

    def find(self, key, limits):
        """The kept measurement, or None. A search that ended at a lower limit than this one does not count."""
        limit, outcome = self.lines.get(key, (0, None))
        if outcome and (outcome.status == FINISHED or limit >= limits.seconds):
            return outcome
        return None

    def any(self, key):
        return self.lines.get(key, (0, None))[1]

    def add(self, key, name, limits, outcome):
        entry = {"key": key, "name": name, "limit": limits.seconds, "status": outcome.status, "text": outcome.text,
                 "figures": outcome.figures, "points": outcome.points, "when": time.strftime("%Y-%m-%d %H:%M"),
                 "commit": self.commit, "load": round(os.getloadavg()[0], 1)}
        self.remember(key, limits.seconds, outcome)
        with open(self.path, "a+b") as file:
            # An earlier run may have been killed while it wrote its last line.
            if file.seek(0, os.SEEK_END) > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def first_line(text):
    """The message of a program: one line, without the program's name. If mazurka printed messages, its compiler's do not count."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line[9:] for line in lines if re.match(r"mazurka: (?!note: )", line)]
    if own and own[0].endswith("above"):  # the compiler's messages
        own[0] = "; ".join(own[:1] + [line for line in lines if re.search(r"error|undefined", line)][:1])
    return (own + lines + ["no message"])[0]


class Runner:
    def __init__(self, root, mazurka, always=()):
        self.root, self.mazurka = root, mazurka
        self.simulator = os.path.join(root, "build", "mz-simulate")
        self.trees = os.path.join(root, "build", "trees")
        libraries = sorted(glob.glob(os.path.join(os.path.dirname(mazurka), "build", "*.so")))
        self.build = digest(*map(digest_of_file, [mazurka] + libraries))
        self.environment = {k: v for k, v in os.environ.items() if k != "MAZURKA_OPTIONS"}
        self.always = self.known(always)

    def known(self, options):
        """The options that this build of mazurka knows."""
        if not options:
            return []
        shown = subprocess.run([self.mazurka, "help", "check"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=self.environment, text=True, check=False).stdout
        return [o for o in options if re.search(r"^ .*%s\b" % re.escape(o.split("=")[0]), shown, re.MULTILINE)]

    def version(self):
        return subprocess.run([self.mazurka, "--version"], stdout=subprocess.PIPE, env=self.environment, text=True,
                              check=False).stdout.strip()

    def commit(self):
        """Of the checkout; "" if it is none."""
        try:
            return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=self.root, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
        except OSError:
            return ""

    def key(self, row):
        inputs = [digest_of_file(os.path.join(self.root, word)) for word in row.program[:1] + row.arguments]
        simulator = digest_of_file(self.simulator) if row.simulate else ""
        more = ["--versus"] + row.versus if row.versus else ["--count-sets"] * row.sets
        return digest("check", self.build, simulator, *inputs, *row.program, "--", *row.arguments, "--",
                      *sorted(row.options + self.always), "--", *row.simulate, *more)

    # ---- mazurka check ----

    def measure(self, row, limits):
        if not os.path.exists(os.path.join(self.root, row.program[0])):
            built = row.program[0].startswith("build/packaged/")
            return Outcome(UNAVAILABLE, row.program[0] + (
                " is not built: `sh bench/packaged.sh` does that, from the source that Debian packages" if built else " is not there"))
        if row.simulate:
            return self.speedup(row, limits)
        if row.versus:
            return self.overhead(row, limits)
        outcome = self.fastest(row, limits)
        if row.sets and outcome.status == FINISHED:
            # Counting takes longer than the search. A row that finished must not lack its sizes: it is not measured again.
            counted = self.check(row, Limits(COUNTING * limits.seconds), ["--count-sets"])
            outcome.figures.update({key: counted.figures[key] for key in ("nodes", "mean") if key in counted.figures})
            if counted.status != FINISHED:
                return Outcome(FAILED, "--count-sets: " + counted.text)
        return outcome

    def fastest(self, row, limits):
        outcome = self.check(row, limits)
        for _ in range(1, 1 if row.curve else REPEAT):  # the curves are about transitions, not about time
            if outcome.status != FINISHED or outcome.figures["seconds"] >= SHORT:
                break
            again = self.check(row, limits)
            if again.status == FINISHED and again.figures["executions"] != outcome.figures["executions"]:
                return Outcome(FAILED, "two runs have different numbers of executions: %d and %d" % (
                    outcome.figures["executions"], again.figures["executions"]))
            if again.status == FINISHED and again.figures["seconds"] < outcome.figures["seconds"]:
                outcome = again
        return outcome

    def overhead(self, row, limits):
        """Two searches in turn, so that other work on the machine disturbs both alike; the fastest run of each counts."""
        second = dataclasses.replace(row, options=row.versus)
        best, ended = {}, time.monotonic() + limits.seconds
        for n in range(ROUNDS):
            if n and time.monotonic() > ended:
                break
            for name, which in (("source", row), ("optimal", second)):
                outcome = self.check(which, limits)
                if outcome.status != FINISHED:
                    return outcome if outcome.status != LIMITED else Outcome(NOT_RUN, "longer than %g s" % limits.seconds)
                best[name] = min(best.get(name, outcome.figures["processor"]), outcome.figures["processor"])
        best["overhead"] = 100 * (best["optimal"] / best["source"] - 1)
        return Outcome(FINISHED, "", best)

    def check(self, row, limits, more=()):
        with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
            report = os.path.join(directory, "report.json")
            command = [self.mazurka, "check", "--strategy=exhaustive", "--quiet", "--progress=json", "--json=" + report,
                       "--trace=" + os.path.join(directory, "trace"), "--time-limit=%g" % limits.seconds]
            command += row.options + self.always + list(more) + row.program
            command += ["--"] + row.arguments if row.arguments else []
            status, said, stopped = self.run(command, limits)
            try:
                with open(report, encoding="utf-8") as file:
                    result = json.load(file)
            except (OSError, ValueError):
                result = None
        return outcome_of(result, status, said, stopped)

    def run(self, command, limits):
        """Returns the exit status, the text on standard error, and whether one of our limits stopped the process."""
        process = subprocess.Popen(command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        stopped, said = [], []
        killer = threading.Timer(limits.seconds + GRACE, process.kill)
        killer.daemon = True
        killer.start()
        try:
            for line in process.stderr:
                if not line.startswith("{"):
                    said.append(line)
                elif limits.transitions and not stopped and transitions_in(line) >= limits.transitions:
                    stopped.append(True)
                    process.send_signal(signal.SIGINT)
            return process.wait(), "".join(said), bool(stopped)
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        finally:
            killer.cancel()
            process.stderr.close()

    # ---- recorded trees ----

    def tree(self, row, limits):
        """Records the tree of a search, or takes the one that this build recorded. Returns (file, outcome if it failed)."""
        name = digest(digest_of_file(os.path.join(self.root, row.program[0])), *row.program, *row.options, *self.always)
        path = os.path.join(self.trees, "bench-%s-%s.tree" % (self.build[:16], name[:16]))
        if os.path.exists(path):
            return path, None
        os.makedirs(self.trees, exist_ok=True)
        for old in glob.glob(os.path.join(self.trees, "bench-*.tree*")):
            if not os.path.basename(old).startswith("bench-%s-" % self.build[:16]):
                os.remove(old)
        part = path + ".part"
        outcome = self.check(row, limits, ["--record-tree=" + part])
        if outcome.status == LIMITED:
            outcome = Outcome(NOT_RUN, "the tree cannot be recorded within %g s" % limits.seconds)
        elif outcome.status == FINISHED and not os.path.exists(part):
            outcome = Outcome(FAILED, "no tree was recorded")
        if outcome.status == FINISHED:
            os.replace(part, path)
            return path, None
        if os.path.exists(part):
            os.remove(part)
        return None, outcome

    def speedup(self, row, limits):
        if not os.path.exists(self.simulator):
            return Outcome(UNAVAILABLE, "build/mz-simulate is not there: make build/mz-simulate")
        tree, failed = self.tree(row, limits)
        if failed:
            return failed
        with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
            tsv = os.path.join(directory, "tsv")
            started = time.monotonic()
            try:
                done = subprocess.run([self.simulator] + row.simulate + ["--tsv=" + tsv, "--name=row", tree],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True, timeout=limits.seconds + GRACE, check=False)
            except subprocess.TimeoutExpired:
                return Outcome(NOT_RUN, "the simulation takes longer than %g s" % (limits.seconds + GRACE))
            if done.returncode != 0:
                return Outcome(FAILED, "mz-simulate: " + first_line(done.stderr))
            with open(tsv, encoding="utf-8") as file:
                lines = [line.split("\t") for line in file if line.startswith("row\t")]
        points = [[int(cells[2]), float(cells[3])] for cells in lines]
        return Outcome(FINISHED, points=points, figures={"speedup": points[-1][1],
                                                         "simulation_seconds": time.monotonic() - started})


def transitions_in(line):
    try:
        return json.loads(line).get("transitions", 0)
    except (ValueError, AttributeError):
        return 0


def outcome_of(result, status, said, stopped):
    """The outcome of a `mazurka check` with this report, exit status and output."""
    if status == 2 or result is None:
        words = first_line(said)
        if status == 2:
            return Outcome(UNAVAILABLE, words)
        return Outcome(FAILED, "exit status %d: %s" % (status, words))
    figures = {key: result.get(key, 0) for key in COUNTS}
    figures["traces"] = figures["runs"] = figures["executions"] + figures["blocked"] + figures["cut"]
    figures["seconds"] = result["seconds"]
    figures["memory"] = result["peak_memory_bytes"] / 1e6
    figures["processor"] = result["processor_seconds"]
    if "largest_set" in result:
        figures["nodes"], figures["mean"] = result["largest_set"], result["mean_set"]
    if status == 1:
        errors = result.get("errors") or [{}]
        return Outcome(FAILED, "mazurka found an error: %s" % errors[0].get("message", "?"))
    reason = result.get("reason") or ""
    if stopped:
        return Outcome(LIMITED, "the limit of transitions was reached", figures)
    if "time limit" in reason:
        return Outcome(LIMITED, reason, figures)
    if status == 0:
        return Outcome(FINISHED, "", figures)
    if result.get("complete"):  # the verdict is incomplete, though no limit was reached: classic with sleep sets
        return Outcome(FINISHED, reason, figures)
    return Outcome(FAILED, reason or "exit status %d" % status)


# ---- other tools ----

def nidhugg_command(tool, row, algorithm):
    return [tool] + row.program[1:] + ["--", "--sc", "--" + algorithm, row.program[0]]


def genmc_command(tool, row, _):
    return [tool, "--sc", "--"] + row.program[1:] + row.program[:1]


@dataclasses.dataclass
class Peer:
    name: str
    tool: str           # the program, looked for in PATH
    algorithms: tuple   # rows with these values of --algorithm are compared
    command: object
    executions: str
    blocked: str


PEERS = (
    Peer("Nidhugg", "nidhuggc", ("source", "optimal"), nidhugg_command, r"Trace count: (\d+)", r"also (\d+) sleepset"),
    Peer("GenMC", "genmc", ("optimal",), genmc_command, r"complete executions explored: (\d+)",
         r"blocked executions(?: seen)?: (\d+)"),
)


def algorithm_of(row):
    for option in row.options:
        if option.startswith("--algorithm="):
            return option.partition("=")[2]
    return "optimal"


def peers_of(row):
    """The installed tools that can be compared with this row: the same relation, the same algorithm, no other options."""
    others = [option for option in row.options if not re.match(r"--(algorithm|order)=", option)]
    if row.simulate or row.versus or row.arguments or row.curve or others or algorithm_of(row) not in row.options[0]:
        return []
    return [peer for peer in PEERS if algorithm_of(row) in peer.algorithms and shutil.which(peer.tool)]


def peer_key(runner, peer, row):
    return digest("peer", peer.name, digest_of_file(shutil.which(peer.tool)),
                  digest_of_file(os.path.join(runner.root, row.program[0])), *row.program, algorithm_of(row))


def measure_peer(runner, peer, row, limits):
    command = peer.command(shutil.which(peer.tool), row, algorithm_of(row))
    with tempfile.TemporaryFile(prefix="mazurka-bench-") as output:
        started = time.monotonic()
        # A group of its own: nidhuggc is a script, and killing it would not end the search that it has started.
        process = subprocess.Popen(command, cwd=runner.root, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        killer = threading.Timer(limits.seconds, os.killpg, (process.pid, signal.SIGKILL))
        killer.daemon = True
        killer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            killer.cancel()
        process.returncode = status  # wait4 has collected it
        seconds = time.monotonic() - started
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    executions, blocked = re.search(peer.executions, text), re.search(peer.blocked, text)
    if seconds >= limits.seconds:
        return Outcome(LIMITED, "not finished in %g s" % limits.seconds, {"seconds": seconds})
    if status != 0 or not executions:
        return Outcome(FAILED, first_line(text))
    count, cut = int(executions.group(1)), int(blocked.group(1)) if blocked else 0
    return Outcome(FINISHED, "", {"executions": count, "blocked": cut, "traces": count + cut, "seconds": seconds,
                                  "memory": usage.ru_maxrss * 1024 / 1e6})
