#!/bin/sh
# What knowing the state costs: bench/capture.c under `stateful`, and under `none`, which makes the same steps and takes
# them back in the same way but never asks for a state. (With few steps for each thread: then it goes back as often,
# every second or third step.) Also writes build/capture.tsv.
#
#   sh bench/capture.sh
#
# ns/step is the time of a run by the steps it has made. The difference is all of the stateful search: to keep the
# identity of the state up to date, to look it up, to keep it, and the bookkeeping of the search. Bytes per state: the
# peak memory of a run, less that of a run with few states, by the states it has kept.
#
# REPEAT=N   runs of each row, the fastest counts (default 3)
cd "$(dirname "$0")/.." || exit 2
json=build/capture.json tsv=build/capture.tsv
mkdir -p build

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "$json" | head -n 1 | sed 's/^[^:]*: *//'; }

# Sets ns, of the fastest run, states, memory.
measure() { # algorithm, options and flags...
    ns=''
    i=0
    while [ $i -lt "${REPEAT:-3}" ]; do
        i=$((i + 1))
        "${MAZURKA:-./mazurka}" check --algorithm="$@" --backtrack=undo --quiet --progress=never --json="$json" \
            bench/capture.c >build/capture.out 2>&1
        case $? in
        0 | 3) ;;
        *)
            echo "bench: capture under $1: $(head -n 1 build/capture.out)" >&2
            exit 1
            ;;
        esac
        now=$(awk "BEGIN { printf \"%.0f\", $(value seconds) * 1e9 / $(value transitions) }")
        if [ -z "$ns" ] || [ "$now" -lt "$ns" ]; then ns=$now; fi
        states=$(value states) memory=$(value peak_memory_bytes)
    done
}

printf 'kib\twords\talgorithm\tns_per_step\n' >"$tsv"
printf '%12s %14s %14s %14s %12s\n' 'KiB written' 'words a step' 'stateful ns' 'none ns' 'difference'
for size in '0 1' '64 1' '64 16' '128 1'; do
    kib=${size% *} words=${size#* }
    measure stateful -DKIB="$kib" -DWORDS="$words" -DSTEPS=150
    stateful=$ns
    measure none --no-sleep-sets --max-executions=30000 -DKIB="$kib" -DWORDS="$words" -DSTEPS=6
    printf '%12s %14s %14s %14s %12s\n' "$kib" "$words" "$stateful" "$ns" $((stateful - ns))
    printf '%s\t%s\tstateful\t%s\n%s\t%s\tnone\t%s\n' "$kib" "$words" "$stateful" "$kib" "$words" "$ns" >>"$tsv"
done
REPEAT=1
for algorithm in stateful s-por de-s-por dl-s-por sdpor; do
    measure $algorithm -DSTEPS=2
    few=$memory
    measure $algorithm -DSTEPS=300
    awk "BEGIN { printf \"%-9s %9d states, %5.1f bytes each\n\", \"$algorithm\", $states, ($memory - $few) / $states }"
done
echo "Aims: 200 ns to keep the identity up to date, 32 bytes. Table: $tsv"
