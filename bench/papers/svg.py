"""The figures of the page, drawn as SVG: curves on a logarithmic scale, speed-ups, and the paper's figure beside ours.

Colours are classes of the page's style sheet, so that they follow its light or dark scheme. All texts are escaped here.
"""
import html
import math

# Fig. 6 and 8 of 2005: squares for No POR, circles for Static POR, triangles for Dynamic POR; hollow: with sleep sets;
# dotted: stateful.
FAMILIES = {"none": ("a", "square"), "static": ("b", "circle"), "dynamic": ("c", "triangle"), "ours": ("d", "diamond")}
POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def esc(text):
    return html.escape(str(text), quote=True)


def power_of_ten(exponent):
    if -2 <= exponent <= 3:
        return "{:g}".format(10.0 ** exponent)
    return "10" + str(exponent).translate(POWERS)


def marker(shape, x, y, css, title):
    r = 5.2 if css.startswith("hollow") else 4.0  # so that a solid one at the same place does not hide a hollow one
    shapes = {
        "square": '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"' % (x - r * .85, y - r * .85, r * 1.7, r * 1.7),
        "circle": '<circle cx="%.1f" cy="%.1f" r="%.1f"' % (x, y, r),
        "triangle": '<path d="M%.1f %.1fl%.1f %.1fh%.1fz"' % (x, y - r * 1.2, r * 1.15, r * 2.1, -r * 2.3),
        "diamond": '<path d="M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz"' % (
            x, y - r * 1.25, r * 1.25, r * 1.25, -r * 1.25, r * 1.25, -r * 1.25, -r * 1.25),
    }
    return '%s class="%s"><title>%s</title></%s>' % (shapes[shape], css, esc(title), shapes[shape][1:].split(" ")[0])


class Plot:
    """A rectangle with two axes. Scales map values to pixels."""

    def __init__(self, width, height, left=58, right=12, top=10, bottom=40):
        self.width, self.height = width, height
        self.x0, self.x1, self.y0, self.y1 = left, width - right, height - bottom, top
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def line(self, css, x0, y0, x1, y1):
        self.add('<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>' % (css, x0, y0, x1, y1))

    def text(self, x, y, text, anchor="middle", css="tick"):
        self.add('<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>' % (css, x, y, anchor, esc(text)))

    def vertical_title(self, text):
        y = (self.y0 + self.y1) / 2
        self.add('<text class="axis" transform="translate(13 %.1f) rotate(-90)" text-anchor="middle">%s</text>' % (y, esc(text)))

    def drawn(self, name):
        return '<svg viewBox="0 0 %d %d" style="max-width: %dpx" role="img" aria-label="%s">%s</svg>' % (
            self.width, self.height, self.width * 6 // 5, esc(name), "".join(self.parts))


def legend(items):
    """items: (svg of a sample, text)"""
    return '<ul class="legend">%s</ul>' % "".join(
        '<li><svg viewBox="0 0 34 14" width="34" height="14" aria-hidden="true">%s</svg>%s</li>' % (sample, esc(text))
        for sample, text in items)


# ---- 2005: transitions over threads ----

def style_of(curve):
    words = curve.split("-")
    color, shape = FAMILIES.get(words[0], ("d", "diamond"))
    hollow = "sleep" in words or words[-1] == "dpor"
    return color, shape, hollow, "stateful" in words


def curves(group, outcomes):
    by = {name: [(row.size, outcomes[row.name]) for row in group.rows if row.curve == name] for name in group.curves()}
    points = {name: [(size, o.figures["transitions"], o.status) for size, o in found
                     if o.measured() and o.figures.get("transitions")] for name, found in by.items()}
    drawn = {name: found for name, found in points.items() if found}
    if not drawn:
        return ""
    top = max(1, math.ceil(math.log10(max(value for found in drawn.values() for _, value, _ in found))))
    plot = Plot(720, 430)
    low, high = group.sizes[0], group.sizes[-1]
    x = lambda size: plot.x0 + 8 + (plot.x1 - plot.x0 - 16) * (size - low) / max(1, high - low)
    y = lambda value: plot.y0 + (plot.y1 - plot.y0) * math.log10(max(value, 1)) / top
    for exponent in range(top + 1):
        plot.line("grid", plot.x0, y(10 ** exponent), plot.x1, y(10 ** exponent))
        plot.text(plot.x0 - 6, y(10 ** exponent) + 4, power_of_ten(exponent), "end")
    for size in group.sizes:
        if size == low or size == high or size % 2 == 0:
            plot.text(x(size), plot.y0 + 17, size)
    plot.text((plot.x0 + plot.x1) / 2, plot.y0 + 34, "threads", css="axis")
    plot.vertical_title("transitions")
    items = []
    for name, found in drawn.items():
        color, shape, hollow, dotted = style_of(name)
        css = "line %s%s" % (color, " dotted" if dotted else "")
        mark = "%s %s" % ("hollow" if hollow else "solid", color)
        plot.add('<polyline class="%s" points="%s"/>' % (css, " ".join("%.1f,%.1f" % (x(s), y(v)) for s, v, _ in found)))
        for size, value, status in found:
            more = "more than " if status == "limited" else ""
            plot.add(marker(shape, x(size), y(value), mark, "%s, %d threads: %s%s transitions" % (
                name, size, more, "{:,}".format(value))))
            if more:
                plot.text(x(size), y(value) - 8, "↑", css="tick")
        items.append(('<line class="%s" x1="0" y1="7" x2="34" y2="7"/>%s' % (css, marker(shape, 17, 7, mark, name)), name))
    return plot.drawn(group.title) + legend(items)


# ---- 2007: speed-ups ----

def speedups(group, outcomes):
    found = [(row, outcomes[row.name].points) for row in group.rows if outcomes[row.name].points]
    if not found:
        return ""
    plot = Plot(560, 400)
    most = group.workers[-1]
    x = lambda n: plot.x0 + (plot.x1 - plot.x0) * n / most
    y = lambda s: plot.y0 + (plot.y1 - plot.y0) * s / most
    for value in range(0, most + 1, max(1, most // 8)):
        plot.line("grid", plot.x0, y(value), plot.x1, y(value))
        plot.text(plot.x0 - 6, y(value) + 4, value, "end")
        plot.text(x(value), plot.y0 + 17, value)
    plot.text((plot.x0 + plot.x1) / 2, plot.y0 + 34, "workers", css="axis")
    plot.vertical_title("speed-up")
    plot.line("ideal", x(0), y(0), x(most), y(most))
    items = [('<line class="ideal" x1="0" y1="7" x2="34" y2="7"/>', "as many times as workers")]
    styles = {"original": ("b", "circle"), "modified": ("a", "square"), "ours": ("d", "diamond")}
    programs = list(dict.fromkeys(row.label.rpartition("-")[0] for row, _ in found))
    others = list(dict.fromkeys(row.label.rpartition("-")[2] for row, _ in found))
    for row, points in found:
        program, _, how = row.label.rpartition("-")
        color, shape = styles.get(how) or list(FAMILIES.values())[others.index(how) % len(FAMILIES)]
        second = programs.index(program) > 0
        css = "line %s%s" % (color, " dotted" if second else "")
        mark = "%s %s" % ("hollow" if second else "solid", color)
        plot.add('<polyline class="%s" points="%s"/>' % (css, " ".join("%.1f,%.1f" % (x(n), y(s)) for n, s in points)))
        for n, s in points:
            plot.add(marker(shape, x(n), y(s), mark, "%s, %d workers: %.1f" % (row.label, n, s)))
        name = {"original": "original update", "modified": "modified update", "ours": "our protocol, optimal"}.get(how, how)
        items.append(('<line class="%s" x1="0" y1="7" x2="34" y2="7"/>%s' % (css, marker(shape, 17, 7, mark, name)),
                      "%s, %s" % (program, name)))
    for row, _ in found:
        if "speedup" in row.paper:
            value = row.paper["speedup"].value
            plot.add(marker("triangle", x(most), y(value), "solid c", "the paper: %g" % value))
            items.append((marker("triangle", 17, 7, "solid c", "paper"), "the paper, %s: %g" % (row.label, value)))
    return plot.drawn(group.title) + legend(items)


# ---- tables: the paper's figure and ours, on one logarithmic scale ----

def pairs(group, outcomes, key, unit):
    rows = [(row, row.paper.get(key), outcomes[row.name]) for row in group.rows]
    rows = [(row, figure, o) for row, figure, o in rows if figure or (o.measured() and o.figures.get(key))]
    values = [figure.value for _, figure, _ in rows if figure]
    values += [o.figures[key] for _, _, o in rows if o.measured() and o.figures.get(key)]
    if len(rows) < 2 or not any(o.measured() and o.figures.get(key) for _, _, o in rows):
        return ""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    left = 14 + 7 * max(len(row.label) for row, _, _ in rows)
    plot = Plot(720, 40 + 18 * len(rows), left=left, right=16, top=6, bottom=36)
    x = lambda value: plot.x0 + (plot.x1 - plot.x0) * (math.log10(value) - low) / (high - low)
    for exponent in range(low, high + 1):
        plot.line("grid", x(10.0 ** exponent), plot.y0, x(10.0 ** exponent), plot.y1)
        plot.text(x(10.0 ** exponent), plot.y0 + 15, power_of_ten(exponent))
    plot.text((plot.x0 + plot.x1) / 2, plot.y0 + 30, unit, css="axis")
    for i, (row, figure, outcome) in enumerate(rows):
        y = plot.y1 + 9 + 18 * i
        plot.text(plot.x0 - 8, y + 4, row.label, "end")
        ours = outcome.figures.get(key) if outcome.measured() else None
        if figure and ours:
            plot.line("span", x(figure.value), y, x(ours), y)
        if figure:
            above = "more than " if figure.above else ""
            plot.add(marker("circle", x(figure.value), y, "hollow b", "%s, the paper: %s%g %s" % (row.label, above, figure.value, unit)))
            if figure.above:
                plot.text(x(figure.value) + 6, y + 4, "→", "start")
        if ours:
            more = "more than " if outcome.status == "limited" else ""
            plot.add(marker("diamond", x(ours), y, "solid a", "%s, ours: %s%.3g %s" % (row.label, more, ours, unit)))
            if more:
                plot.text(x(ours) + 7, y + 4, "→", "start")
    items = [(marker("circle", 17, 7, "hollow b", "paper"), "the paper")] if any(figure for _, figure, _ in rows) else []
    items.append((marker("diamond", 17, 7, "solid a", "ours"), "ours"))
    return legend(items) + plot.drawn("%s, %s" % (group.title, unit))


def figure(group, outcomes):
    if group.kind == "curves":
        return curves(group, outcomes)
    if group.kind == "speedup":
        return speedups(group, outcomes)
    if "seconds" in group.columns:
        return pairs(group, outcomes, "seconds", "seconds")
    if "memory" in group.columns:
        return pairs(group, outcomes, "memory", "MB")
    return ""
