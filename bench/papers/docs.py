"""The tables of docs/PAPERS.md: between the lines `<!-- bench GROUP: begin -->` and `<!-- bench GROUP: end -->`. In place of
GROUP, `facts` is where the page says with what the tables were measured.

write() puts the kept measurements there. check() compares the rows of the page with those of experiments.txt and names
each row that is missing or too many, so that the page cannot become outdated; `make test` runs it.
"""
import re

import grid as grids
import text


def marker(name, end):
    return "<!-- bench %s: %s -->" % (name, end)


def region(page, name):
    """Where the table of a group is: start and end of the text between its marks, or None."""
    begin, end = page.find(marker(name, "begin")), page.find(marker(name, "end"))
    if begin < 0 or end < begin or page.count(marker(name, "begin")) > 1 or page.count(marker(name, "end")) > 1:
        return None
    return begin + len(marker(name, "begin")), end


FACTS = "facts"


def figures(table):
    """How many cells of a Markdown table have a figure."""
    return sum(any(c.isdigit() for c in cell) for row in table.splitlines() if row.startswith("|") for cell in row.split("|")[2:])


def stays(old, new):
    """Does the page know more than this build has measured? Then its table stays, if it has the right rows."""
    return labels(old) == labels(new) and figures(old) > figures(new)


def write(path, groups, outcomes, facts):
    """Returns the names of the groups that have no place in the page, and of those whose table stays."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    missing, staying = [], []
    parts = [(group.name, text.group_markdown(group, outcomes)) for group in groups]
    for name, part in parts + [(FACTS, "\n".join(map(text.folded, facts)))]:
        place = region(page, name)
        if not place:
            missing.append(name)
            continue
        if name != FACTS and stays(page[place[0]:place[1]], part):
            staying.append(name)
            continue
        page = page[:place[0]] + "\n\n" + part + "\n" + page[place[1]:]
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    return missing, staying


def labels(table):
    """The first cells of a Markdown table, without its headings."""
    rows = [line for line in table.splitlines() if line.startswith("|")]
    return [row.split("|")[1].strip() for row in rows[2:]]


def check(path, groups, outcomes):
    """Returns lines that say what is wrong."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    wrong = []
    for group in groups:
        place = region(page, group.name)
        if not place:
            wrong.append("%s has no table: %s ... %s" % (group.name, marker(group.name, "begin"), marker(group.name, "end")))
            continue
        have, want = labels(page[place[0]:place[1]]), [name for name, _ in grids.grid(group, outcomes).rows]
        wrong += ["%s: no row `%s`" % (group.name, name) for name in want if name not in have]
        wrong += ["%s: row `%s` is not in experiments.txt" % (group.name, name) for name in have if name not in want]
        if have != want and set(have) == set(want):
            wrong.append("%s: the rows are in another order, or twice" % group.name)
    for name in re.findall(r"<!-- bench ([\w-]+): begin -->", page):
        if name not in [FACTS] + [group.name for group in groups]:
            wrong.append("%s is not in experiments.txt" % name)
    return wrong
