# Plots of bench/simulate.sh as SVG: speed-up against the number of workers.
#   -v title=... -v series="KEY=NAME;..." -v most=WORKERS -v scale=linear|log
# Input: rows of build/simulate.tsv; KEY is the first column. The dashed line is a speed-up equal to the number of workers.
BEGIN {
    FS = "\t"
    width = 620; height = 420; left = 60; right = 210; top = 40; bottom = 50
    split("#1b6ca8 #c0392b #2e8b57 #8e44ad #d68910 #16a2b8 #7f8c8d #2c3e50", colours, " ")
    n = split(series, list, ";")
    for (i = 1; i <= n; i++) {
        split(list[i], pair, "=")
        number[pair[1]] = i
        name[i] = pair[2]
    }
}
($1 in number) && $3 <= most {
    i = number[$1]
    x[i, ++count[i]] = $3
    y[i, count[i]] = $4
}
function log2(v) { return log(v) / log(2) }
function xpos(v) { return left + (scale == "log" ? log2(v) / log2(most) : v / most) * (width - left - right) }
function ypos(v) {
    if (scale == "log" && v < 1) v = 1
    return height - bottom - (scale == "log" ? log2(v) / log2(most) : v / most) * (height - top - bottom)
}
function text(px, py, anchor, what, more) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", px, py, anchor, more, what
}
function tick(v,    grid) {
    grid = "stroke=\"#dddddd\" stroke-width=\"1\""
    printf "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" %s/>\n", left, ypos(v), width - right, ypos(v), grid
    printf "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" %s/>\n", xpos(v), top, xpos(v), height - bottom, grid
    text(left - 6, ypos(v) + 4, "end", v)
    text(xpos(v), height - bottom + 16, "middle", v)
}
function mark(px, py, i) {
    if (i % 3 == 1) printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px, py, colours[i]
    else if (i % 3 == 2) printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"5\" fill=\"%s\"/>\n", px - 2.5, py - 2.5, colours[i]
    else printf "<path d=\"M%.1f %.1fm0 -4l4 7h-8z\" fill=\"%s\"/>\n", px, py, colours[i]
}
END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" " \
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", \
        width, height, width, height
    text(left, top - 16, "start", title, " font-size=\"14\"")
    if (scale == "log") for (v = 1; v <= most; v *= 4) tick(v)
    else for (v = 0; v <= most; v += most / 8) tick(v)
    printf "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333333\"/>\n", left, top, height - bottom, width - right
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#333333\" stroke-dasharray=\"4 4\"/>\n", \
        xpos(1), ypos(1), xpos(most), ypos(most)
    text((left + width - right) / 2, height - 12, "middle", "workers")
    printf "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">speed-up</text>\n", (top + height - bottom) / 2
    for (i = 1; i <= n; i++) {
        if (!count[i]) { print "bench: no rows for " name[i] > "/dev/stderr"; bad = 1; continue }
        path = ""
        for (j = 1; j <= count[i]; j++) path = path sprintf("%s%.1f %.1f", j == 1 ? "M" : "L", xpos(x[i, j]), ypos(y[i, j]))
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\"/>\n", path, colours[i]
        for (j = 1; j <= count[i]; j++) mark(xpos(x[i, j]), ypos(y[i, j]), i)
        mark(width - right + 18, top + 12 + 20 * (i - 1), i)
        text(width - right + 30, top + 16 + 20 * (i - 1), "start", name[i])
    }
    print "</svg>"
    exit bad
}
