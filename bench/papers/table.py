"""Reads experiments.txt: the tables and figures of the papers. See the head of that file for its form.

read() checks the file and raises BadTable with the number of the line. main.py calls it; nothing here runs a program.
"""
import dataclasses
import re
import shlex

FIGURES = ("traces", "runs", "executions", "blocked", "transitions", "states", "revisited", "nodes", "mean", "memory", "seconds",
           "speedup", "source", "optimal", "overhead")
SETS = {"nodes", "mean"}  # counted in a run of their own
KINDS = ("table", "curves", "speedup", "overhead")


class BadTable(Exception):
    pass


@dataclasses.dataclass
class Figure:
    """A figure of a paper: a number, or a lower bound (`>86400`)."""
    value: float
    above: bool = False
    printed: str = ""  # with the digits of the paper


@dataclasses.dataclass
class Row:
    name: str           # of the experiment: 2017-table1-fig10-6-source
    label: str          # the same without the name of the group
    program: list       # file from the root, flags of the compiler
    arguments: list     # of the program
    options: list       # of mazurka check
    simulate: list      # kind speedup: options of mz-simulate
    paper: dict         # key -> Figure
    full: bool          # only with --full
    limit: float        # seconds in --full, 0: the usual ones
    reason: str         # why nothing is measured; ""
    curve: str = ""     # kind curves: the name of the configuration
    size: int = 0       # and the value of {n}
    sets: bool = False  # count the sizes of wakeup trees and backtrack sets, too
    versus: list = dataclasses.field(default_factory=list)  # kind overhead: the options of the second search


@dataclasses.dataclass
class Group:
    name: str
    paper: str = ""
    where: str = ""
    title: str = ""
    kind: str = "table"
    columns: list = dataclasses.field(default_factory=list)
    sizes: list = dataclasses.field(default_factory=list)
    workers: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    none: str = ""
    machine: str = ""
    rows: list = dataclasses.field(default_factory=list)

    def curves(self):
        """The names of the configurations, in the order of the file."""
        return list(dict.fromkeys(row.curve for row in self.rows))


@dataclasses.dataclass
class Table:
    groups: list
    always: list  # options that every search gets, if mazurka knows them

    def rows(self):
        return [row for group in self.groups for row in group.rows]


def read_figures(text, size):
    """'traces=8 seconds=>86400', or 'n<=13: executions=1', which holds for small sizes only."""
    condition = re.match(r"n<=(\d+):\s*(.*)$", text)
    if condition:
        if size > int(condition.group(1)):
            return {}
        text = condition.group(2)
    figures = {}
    for word in text.split():
        match = re.match(r"([a-z]+)=(>?)(\d+(?:\.\d+)?)$", word)
        if not match or match.group(1) not in FIGURES:
            raise BadTable("'%s' is no figure" % word)
        if match.group(1) in figures:
            raise BadTable("'%s': this figure is there twice" % word)
        figures[match.group(1)] = Figure(float(match.group(3)), match.group(2) == ">", match.group(3))
    return figures


def read_marks(text):
    full, limit = False, 0.0
    for mark in text.split():
        if mark == "full":
            full = True
        elif re.match(r"limit=\d+$", mark):
            limit = float(mark[6:])
        else:
            raise BadTable("'%s' is no mark" % mark)
    return full, limit


def read_program(cell):
    words = shlex.split(cell)
    arguments = []
    if "--" in words:
        at = words.index("--")
        words, arguments = words[:at], words[at + 1:]
    if not words or not (words[0].endswith(".c") or words[0].startswith("build/")):
        raise BadTable("'%s' is no program" % cell)
    if "/" not in words[0]:
        words[0] = "tests/papers/" + words[0]
    return words, arguments


def read_row(group, cells, protocols, size=0):
    label, program, options, figures, marks = cells
    curve = re.sub(r"-?\{n\}", "", label)
    label, program, options = (text.replace("{n}", str(size)) for text in (label, program, options))
    if not re.match(r"[A-Za-z0-9_-]+$", label):
        raise BadTable("'%s' is no name" % label)
    full, limit = read_marks(marks)
    row = Row(group.name + "-" + label, label, [], [], [], [], read_figures(figures, size), full, limit, "")
    if group.kind == "curves":
        row.curve, row.size = curve, size
    if program == "-":
        row.reason = options or group.none
        if not row.reason:
            raise BadTable("no program, and no reason")
        return row
    row.program, row.arguments = read_program(program)
    row.sets = bool(SETS & set(group.columns))
    check, _, second = options.partition("::")
    row.options = check.split()
    if (group.kind in ("speedup", "overhead")) != bool(second):
        raise BadTable("'::' belongs to the kinds speedup and overhead, and to no other")
    if group.kind == "overhead":
        row.versus = second.split()
    elif second:
        name, time = second.split()
        if name not in protocols:
            raise BadTable("'%s' is not in [protocols]" % name)
        row.simulate = protocols[name].replace("{time}", time).split()
        row.simulate.append("--workers=" + ",".join(map(str, group.workers)))
    return row


def set_key(group, key, value):
    if key in ("paper", "where", "title", "none", "machine"):
        setattr(group, key, value)
    elif key == "kind" and value in KINDS:
        group.kind = value
    elif key == "columns" and set(value.split()) <= set(FIGURES):
        group.columns = value.split()
    elif key == "sizes" and re.match(r"\d+\.\.\d+$", value):
        low, high = map(int, value.split(".."))
        group.sizes = list(range(low, high + 1))
    elif key == "workers" and re.match(r"[\d ]+$", value):
        group.workers = [int(word) for word in value.split()]
    elif key == "note":
        group.notes.append(value)
    else:
        raise BadTable("'%s: %s' is not understood" % (key, value))


def add_row(group, text, protocols):
    cells = [cell.strip() for cell in text.split("|")]
    if len(cells) == 4:
        cells.append("")
    if len(cells) != 5:
        raise BadTable("a row has 4 or 5 cells, not %d" % len(cells))
    for size in group.sizes if group.kind == "curves" else [0]:
        group.rows.append(read_row(group, cells, protocols, size))


def check(groups, machines):
    seen = set()
    for group in groups:
        if group.paper not in machines:
            raise BadTable("[%s]: no machine of paper '%s'" % (group.name, group.paper))
        group.machine = group.machine or machines[group.paper]
        if not (group.where and group.title and group.columns and group.rows):
            raise BadTable("[%s]: where, title, columns or rows are missing" % group.name)
        if (group.kind == "curves" and not group.sizes) or (group.kind == "speedup" and not group.workers):
            raise BadTable("[%s]: sizes or workers are missing" % group.name)
        for row in group.rows:
            if row.name in seen:
                raise BadTable("%s is there twice" % row.name)
            seen.add(row.name)


def read(path):
    groups, always, sections, group, named = [], [], {"machines": {}, "protocols": {}}, None, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                if text.startswith("[") and text.endswith("]"):
                    named = sections.get(text[1:-1])
                    if named is None:
                        group = Group(text[1:-1])
                        groups.append(group)
                    continue
                key, colon, value = (part.strip() for part in text.partition(":"))
                if named is not None:
                    named[key] = value
                elif group is None and key == "always":
                    always += value.split()
                elif group is None:
                    raise BadTable("a line before the first section")
                elif "|" in text:
                    add_row(group, text, sections["protocols"])
                elif colon and not group.rows:
                    set_key(group, key, value)
                else:
                    raise BadTable("neither a row nor 'key: value'")
            except (BadTable, ValueError) as error:
                raise BadTable("%s:%d: %s" % (path, number, error)) from None
    try:
        check(groups, sections["machines"])
    except BadTable as error:
        raise BadTable("%s: %s" % (path, error)) from None
    return Table(groups, always)
