# Plots of bench/structures.sh and bench/compare.sh as SVG.
# -v plot=time|memory|scatter|programs-time|programs-memory -v limit=SECONDS -v algorithms="..."
#
# time, memory: quantile plots. For each algorithm, the clients that it finished, sorted by time or memory: a point (n, y)
# means that it finishes n clients with at most y each. scatter: one point per client, its time under s-por and
# dl-s-por; unfinished clients are at the limit. programs-: a column per program, with the mark of each algorithm;
# unfinished ones are hollow, at the limit. All scales of time and memory are logarithmic.
BEGIN {
    FS = "\t"
    width = 760; height = 440; left = 70; right = 170; top = 40; bottom = 50
    split("#1b6ca8 #c0392b #2e8b57 #8e44ad #d68910 #16a2b8 #7f8c8d #2c3e50 #e377c2 #6b8e23 #8b4513", colours, " ")
    split("circle square diamond up down cross circle square diamond up down", marks, " ")
    programs = plot ~ /^programs/
    if (programs) { width = 1000; height = 520; bottom = 120; right = 130 }
    n = split(algorithms, list, " ")
    for (i = 1; i <= n; i++) number[list[i]] = i
    if (plot == "scatter") width = height + right - left + 70
}

NR > 1 && programs {
    v = plot ~ /time/ ? ($3 == "incomplete" ? limit : $4 > 0.0001 ? $4 : 0.0001) : $5 / 1048576
    at[$1, $2] = v
    over[$1, $2] = $3 == "incomplete"
    range(v)
    if (!($1 in seen)) { seen[$1] = 1; client[++clients] = $1 }
}
NR > 1 && plot != "scatter" && !programs && $3 != "incomplete" {
    count[$2]++
    y[$2, count[$2]] = plot == "time" ? ($4 > 0.0001 ? $4 : 0.0001) : $5 / 1048576
    range(y[$2, count[$2]])
    if (count[$2] > most) most = count[$2]
}
NR > 1 && plot == "scatter" && ($2 == "s-por" || $2 == "dl-s-por") {
    v = $3 == "incomplete" ? limit : $4 > 0.0001 ? $4 : 0.0001
    at[$1, $2] = v
    range(v)
    structure = $1
    sub(/-[0-9]+$/, "", structure)
    if (!(structure in number)) {
        number[structure] = ++structures
        names[structures] = structure
    }
    kind[$1] = structure
    if (!($1 in seen)) { seen[$1] = 1; client[++clients] = $1 }
}

function range(v) {
    if (!low || v < low) low = v
    if (v > high) high = v
}

function log10(v) { return log(v) / log(10) }
function floor(v) { return v < int(v) ? int(v) - 1 : int(v) }

# Limits of an axis: 1, 2 or 5 times a power of ten.
function nice(v, up,    e, f) {
    e = 10 ^ floor(log10(v) + 1e-9)
    f = v / e
    if (up) return f <= 1.0001 ? e : f <= 2.0001 ? 2 * e : f <= 5.0001 ? 5 * e : 10 * e
    return f >= 4.9999 ? 5 * e : f >= 1.9999 ? 2 * e : e
}

function ypos(v) { return height - bottom - (log10(v) - log10(low)) / (log10(high) - log10(low)) * (height - top - bottom) }
function xpos(v) {
    if (plot == "scatter") return left + (log10(v) - log10(low)) / (log10(high) - log10(low)) * (width - left - right)
    return left + v / most * (width - left - right)
}
function column(i) { return left + (i - 1) * (width - left - right) / clients }

function text(x, y, anchor, what, more) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, more, what
}

function line(x1, y1, x2, y2, style) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style
}

function mark(shape, x, y, colour) {
    if (shape == "circle")
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, colour
    else if (shape == "square")
        printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"5\" fill=\"%s\"/>\n", x - 2.5, y - 2.5, colour
    else if (shape == "cross")
        printf "<path d=\"M%.1f %.1fl6 6m0 -6l-6 6\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", x - 3, y - 3, colour
    else
        printf "<path d=\"M%.1f %.1f%s\" fill=\"%s\"/>\n", x, y, shape == "up" ? "m0 -4l4 7h-8z" : \
            shape == "down" ? "m0 4l4 -7h-8z" : "m0 -4l4 4l-4 4l-4 -4z", colour
}

function number_text(v) { return v >= 0.001 ? sprintf("%g", v) : sprintf("%.4f", v) }

# Decades, and 2 and 5 between them where there is room.
function ticks(    v, e, few, grid) {
    few = log10(high / low) < 2.5
    grid = "stroke=\"#dddddd\" stroke-width=\"1\""
    for (e = floor(log10(low) + 1e-9); e <= log10(high) + 1e-9; e++) {
        for (v = 1; v <= 5; v += v == 1 ? 1 : 3) {
            if ((v > 1 && !few) || v * 10 ^ e < low * 0.999 || v * 10 ^ e > high * 1.001) continue
            line(left, ypos(v * 10 ^ e), width - right, ypos(v * 10 ^ e), grid)
            text(left - 8, ypos(v * 10 ^ e) + 4, "end", number_text(v * 10 ^ e))
            if (plot != "scatter") continue
            line(xpos(v * 10 ^ e), top, xpos(v * 10 ^ e), height - bottom, grid)
            text(xpos(v * 10 ^ e), height - bottom + 18, "middle", number_text(v * 10 ^ e))
        }
    }
}

function sort(a, k,    i, j, v) {
    for (i = 2; i <= k; i++) {
        v = y[a, i]
        for (j = i - 1; j >= 1 && y[a, j] > v; j--) y[a, j + 1] = y[a, j]
        y[a, j + 1] = v
    }
}

function legend(row, shape, colour, what) {
    mark(shape, width - right + 22, top + 12 + 20 * row, colour)
    text(width - right + 34, top + 16 + 20 * row, "start", what)
}

function frame(title, xlabel, ylabel) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" " \
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", \
        width, height, width, height
    text(left, top - 16, "start", title, " font-size=\"14\"")
    ticks()
    printf "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333333\"/>\n", left, top, height - bottom, width - right
    text((left + width - right) / 2, height - 12, "middle", xlabel)
    printf "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", \
        (top + height - bottom) / 2, ylabel
}

function quantiles(    i, j, a, path, step) {
    frame(plot == "time" ? "Time of each algorithm" : "Peak memory of each algorithm", \
        "clients finished, each algorithm in its own order", plot == "time" ? "seconds" : "MiB")
    step = most > 30 ? 10 : most > 12 ? 5 : 1
    for (i = step; i <= most; i += step) text(xpos(i), height - bottom + 18, "middle", i)
    for (i = 1; i <= n; i++) {
        a = list[i]
        sort(a, count[a])
        path = ""
        for (j = 1; j <= count[a]; j++) path = path sprintf("%s%.1f %.1f", j == 1 ? "M" : "L", xpos(j), ypos(y[a, j]))
        if (path != "") printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.2\"/>\n", path, colours[i]
        for (j = 1; j <= count[a]; j++) mark(marks[i], xpos(j), ypos(y[a, j]), colours[i])
        legend(i - 1, marks[i], colours[i], a " (" count[a] + 0 ")")
    }
}

function scatter(    i, c, s) {
    frame("dl-s-por and s-por, client by client", "seconds, s-por", "seconds, dl-s-por")
    line(xpos(low), ypos(low), xpos(high), ypos(high), "stroke=\"#333333\" stroke-dasharray=\"4 4\"")
    line(xpos(limit), top, xpos(limit), height - bottom, "stroke=\"#c0392b\" stroke-dasharray=\"2 3\"")
    line(left, ypos(limit), width - right, ypos(limit), "stroke=\"#c0392b\" stroke-dasharray=\"2 3\"")
    for (i = 1; i <= clients; i++) {
        c = client[i]
        s = number[kind[c]]
        if (((c, "s-por") in at) && ((c, "dl-s-por") in at))
            mark(marks[s], xpos(at[c, "s-por"]), ypos(at[c, "dl-s-por"]), colours[s])
    }
    for (i = 1; i <= structures; i++) legend(i - 1, marks[i], colours[i], names[i])
}

# Within a column the algorithms stand side by side, in their order.
function each_program(    i, j, c, x, wide) {
    frame(plot ~ /time/ ? "Time of each algorithm, program by program" : \
        "Peak memory of each algorithm, program by program", "", plot ~ /time/ ? "seconds" : "MiB")
    wide = (width - left - right) / clients
    if (plot ~ /time/)
        line(left, ypos(limit), width - right, ypos(limit), "stroke=\"#c0392b\" stroke-dasharray=\"2 3\"")
    for (i = 1; i <= clients; i++) {
        c = client[i]
        if (i > 1) line(column(i), top, column(i), height - bottom, "stroke=\"#eeeeee\"")
        printf "<text transform=\"translate(%.1f %.1f) rotate(-35)\" text-anchor=\"end\">%s</text>\n", \
            column(i) + wide / 2 + 4, height - bottom + 16, c
        for (j = 1; j <= n; j++) {
            if (!((c, list[j]) in at)) continue
            x = column(i) + wide * j / (n + 1)
            if (over[c, list[j]])
                printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"white\" stroke=\"%s\"/>\n", x, \
                    ypos(at[c, list[j]]), colours[j]
            else
                mark(marks[j], x, ypos(at[c, list[j]]), colours[j])
        }
    }
    for (j = 1; j <= n; j++) legend(j - 1, marks[j], colours[j], list[j])
}

END {
    if (!high) { print "bench: nothing to plot" > "/dev/stderr"; exit 1 }
    if (plot == "scatter") range(limit)
    low = nice(low, 0)
    high = nice(high, 1)
    if (high <= low) high = 10 * low
    if (programs) each_program()
    else if (plot == "scatter") scatter()
    else quantiles()
    print "</svg>"
}
