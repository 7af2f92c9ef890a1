# Makes clients of the data structures in bench/structures: random calls of three threads, the same for the same seed.
#
#   awk -v seed=1 -v each=8 -f bench/clients.awk      lines: NAME STRUCTURE FLAGS...
#
# The clients of a structure grow from the smallest to the largest number of calls in its line below (at most five per
# thread). They take turns in how many different keys they use: fewer keys mean more contention. rand() differs between
# versions of awk, so this file has its own random numbers (Park and Miller).
function next_random(below) {
    state = (state * 16807) % 2147483647
    return int(state / 2147483647 * below)
}

function shuffle_seed(number,    i) {
    state = (seed * 7919 + number * 104729) % 2147483646 + 1
    for (i = 0; i < 10; i++) next_random(2)
}

function set_call(keys,    dice) {
    dice = next_random(20)
    return (dice < 9 ? "a" : dice < 16 ? "r" : "c") (1 + next_random(keys))
}

function queue_call() {
    if (next_random(5) < 2 || value == 9) return "d0"
    return "e" (++value)
}

function client(structure, number, total, keys,    t, i, flags, before) {
    value = 0
    before = ""
    if (structure ~ /^queue/) {
        for (i = next_random(3); i > 0; i--) before = before (before == "" ? "" : ",") "e" (++value)
    } else {
        for (i = 1; i <= keys; i++)
            if (next_random(2)) before = before (before == "" ? "" : ",") "a" i
    }
    for (t = 1; t <= 3; t++) calls[t] = ""
    for (i = 0; i < total; i++) {
        t = i % 3 + 1
        calls[t] = calls[t] (calls[t] == "" ? "" : ",") (structure ~ /^queue/ ? queue_call() : set_call(keys))
    }
    flags = before == "" ? "" : " -DT0=" before
    for (t = 1; t <= 3; t++)
        if (calls[t] != "") flags = flags " -DT" t "=" calls[t]
    print structure "-" number, structure flags
}

BEGIN {
    if (seed == "") seed = 1
    if (each == "") each = 8
    # structure, least and most calls
    n = split("list_coarse 8 15;list_rwlock 7 15;list_hand 7 13;list_optimistic 4 8;list_lazy 4 9;bst_cas 3 5;" \
              "queue_ms 4 7;map_striped 9 15", lines, ";")
    split("2 1 3 5", keys, " ")
    for (s = 1; s <= n; s++) {
        split(lines[s], line, " ")
        shuffle_seed(s)
        for (c = 0; c < each; c++)
            client(line[1], c + 1, int(line[2] + (line[3] - line[2]) * (each > 1 ? c / (each - 1) : 0) + 0.5), keys[c % 4 + 1])
    }
}
