# Prints the tables of bench/compare.sh: one row per program, one column per algorithm. -v algorithms="..."
BEGIN { FS = "\t" }

NR > 1 {
    if (!($1 in seen)) { seen[$1] = 1; program[++programs] = $1 }
    over = $3 == "incomplete"
    seconds[$1, $2] = over ? "-" : $4 < 0.9995 ? sprintf("%.3f", $4) : sprintf("%.2f", $4)
    memory[$1, $2] = sprintf("%.0f%s", $5 / 1048576, over ? "+" : "")
    runs[$1, $2] = over ? "-" : $7 > 0 ? $7 : $6
}

function table(title, what,    i, j) {
    printf "%-17s", title
    for (j = 1; j <= n; j++) printf "%10s", list[j]
    print ""
    for (i = 1; i <= programs; i++) {
        printf "%-17s", program[i]
        for (j = 1; j <= n; j++) printf "%10s", ((program[i], list[j]) in what) ? what[program[i], list[j]] : "failed"
        print ""
    }
    print ""
}

END {
    n = split(algorithms, list, " ")
    table("seconds", seconds)
    table("peak MiB", memory)
    table("runs or states", runs)
    print "-: not finished in time (+: memory by then). Runs of stateless algorithms, states of the others."
}
