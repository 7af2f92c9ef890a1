# Prints the table of bench/structures.sh: every algorithm against s-por, on the clients that both finished.
# -v algorithms="..."; the ratios of time, memory, states and transitions are geometric means.
# "faster" is the mean of the ratios, as in 2023: over all clients, and over those where the algorithm leaves out at least
# 30 % of the states of s-por. Fails if two algorithms disagree.
BEGIN { FS = "\t" }

NR > 1 {
    clients[$1] = 1
    if ($3 == "incomplete") next
    if (($1 in verdict) && verdict[$1] != $3) {
        print "bench: " $1 ": " $3 " under " $2 ", but " verdict[$1] " under others" > "/dev/stderr"
        disagree = 1
    }
    verdict[$1] = $3
    finished[$2]++
    seconds[$1, $2] = $4 > 0.000001 ? $4 : 0.000001
    memory[$1, $2] = $5
    states[$1, $2] = $7
    transitions[$1, $2] = $8
    all_seconds[$2] += $4
    all_transitions[$2] += $8
    if ($10 > most_restarts[$2]) most_restarts[$2] = $10
}

function ratio(sum, n) { return n ? sprintf("%.2f", exp(sum / n)) : "-" }
function mean(sum, n) { return n ? sprintf("%.1f", sum / n) : "-" }

END {
    for (c in clients) count++
    printf "%-10s %8s %9s %8s %8s %8s %8s %12s %8s %9s\n", "algorithm", "finished", "us/trans", "time", "memory", "states", \
        "trans", "faster(high)", "restarts", "of s-por"
    n = split(algorithms, list, " ")
    for (i = 1; i <= n; i++) {
        a = list[i]
        both = high = with_states = 0
        t = m = s = r = f = h = 0
        for (c in clients) {
            if (!((c, a) in seconds) || !((c, "s-por") in seconds)) continue
            both++
            t += log(seconds[c, a] / seconds[c, "s-por"])
            m += log(memory[c, a] / memory[c, "s-por"])
            r += log(transitions[c, a] / transitions[c, "s-por"])
            f += seconds[c, "s-por"] / seconds[c, a]
            if (!states[c, a]) continue
            with_states++
            s += log(states[c, a] / states[c, "s-por"])
            if (states[c, a] > 0.7 * states[c, "s-por"]) continue
            high++
            h += seconds[c, "s-por"] / seconds[c, a]
        }
        printf "%-10s %4d/%-3d %9s %8s %8s %8s %8s %5s (%4s) %8d %9d\n", a, finished[a], count, \
            all_transitions[a] ? sprintf("%.2f", all_seconds[a] * 1e6 / all_transitions[a]) : "-", ratio(t, both), \
            ratio(m, both), ratio(s, with_states), ratio(r, both), mean(f, both), mean(h, high), most_restarts[a], both
    }
    exit disagree
}
