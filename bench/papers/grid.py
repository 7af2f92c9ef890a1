"""The cells of a printed table: the same for text, Markdown and HTML. Other files draw the table.

A table is a list of columns (heading, sub-heading) and a list of rows, each with a label and one cell (text) per column.
"""
import dataclasses

from measure import FAILED, FINISHED, LIMITED, NOT_RUN, UNAVAILABLE

HEADINGS = {"memory": "MB", "speedup": "speed-up", "nodes": "largest", "source": "source s", "optimal": "optimal s",
            "overhead": "overhead %"}
# The algorithms do not try to reduce these.
NO_RATIO = ("blocked", "nodes", "mean", "revisited", "states", "source", "optimal", "overhead")


@dataclasses.dataclass
class Grid:
    columns: list  # (heading, sub-heading)
    rows: list     # (label, cells)
    notes: list


def count(value):
    return "{:,}".format(int(round(value)))


def three_digits(value):
    if value >= 100:
        return count(value)
    if value >= 10:
        return "%.1f" % value
    if value >= 0.001 or value == 0:
        return ("%.3f" % value) if value < 1 else "%.2f" % value
    return "%.0e" % value


def number(key, value):
    if key == "overhead":
        return "%.1f" % value
    if key in ("seconds", "memory", "speedup", "mean", "source", "optimal"):
        return three_digits(value)
    return count(value)


def paper_cell(row, key):
    figure = row.paper.get(key)
    if not figure:
        return ""
    whole, point, rest = figure.printed.partition(".")
    return (">" if figure.above else "") + count(int(whole)) + point + rest


def our_cell(outcome, key):
    if not outcome.measured():
        return "-"
    value = outcome.figures.get(key)
    if value is None:
        return ""
    return (">" if outcome.status == LIMITED and key != "memory" else "") + number(key, value)


def ratio(row, outcome, key):
    """The paper's figure divided by ours, or None. Above 1, ours is less. (number, is it a lower bound?)"""
    figure, value = row.paper.get(key), outcome.figures.get(key)
    if not figure or value is None or outcome.status == LIMITED or not outcome.measured() or value <= 0:
        return None
    return figure.value / value, figure.above


def ratio_cell(row, outcome, key):
    found = ratio(row, outcome, key)
    return "" if not found else (">" if found[1] else "") + short(found[0])


def short(value):
    if value >= 1e6:
        return ("%.1e" % value).replace("e+0", "e").replace("e+", "e")
    if value >= 100:
        return count(value)
    return "%.3g" % value


def has(group, key, outcomes):
    return any(key in row.paper for row in group.rows), any(key in outcomes[row.name].figures for row in group.rows)


def table_grid(group, outcomes):
    columns, keys = [], []
    wanted = group.columns + (["memory"] if "memory" not in group.columns and "seconds" in group.columns else [])
    for key in wanted:
        in_paper, in_ours = has(group, key, outcomes)
        sides = (["paper"] if in_paper else []) + (["ours"] if in_ours or not in_paper else [])
        if in_paper and in_ours and key not in NO_RATIO:
            sides.append("ratio")
        for side in sides:
            columns.append((HEADINGS.get(key, key), side))
            keys.append((key, side))
    rows = []
    for row in group.rows:
        outcome = outcomes[row.name]
        cells = {"paper": lambda key, row=row: paper_cell(row, key),
                 "ours": lambda key, outcome=outcome: our_cell(outcome, key),
                 "ratio": lambda key, row=row, outcome=outcome: ratio_cell(row, outcome, key)}
        rows.append((row.label, [cells[side](key) for key, side in keys]))
    return Grid(columns, rows, remarks(group.rows, outcomes))


def curve_cell(outcome):
    if outcome.status == UNAVAILABLE:
        return "n/a"
    if not outcome.measured():
        return ""
    return our_cell(outcome, "transitions")


def curves_grid(group, outcomes):
    names = group.curves()
    by = {(row.curve, row.size): row for row in group.rows}
    cell = lambda name, size: curve_cell(outcomes[by[name, size].name]) if (name, size) in by else ""
    rows = [(str(size), [cell(name, size) for name in names]) for size in group.sizes]
    first = [next(row for row in group.rows if row.curve == name) for name in names]
    notes = remarks(first, outcomes, lambda row: row.curve, (UNAVAILABLE, NOT_RUN, FINISHED))
    notes += remarks(group.rows, outcomes, statuses=(FAILED,))
    return Grid([(name, "") for name in names], rows, notes + broken_promises(group, outcomes))


def broken_promises(group, outcomes):
    """Notes where our figures differ from the paper's: tables of curves have no columns for the few figures of the paper."""
    notes = []
    for row in group.rows:
        for key, figure in row.paper.items():
            outcome = outcomes[row.name]
            if outcome.measured() and outcome.figures.get(key) != figure.value:
                notes.append("%s: the paper has %s %s, ours %s" % (row.label, number(key, figure.value), key,
                                                                 our_cell(outcome, key)))
    return notes


def speedup_grid(group, outcomes):
    rows, in_paper = [], has(group, "speedup", outcomes)[0]
    for row in group.rows:
        points = dict(map(tuple, outcomes[row.name].points))
        rows.append((row.label, [three_digits(points[n]) if n in points else "-" for n in group.workers] +
                     [paper_cell(row, "speedup")] * in_paper))
    columns = [("workers" if i == 0 else "", str(n)) for i, n in enumerate(group.workers)]
    columns += [("paper", str(group.workers[-1]))] * in_paper
    return Grid(columns, rows, remarks(group.rows, outcomes))


def remarks(rows, outcomes, name=lambda row: row.label, statuses=None):
    """Notes about rows without figures, and about limits. Rows with the same text share one note."""
    texts = {}
    for row in rows:
        outcome = outcomes[row.name]
        if outcome.text and (not statuses or outcome.status in statuses):
            word = {"unavailable": "not available: ", "failed": "failed: ", "limited": "stopped: "}.get(outcome.status, "")
            texts.setdefault(word + outcome.text, []).append(name(row))
    return ["%s: %s" % (", ".join(names), text) for text, names in texts.items()]


GRIDS = {"table": table_grid, "curves": curves_grid, "speedup": speedup_grid, "overhead": table_grid}


def grid(group, outcomes):
    return GRIDS[group.kind](group, outcomes)
