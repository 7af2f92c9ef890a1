#!/bin/sh
# `make bench`: the stateless benchmarks of the papers at their largest sizes, under source and optimal.
#
#   sh bench/run.sh [PROGRAM...]      default: all. Also writes build/bench.tsv.
#
# ns/op is the whole cost of one visible operation: running the program, clocks, race analysis, backtracking,
# starting over. Operations are those of the JSON key "operations". ns/ev is the same time per event: operations without
# a scheduling point (create, join, unlock) are not counted. "switch" is ns/op divided by the time of a fiber switch and
# back, measured in the same run. `mazurka bench` compares with Nidhugg and GenMC, where they are installed.
#
# REPEAT=N   runs of each row; the fastest counts (default 3)
cd "$(dirname "$0")/.." || exit 2
repeat=${REPEAT:-3}
tsv=build/bench.tsv
json=build/bench.json
mkdir -p build

# program, size
rows='indexer 16
filesystem 26
readers 16
lastzero 15
wakeup_stress 8
example1 30
lockers 8'
# The cost of an operation must not grow with the number of executions: the same programs, smaller.
smaller='indexer 15
filesystem 24
readers 14
lastzero 13
wakeup_stress 7
example1 25
lockers 7'

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "$json" | head -n 1 | sed 's/^[^:]*: *//'; }

# Runs one row; sets executions blocked seconds operations memory switch_ns, of the fastest run.
measure() { # program, size, algorithm
    seconds=''
    i=0
    while [ $i -lt "$repeat" ]; do
        i=$((i + 1))
        if ! "${MAZURKA:-./mazurka}" check --strategy=exhaustive --estimate=never --algorithm="$3" --quiet --progress=never --json="$json" -DN="$2" \
            "tests/papers/$1.c" >build/bench.out 2>&1; then
            echo "bench: $1($2) under $3: $(head -n 1 build/bench.out)" >&2
            return 1
        fi
        now=$(value seconds)
        if awk "BEGIN { exit !($now > 5) }"; then i=$repeat; fi # long enough to be exact
        if [ -z "$seconds" ] || awk "BEGIN { exit !($now < $seconds) }"; then
            seconds=$now
            executions=$(value executions) blocked=$(value blocked) operations=$(value operations)
            events=$(value events)
            memory=$(value peak_memory_bytes) switch_ns=$(value switch_ns)
        fi
    done
}

thousands() { # 1234567 -> 1,234,567
    printf '%s' "$1" | sed -e :a -e 's/^\([0-9]\{1,\}\)\([0-9]\{3\}\)/\1,\2/;ta'
}

wanted() { # program, wanted programs...
    one=$1
    shift
    [ $# = 0 ] && return 0
    for w in "$@"; do [ "$w" = "$one" ] && return 0; done
    return 1
}

ns_per_operation() { awk "BEGIN { if (${operations:-0} > 0) printf \"%.0f\", $seconds * 1e9 / $operations; else printf \"-\" }"; }

printf 'program\tsize\talgorithm\texecutions\tblocked\tseconds\texecutions_per_second\toperations\tns_per_operation\tswitch_ns\tpeak_memory_bytes\n' >"$tsv"
status=0
printf '%-17s %-8s %8s %9s %7s %8s %6s %6s %6s %6s\n' \
    program algorithm runs blocked seconds 'runs/s' 'ns/op' 'ns/ev' switch MiB
printf '%.0s-' $(seq 1 88)
echo
# Not in a pipe: the loop sets variables that the script needs after it.
while read -r program size; do
    wanted "$program" "$@" || continue
    for algorithm in source optimal; do
        measure "$program" "$size" "$algorithm" || { status=1 && continue; }
        rate=$(awk "BEGIN { printf \"%.0f\", $executions / ($seconds > 0 ? $seconds : 1e-9) }")
        ns=$(ns_per_operation)
        switches=$(awk "BEGIN { if (\"$ns\" != \"-\" && ${switch_ns:-0} > 0) printf \"%.1f\", $ns / ${switch_ns:-1}; else printf \"-\" }")
        mib=$(awk "BEGIN { printf \"%.1f\", ${memory:-0} / 1048576 }")
        per_event=$(awk "BEGIN { if (${events:-0} > 0) printf \"%.0f\", $seconds * 1e9 / ${events:-1}; else printf \"-\" }")
        printf '%-17s %-8s %8s %9s %7.2f %8s %6s %6s %6s %6s\n' "$program($size)" "$algorithm" \
            "$(thousands "$executions")" "$(thousands "$blocked")" "$seconds" "$(thousands "$rate")" \
            "$ns" "$per_event" "$switches" "$mib"
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$program" "$size" "$algorithm" "$executions" \
            "$blocked" "$seconds" "$rate" "$operations" "$ns" "${switch_ns:-}" "$memory" >>"$tsv"
    done
done <<END
$rows
END

echo
echo "The same, smaller: the cost of one operation must not grow with the number of executions."
while read -r program size; do
    wanted "$program" "$@" || continue
    for algorithm in source optimal; do
        measure "$program" "$size" "$algorithm" || { status=1 && continue; }
        printf '%-17s %-8s %8s %24s %13s\n' "$program($size)" "$algorithm" "$(thousands "$executions")" '' \
            "$(ns_per_operation) ns/op"
        printf '%s\t%s\t%s\t%s\t%s\t%s\t\t%s\t%s\t%s\t%s\n' "$program" "$size" "$algorithm" "$executions" \
            "$blocked" "$seconds" "$operations" "$(ns_per_operation)" "${switch_ns:-}" "$memory" >>"$tsv"
    done
done <<END
$smaller
END
echo
[ -z "$switch_ns" ] || echo "One round trip of a fiber switch: $switch_ns ns."
echo "Aims: source 150 ns/op and 4 switches, optimal 250 ns/op and 7 switches;" \
    "filesystem(26) 20 and 64 MiB. Table: $tsv"
exit $status
