"""The tables as text, 80 columns wide where possible, and as Markdown."""
import textwrap

import grid as grids

WIDTH = 80
# Headings of the curves: one word below the other.
SHORT = {"stateful": "state", "static": "stat.", "dynamic": "dyn.", "optimal": "opt."}


def heading(group):
    return "%s, %s: %s" % (group.paper, group.where, group.title)


def wrapped(text, indent=""):
    return textwrap.wrap(text, WIDTH - 1, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False,
                         break_on_hyphens=False)


def spanned(columns, widths):
    """The first line of the headings: a heading stands over all columns that have it."""
    line, i = "", 0
    while i < len(columns):
        j = i
        while j < len(columns) and columns[j][0] == columns[i][0]:
            j += 1
        width = sum(widths[i:j]) + (j - i)
        line += columns[i][0][:width - 1].rjust(width)
        i = j
    return line


def one_line(g):
    """A line for each row, or None if that is too wide."""
    label = max([len(name) for name, _ in g.rows] + [10])
    widths = [max([len(sub)] + [len(cells[i]) for _, cells in g.rows]) for i, (_, sub) in enumerate(g.columns)]
    for i, (head, _) in enumerate(g.columns):
        same = [j for j, column in enumerate(g.columns) if column[0] == head]
        missing = len(head) - sum(widths[j] for j in same) - len(same) + 1
        if same[0] == i and missing > 0:
            widths[i] += missing
    if label + sum(widths) + len(widths) > WIDTH:
        return None
    lines = [" " * label + spanned(g.columns, widths), " " * label + "".join(
        " " + sub.rjust(width) for (_, sub), width in zip(g.columns, widths))]
    for name, cells in g.rows:
        lines.append(name.ljust(label) + "".join(" " + cell.rjust(width) for cell, width in zip(cells, widths)))
    return [line.rstrip() for line in lines]


def three_lines(g):
    """For each row a line with the paper's figures, one with ours and one with the ratios; no line that would be empty."""
    heads = list(dict.fromkeys(head for head, _ in g.columns))
    label = max(len(name) for name, _ in g.rows)
    widths = [max([len(head)] + [len(cells[i]) for _, cells in g.rows for i, column in enumerate(g.columns)
                                 if column[0] == head]) for head in heads]
    lines = [" " * (label + 6) + "".join(" " + head.rjust(width) for head, width in zip(heads, widths))]
    for name, cells in g.rows:
        by = dict(zip(g.columns, cells))
        for side in ("paper", "ours", "ratio"):
            line = "".join(" " + by.get((head, side), "").rjust(width) for head, width in zip(heads, widths))
            if line.strip():
                lines.append(name.ljust(label) + " " + side.ljust(5) + line)
                name = ""
    return [line.rstrip() for line in lines]


def compact(cell):
    """At most five characters."""
    digits = cell.replace(",", "")
    if len(digits) <= 5:
        return digits
    above, digits = (">", digits[1:]) if digits.startswith(">") else ("", digits)
    form = "%.0e" if above else "%.1e"
    return above + (form % float(digits)).replace("e+0", "e").replace("e+", "e")


def curve_lines(g):
    words = [head.split("-") for head, _ in g.columns]
    lines = []
    for depth in range(max(map(len, words))):
        parts = [SHORT.get(w[depth], w[depth]) if depth < len(w) else "" for w in words]
        lines.append("threads" * (depth == 0) + " " * 7 * (depth > 0) + "".join(" " + p[:5].rjust(5) for p in parts))
    for name, cells in g.rows:
        lines.append(name.rjust(7) + "".join(" " + compact(cell).rjust(5) for cell in cells))
    return [line.rstrip() for line in lines]


def group_text(group, outcomes):
    g = grids.grid(group, outcomes)
    lines = wrapped(heading(group)) + wrapped("paper: " + group.machine, "  ") + [""]
    if group.kind == "curves":
        lines += curve_lines(g)
    else:
        lines += one_line(g) or three_lines(g)
    for note in group.notes + g.notes:
        lines += wrapped(note, "  ")
    return "\n".join(lines) + "\n"


def peers_text(found):
    if not found:
        return ""
    g = grids.Grid([("executions", ""), ("blocked", ""), ("seconds", ""), ("mazurka", "seconds"), ("ratio", "")],
                   [(name, cells) for name, cells, _ in found], [])
    lines = ["Other tools on the same programs, measured in this run (ratio: their time", "divided by mazurka's)", ""]
    lines += one_line(g) or three_lines(g)
    lines += [line for name, _, text in found if text for line in wrapped("%s: %s" % (name, text), "  ")]
    return "\n".join(lines) + "\n"


# ---- Markdown ----

def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def folded(paragraph):
    return textwrap.fill(escaped(paragraph), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def group_markdown(group, outcomes):
    g = grids.grid(group, outcomes)
    heads = [" ".join(word for word in column if word) for column in g.columns]
    first = {"curves": "threads", "speedup": "workers"}.get(group.kind, "experiment")
    if group.kind == "speedup":
        heads = [sub if head != "paper" else "paper, " + sub for head, sub in g.columns]
    lines = ["| %s | %s |" % (first, " | ".join(heads)), "| --- |" + " ---: |" * len(heads)]
    lines += ["| %s | %s |" % (name, " | ".join(cells)) for name, cells in g.rows]
    lines += ["", "Paper: %s." % escaped(group.machine)] + [""] * bool(group.notes + g.notes)
    lines += ["- " + escaped(note) for note in group.notes + g.notes]
    return "\n".join(lines) + "\n"
