"""What the tables show together: in how many rows our counts are the paper's, and how much less time they take.

Curves are left out: the paper has no numbers of them. Only finished rows are compared.
"""
from measure import FINISHED, LIMITED, NOT_RUN, UNAVAILABLE

import grid as grids

COUNTS = ("traces", "runs", "executions")  # the first that the paper has is the row's count
LONG = 1.0    # seconds: only rows that took the paper longer are compared in time
LEAST = 100   # times faster; slower rows are named


def number_of(rows, word="row"):
    return "%d %s%s" % (len(rows), word, "" if len(rows) == 1 else "s")


def named(rows, most=8):
    names = [row.name for row in rows]
    more = ", and %d more" % (len(names) - most) if len(names) > most else ""
    return (": " + ", ".join(names[:most]) + more) if names else ""


def counts_line(finished, outcomes):
    sides = {"equal": [], "fewer": [], "more": []}
    for row in finished:
        key = next((key for key in COUNTS if key in row.paper), None)
        ours = outcomes[row.name].figures.get(key)
        if ours is not None:
            theirs = row.paper[key].value
            sides["equal" if ours == theirs else "fewer" if ours < theirs else "more"].append(row)
    if not any(sides.values()):
        return ""
    return "Executions: %s with exactly the paper's number, %d with fewer, %d with more%s." % (
        number_of(sides["equal"]), len(sides["fewer"]), len(sides["more"]), named(sides["more"]))


def time_line(finished, outcomes):
    timed = [(row.paper["seconds"].value / outcomes[row.name].figures["seconds"], row) for row in finished
             if "seconds" in row.paper and row.paper["seconds"].value > LONG and outcomes[row.name].figures.get("seconds")]
    if not timed:
        return ""
    ratios = sorted(ratio for ratio, _ in timed)
    return "Time: in %s the paper has more than a second; ours is %s to %s times less, median %s; less than %d times in %d%s." % (
        number_of(timed), *map(grids.short, (ratios[0], ratios[-1], ratios[len(ratios) // 2])), LEAST,
        sum(ratio < LEAST for ratio in ratios), named([row for ratio, row in timed if ratio < LEAST]))


def lines(groups, outcomes):
    rows = [row for group in groups if group.kind != "curves" for row in group.rows]
    of = lambda *statuses: [row for row in rows if outcomes[row.name].status in statuses and not row.reason]
    others = ["%s %s" % (number_of(found), what) for found, what in (
        (of(LIMITED), "ended by a limit"), (of(UNAVAILABLE), "not available"), (of(NOT_RUN), "not measured"),
        ([row for row in rows if row.reason], "that cannot be repeated")) if found]
    found = [counts_line(of(FINISHED), outcomes), time_line(of(FINISHED), outcomes), "; ".join(others) + "." if others else ""]
    return [line[0].upper() + line[1:] for line in found if line]
