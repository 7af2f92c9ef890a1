"""The page of --html: all tables and figures in one file that refers to nothing outside of it."""
import re

import svg
import text
import grid as grids
from svg import esc

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --soft: #5c626a; --rule: #d9dce0; --band: #f4f5f7;
  --a: #2a6fc9; --b: #c2570c; --c: #7a3fb0; --d: #11806a; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e4e6e9; --soft: #9aa1aa; --rule: #373b41;
  --band: #1e2125; --a: #6ea8f2; --b: #f0964e; --c: #bd92ea; --d: #3fbf9f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; line-height: 1.25; }
h2 { font-size: 1.12rem; margin: 2.75rem 0 .1rem; line-height: 1.3; }
p, ul.notes { margin: .35rem 0; }
.soft, ul.notes, .legend { color: var(--soft); font-size: .875rem; }
ul.notes { padding-left: 1.1rem; }
nav { margin: 1rem 0; font-size: .9rem; display: grid; gap: .3rem; }
nav div { display: flex; flex-wrap: wrap; gap: .1rem .8rem; }
nav b { min-width: 3rem; }
a { color: var(--a); }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
th, td { padding: .16rem .55rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; color: var(--soft); }
thead tr:last-child th { border-bottom: 1px solid var(--rule); }
th.over { text-align: center; }
th[scope=row] { text-align: left; color: var(--ink); font-weight: 400; position: sticky; left: 0; background: var(--paper); }
tbody tr:nth-child(even) > * { background: var(--band); }
td.first, th.first { border-left: 1px solid var(--rule); }
figure { margin: .75rem 0; }
figure > svg { display: block; width: 100%; min-width: 30rem; height: auto; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .15rem 1rem; padding: 0; margin: .4rem 0; }
.legend li { display: flex; align-items: center; gap: .4rem; }
code { font-size: .95em; }
summary { cursor: pointer; color: var(--soft); font-size: .875rem; margin-top: .5rem; }
svg text { fill: var(--soft); font: 11.5px system-ui, sans-serif; }
svg .axis { fill: var(--ink); }
.grid { stroke: var(--rule); stroke-width: 1; }
.span { stroke: var(--soft); stroke-width: 1.2; opacity: .6; }
.ideal { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 5 4; }
.line { fill: none; stroke-width: 1.8; }
.dotted { stroke-dasharray: 2 3.5; }
.line.a, .hollow.a, .solid.a { stroke: var(--a); } .line.b, .hollow.b, .solid.b { stroke: var(--b); }
.line.c, .hollow.c, .solid.c { stroke: var(--c); } .line.d, .hollow.d, .solid.d { stroke: var(--d); }
.solid.a { fill: var(--a); } .solid.b { fill: var(--b); } .solid.c { fill: var(--c); } .solid.d { fill: var(--d); }
.hollow { fill: none; stroke-width: 1.6; }
@media print { .scroll { overflow: visible; } }
"""


def prose(words):
    """Escaped, with `code`."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(words))


def spans(columns):
    """(heading, number of columns below it)"""
    found = []
    for head, _ in columns:
        if found and (found[-1][0] == head or head == ""):
            found[-1][1] += 1
        else:
            found.append([head, 1])
    return found


def html_table(g, first):
    starts, at = set(), 0
    for _, n in spans(g.columns):
        starts.add(at)
        at += n
    css = lambda i: ' class="first"' if i in starts else ""
    two = any(sub for _, sub in g.columns)
    out = ["<table><thead><tr><th%s></th>" % (' rowspan="2"' if two else "")]
    if two:
        out += ['<th class="over first" colspan="%d">%s</th>' % (n, esc(head)) for head, n in spans(g.columns)]
        out.append("</tr><tr>" + "".join("<th%s>%s</th>" % (css(i), esc(sub)) for i, (_, sub) in enumerate(g.columns)))
    else:
        out += ["<th>%s</th>" % esc(head) for head, _ in g.columns]
    out[0] = out[0].replace("></th>", ' scope="row">%s</th>' % esc(first))
    out.append("</tr></thead><tbody>")
    for name, cells in g.rows:
        out.append('<tr><th scope="row">%s</th>%s</tr>' % (esc(name), "".join(
            "<td%s>%s</td>" % (css(i) if two else "", esc(cell)) for i, cell in enumerate(cells))))
    out.append("</tbody></table>")
    return '<div class="scroll" tabindex="0">%s</div>' % "".join(out)


def section(group, outcomes):
    g = grids.grid(group, outcomes)
    table = html_table(g, "threads" if group.kind == "curves" else "")
    if group.kind == "curves":
        table = "<details><summary>The numbers</summary>%s</details>" % table
    drawn = svg.figure(group, outcomes)
    notes = "".join("<li>%s</li>" % prose(note) for note in group.notes + g.notes)
    return '<section id="%s"><h2>%s</h2><p class="soft">Paper: %s.</p>%s%s%s</section>' % (
        esc(group.name), esc(text.heading(group)), esc(group.machine),
        '<figure class="scroll" tabindex="0">%s</figure>' % drawn if drawn else "", table,
        '<ul class="notes">%s</ul>' % notes if notes else "")


def contents(groups):
    papers = list(dict.fromkeys(group.paper for group in groups))
    return "<nav>%s</nav>" % "".join('<div><b>%s</b>%s</div>' % (esc(paper), "".join(
        '<a href="#%s">%s</a>' % (esc(group.name), esc(group.where)) for group in groups if group.paper == paper))
        for paper in papers)


def peers_section(peers):
    if not peers:
        return ""
    g = grids.Grid([("executions", ""), ("blocked", ""), ("seconds", ""), ("mazurka, seconds", ""), ("ratio", "")],
                   [(name, cells) for name, cells, _ in peers], [])
    notes = "".join("<li>%s: %s</li>" % (esc(name), esc(said)) for name, _, said in peers if said)
    return ('<section id="peers"><h2>Other tools on the same programs</h2><p class="soft">Measured in this run. Ratio: their '
            'time divided by mazurka\'s.</p>%s<ul class="notes">%s</ul></section>' % (html_table(g, ""), notes))


def page(groups, outcomes, facts, peers):
    said = "".join("<p class=\"soft\">%s</p>" % esc(fact) for fact in facts)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" '
            'content="width=device-width, initial-scale=1"/><title>mazurka bench: the papers\' experiments</title>'
            "<style>%s</style></head><body><main><h1>The papers' experiments, the papers' figures beside ours</h1>%s%s%s%s"
            "</main></body></html>\n" % (STYLE, said, contents(groups),
                                         "".join(section(group, outcomes) for group in groups), peers_section(peers)))
