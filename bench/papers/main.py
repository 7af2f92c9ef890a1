#!/usr/bin/env python3
"""`mazurka bench`: every experiment of the papers of 2005, 2007, 2008 and 2017, the paper's figure beside ours.

    mazurka bench [OPTIONS] [NAME...]          the same: python3 bench/papers/main.py

NAME is an experiment, a table (2017-table3), a paper (2017) or any other beginning of names; without one, all are measured.

  --quick          minutes (default): a short limit for each row, the longest rows are left out
  --full           hours: ten minutes for each row, or 10^8 transitions in the curves
  --limit=S        seconds for each row, instead of the usual limit
  --list           print the names
  --kept           measure nothing: show what earlier runs have measured
  --fresh          measure again what earlier runs have measured
  --results=FILE   where measurements are kept (default: build/bench-results.jsonl)
  --no-peers       leave out Nidhugg and GenMC, which are measured if they are installed
  --json[=FILE]    write everything as JSON to FILE, or to standard output in place of the text
  --html=FILE      write one page with tables and figures
  --docs=FILE      write the tables between the marks of a Markdown page (docs/PAPERS.md), from what this
                   build has measured; a table stays if it has more figures than this build has measured
  --check-docs=FILE  fail if that page does not have exactly the rows of experiments.txt

Each finished row is kept at once, with the build that it was measured with: an interrupted run goes on where it was.
The table of experiments is experiments.txt. Exit status: 0; 1 if a row failed; 2 usage; 130 interrupted.
"""
import difflib
import json
import os
import platform
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import docs
import grid as grids
import measure
import page
import summary
import table
import text
from measure import Limits, NOT_RUN, Outcome

ROOT = os.path.dirname(os.path.dirname(HERE))
QUICK = {"table": Limits(10), "curves": Limits(2, 10**8), "speedup": Limits(30), "overhead": Limits(10)}
FULL = {"table": Limits(600), "curves": Limits(600, 10**8), "speedup": Limits(600), "overhead": Limits(600)}
FLAGS = ("quick", "full", "list", "kept", "fresh", "no-peers", "help")
VALUES = ("limit", "results", "html", "docs", "check-docs")


class Usage(Exception):
    pass


class Interrupted(BaseException):
    pass


def parse(words):
    """Returns (options, names). --json alone has the value True."""
    options, names = {}, []
    for word in words:
        if not word.startswith("-") or word == "-":
            names.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if word == "-h":
            name = "help"
        if name == "json":
            options[name] = value if equals else True
        elif name in FLAGS and not equals:
            options[name] = True
        elif name in FLAGS:
            raise Usage("--%s takes no argument" % name)
        elif name in VALUES and equals:
            options[name] = value
        elif name in VALUES:
            raise Usage("--%s: its argument is missing (--%s=...)" % (name, name))
        else:
            near = difflib.get_close_matches(name, FLAGS + VALUES + ("json",), 1)
            raise Usage("unknown option %s%s" % (word, ": did you mean --%s?" % near[0] if near else ": see `mazurka help bench`"))
    for name in VALUES + ("json",):
        if options.get(name) == "":
            raise Usage("--%s=: its value is missing" % name)
    if options.get("quick") and options.get("full"):
        raise Usage("--quick and --full exclude each other")
    if options.get("kept") and options.get("fresh"):
        raise Usage("--kept and --fresh exclude each other")
    if "limit" in options:
        try:
            options["limit"] = float(options["limit"])
        except ValueError:
            options["limit"] = 0
        if not 0 < options["limit"] < 1e9:
            raise Usage("--limit needs a number of seconds")
    return options, names


# ---- names ----

def chosen(experiments, name):
    """The rows that a name means: itself, a curve, a table, or all names that begin so."""
    rows = [(group, row) for group in experiments.groups for row in group.rows]
    ways = (lambda g, r: r.name == name,
            lambda g, r: r.curve and g.name + "-" + r.curve == name,
            lambda g, r: g.name == name,
            lambda g, r: r.name.startswith(name + "-"),
            lambda g, r: r.name.startswith(name))
    for way in ways:
        found = [row.name for group, row in rows if way(group, row)]
        if found and name:
            return found
    near = near_names(name, [row.name for _, row in rows])
    raise Usage("there is no experiment `%s`: %s" % (
        name, "did you mean %s?" % " or ".join(near) if near else "`mazurka bench --list` prints the names"))


def near_names(name, names):
    """At most three beginnings of names that contain the word, or that are similar."""
    parts = sorted({"-".join(n.split("-")[:i]) for n in names for i in range(1, n.count("-") + 2)}, key=lambda n: (len(n), n))
    contain = [part for part in parts if len(name) > 2 and name in part]
    shortest = [part for part in contain if not any(part.startswith(other + "-") for other in contain)]
    return shortest[:3] or difflib.get_close_matches(name, parts, 3, 0.6)


def list_names(experiments):
    return list(dict.fromkeys(group.name + "-" + (row.curve or row.label) for group in experiments.groups
                              for row in group.rows))


def print_list(experiments):
    for group in experiments.groups:
        print("%s  (%s)" % (group.name, text.heading(group)))
        for name in list_names(table.Table([group], [])):
            print("  %s%s" % (name, "  (%d to %d threads)" % (group.sizes[0], group.sizes[-1]) if group.sizes else ""))


# ---- measuring ----

class Bench:
    def __init__(self, options, experiments):
        self.options, self.experiments = options, experiments
        self.full = bool(options.get("full"))
        mazurka = os.environ.get("MAZURKA") or os.path.join(ROOT, "mazurka")
        if not os.path.exists(mazurka):
            raise Usage("%s is not there: run `make`" % os.path.relpath(mazurka))
        self.runner = measure.Runner(ROOT, os.path.abspath(mazurka), experiments.always)
        self.kept = measure.Kept(options.get("results") or os.path.join(ROOT, "build", "bench-results.jsonl"),
                                 self.runner.commit())
        self.outcomes = {row.name: Outcome(NOT_RUN, "") for row in experiments.rows()}
        self.peers = []  # (name, cells, remark)
        self.peer_results = {}
        self.asked, self.done = set(), 0
        self.fresh_keys = set()

    def limits(self, group, row):
        usual = (FULL if self.full else QUICK)[group.kind]
        seconds = self.options.get("limit") or (self.full and row.limit) or usual.seconds
        return Limits(seconds, usual.transitions)

    def remembered(self, key, limits):
        if self.options.get("fresh") and key not in self.fresh_keys:
            return None
        return self.kept.any(key) if self.options.get("kept") else self.kept.find(key, limits)

    def say(self, name):
        self.done += 1
        if sys.stderr.isatty():
            print("\r\033[K[%d/%d] %s" % (self.done, len(self.asked), name)[:78], end="", file=sys.stderr, flush=True)

    def row(self, group, row):
        """Measures a row, or finds it among the kept ones."""
        self.say(row.name)
        if row.reason:
            return Outcome(NOT_RUN, "not repeated: " + row.reason)
        limits, key = self.limits(group, row), self.runner.key(row)
        found = self.remembered(key, limits)
        if found:
            return found
        if self.options.get("kept"):
            return Outcome(NOT_RUN, "not measured yet")
        if row.full and not self.full:
            return Outcome(NOT_RUN, "only with --full")
        outcome = self.runner.measure(row, limits)
        if outcome.measured():
            self.kept.add(key, row.name, limits, outcome)
            self.fresh_keys.add(key)
        return outcome

    def curve(self, group, rows):
        """The sizes in turn, until one reaches a limit or cannot be measured."""
        ended = None
        for row in rows:
            if ended:
                self.say(row.name)
                self.outcomes[row.name] = Outcome(ended.status) if not ended.measured() else Outcome(NOT_RUN)
                continue
            outcome = self.outcomes[row.name] = self.row(group, row)
            if outcome.status == NOT_RUN and row is not rows[0]:
                outcome.text = ""  # the first row says it
            if outcome.status == NOT_RUN:
                continue
            if outcome.status != measure.FINISHED or self.too_many(outcome, group, row):
                ended = outcome

    def too_many(self, outcome, group, row):
        most = self.limits(group, row).transitions
        return most and outcome.figures.get("transitions", 0) >= most

    def group(self, group):
        rows = [row for row in group.rows if row.name in self.asked]
        if group.kind == "curves":
            for name in group.curves():
                self.curve(group, [row for row in rows if row.curve == name])
        for row in rows:
            if group.kind != "curves":
                self.outcomes[row.name] = self.row(group, row)
                self.compare(group, row)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        part = table.Group(**{**vars(group), "rows": rows})
        part.sizes = [size for size in group.sizes if any(row.size == size for row in rows)]
        return part

    def compare(self, group, row):
        if self.options.get("no-peers") or not row.program:
            return
        if self.outcomes[row.name].status == NOT_RUN:
            return
        for peer in measure.peers_of(row):
            limits, key = self.limits(group, row), measure.peer_key(self.runner, peer, row)
            outcome = self.remembered(key, limits)
            if not outcome and not self.options.get("kept"):
                outcome = measure.measure_peer(self.runner, peer, row, limits)
                if outcome.measured():
                    self.kept.add(key, "%s: %s" % (peer.name, row.name), limits, outcome)
            if outcome:
                self.add_peer(peer, row, outcome)

    def add_peer(self, peer, row, outcome):
        ours = self.outcomes[row.name].figures.get("seconds")
        theirs = outcome.figures.get("seconds")
        finished = outcome.status == measure.FINISHED
        cells = [grids.our_cell(outcome, key) for key in ("executions", "blocked", "seconds")]
        cells += [grids.three_digits(ours) if ours else "-", grids.short(theirs / ours) if finished and ours else ""]
        self.peers.append(("%s, %s" % (row.name, peer.name), cells, outcome.text))
        self.peer_results.setdefault(row.name, {})[peer.name] = {
            "status": outcome.status, "text": outcome.text, "figures": outcome.figures}


# ---- results ----

def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine() or "unknown processor"


def facts(bench):
    mode = "full" if bench.full else "quick"
    if bench.options.get("kept"):
        mode = "what earlier runs have measured"
    return ["%s, build %s; %s; %s." % (bench.runner.version(), bench.runner.build[:12], mode, time.strftime("%Y-%m-%d %H:%M")),
            "This machine: %s, %d processors, Linux %s; load when the run began: %.1f." % (
                processor(), os.cpu_count() or 1, platform.release(), os.getloadavg()[0]),
            "ratio: the paper's figure divided by ours; above 1, ours is less. >: more than that, a limit was reached. MB: peak "
            "of the process that searches."]


def as_json(bench, parts, said):
    rows = []
    for group in parts:
        for row in group.rows:
            outcome = bench.outcomes[row.name]
            ratios = {key: grids.ratio(row, outcome, key) for key in row.paper}
            rows.append({
                "name": row.name, "paper": group.paper, "where": group.where, "machine": group.machine,
                "program": row.program, "arguments": row.arguments, "options": row.options,
                "status": outcome.status, "text": outcome.text, "kept": outcome.kept,
                "paper_figures": {key: {"value": f.value, "more_than": f.above} for key, f in row.paper.items()},
                "figures": outcome.figures, "points": outcome.points,
                "ratio": {key: found[0] for key, found in ratios.items() if found},
                "peers": bench.peer_results.get(row.name, {})})
    return {"version": bench.runner.version(), "build": bench.runner.build, "facts": said,
            "summary": summary.lines(parts, bench.outcomes), "rows": rows}


def write(path, what, how="w"):
    try:
        with open(path, how, encoding="utf-8") as file:
            file.write(what)
    except OSError as error:
        raise Usage("cannot write %s: %s" % (path, error.strerror)) from None


def try_outputs(bench):
    """Checks that the results can be written before measuring starts, which may take hours."""
    paths = [bench.options[name] for name in ("json", "html") if bench.options.get(name, True) is not True]
    if not bench.options.get("kept"):
        os.makedirs(os.path.dirname(os.path.abspath(bench.kept.path)), exist_ok=True)
        paths.append(bench.kept.path)
    for path in paths:
        write(path, "", "a")


def run(bench, names):
    """Measures; prints each table when it is done. Returns the groups that were shown."""
    for name in names or [""]:
        bench.asked.update(chosen(bench.experiments, name) if name else [row.name for row in bench.experiments.rows()])
    quiet = bench.options.get("json") is True
    said, parts = facts(bench), []
    if not quiet:
        print("\n".join(line for fact in said for line in text.wrapped(fact)) + "\n")
    interrupted = False
    for group in bench.experiments.groups:
        if not any(row.name in bench.asked for row in group.rows):
            continue
        try:
            part = bench.group(group)
        except (KeyboardInterrupt, Interrupted):
            interrupted = True
            break
        parts.append(part)
        if not quiet:
            print(text.group_text(part, bench.outcomes), flush=True)
    if not quiet:
        for line in summary.lines(parts, bench.outcomes):
            print("\n".join(text.wrapped(line)))
    if not quiet and bench.peers:
        print(text.peers_text(bench.peers))
    return parts, said, interrupted


def finish(bench, parts, said):
    result = bench.options.get("json")
    if result:
        written = json.dumps(as_json(bench, parts, said), indent=1) + "\n"
        if result is True:
            sys.stdout.write(written)
        else:
            write(result, written)
    if "html" in bench.options:
        write(bench.options["html"], page.page(parts, bench.outcomes, said + summary.lines(parts, bench.outcomes), bench.peers))


def at_signal(number, frame):
    raise Interrupted()


def span(values, form):
    """'7', or '3 to 7'; "" if there is none."""
    values = sorted(v for v in values if v is not None)
    if not values:
        return ""
    low, high = form % values[0], form % values[-1]
    return low if low == high else "%s to %s" % (low, high)


def docs_facts(bench, groups):
    """One paragraph for the page: with what, when and where the tables were measured."""
    found = [bench.outcomes[row.name].facts for group in groups for row in group.rows if bench.outcomes[row.name].measured()]
    commits = sorted({f.get("commit") for f in found if f.get("commit")})
    limits, days, loads = (span([f.get(name) for f in found], form) for name, form in (
        ("limit", "%g"), ("when", "%.10s"), ("load", "%.1f")))
    return ("%s, build %s%s. Rows: %d, measured %s on %s, %d processors, Linux %s; limits of %s seconds for a row; load average %s."
            " A table of which this build has measured less is from an earlier build." % (
                bench.runner.version(), bench.runner.build[:12], ", commit " + ", ".join(commits) if commits else "", len(found),
                days, processor(), os.cpu_count() or 1, platform.release(), limits, loads or "not known"))


def bench_docs(bench):
    """--docs: writes the tables from the kept measurements."""
    bench.options["kept"] = True
    bench.asked = {row.name for row in bench.experiments.rows()}
    groups = [bench.group(group) for group in bench.experiments.groups]
    groups = [group for group in groups if all(row.reason for row in group.rows) or
              any(bench.outcomes[row.name].measured() for row in group.rows)]
    facts = [docs_facts(bench, groups)] + summary.lines(groups, bench.outcomes)
    missing, staying = docs.write(bench.options["docs"], groups, bench.outcomes, facts)
    for name in missing:
        print("mazurka: bench: %s: no marks for %s" % (bench.options["docs"], name), file=sys.stderr)
    for name in staying:
        print("The table of %s stays: this build has measured less of it" % name)
    return 1 if missing else 0


def check_docs(path, experiments):
    outcomes = {row.name: Outcome(NOT_RUN) for row in experiments.rows()}
    wrong = docs.check(path, experiments.groups, outcomes)
    for line in wrong:
        print("%s: %s" % (path, line), file=sys.stderr)
    return 1 if wrong else 0


def main(words):
    options, names = parse(words)
    if options.get("help"):
        print(__doc__.strip())
        return 0
    experiments = table.read(os.path.join(HERE, "experiments.txt"))
    if options.get("list"):
        print_list(experiments)
        return 0
    if "check-docs" in options:
        return check_docs(options["check-docs"], experiments)
    for name in names:
        chosen(experiments, name)
    bench = Bench(options, experiments)
    if "docs" in options:
        return bench_docs(bench)
    try_outputs(bench)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, at_signal)
    parts, said, interrupted = run(bench, names)
    finish(bench, parts, said)
    if interrupted:
        print("mazurka: bench: interrupted: the finished rows are kept in %s" % os.path.relpath(bench.kept.path), file=sys.stderr)
        return 130
    return 1 if any(o.status == measure.FAILED for o in bench.outcomes.values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except (Usage, table.BadTable, OSError) as problem:
        if isinstance(problem, OSError) and problem.filename:
            problem = "%s: %s" % (problem.filename, problem.strerror)
        print("mazurka: bench: %s" % problem, file=sys.stderr)
        sys.exit(2)
