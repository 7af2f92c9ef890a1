#!/bin/sh
# What knowing the state costs. Also writes build/capture.tsv.
#
#   sh bench/capture.sh
#
# Time: bench/capture.c under `none`, which makes the same steps and takes them back in the same way whether states are
# captured (--state-capture=always) or not: what is between the two is keeping the identity of the state up to date, at
# each step, and nothing else. Processor time by steps, of a long run less a short one; both kinds of runs take turns, and
# of each the fastest counts. A program that has written to 64 KiB of memory before; a step writes 1, 4 or 16 words of it.
#
# Memory: the peak of a run with more than a million states, less that of a run with a few, by the states.
#
# REPEAT=N   runs of each kind (default 3)
cd "$(dirname "$0")/.." || exit 2
json=build/capture.json tsv=build/capture.tsv
mkdir -p build
mazurka=${MAZURKA:-./mazurka}

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "$json" | head -n 1 | sed 's/^[^:]*: *//'; }

search() { # algorithm, options and program...
    "$mazurka" check --algorithm="$@" --backtrack=undo --quiet --progress=never --json="$json" >build/capture.out 2>&1
    case $? in
    0 | 3) ;;
    *)
        echo "bench: capture under $1: $(head -n 1 build/capture.out)" >&2
        exit 1
        ;;
    esac
}

# Prints ns for each step: of the steps that a long run makes and a short one does not.
per_step() { # options...
    search none --no-sleep-sets --max-executions=5000 "$@"
    short="$(value processor_seconds) $(value transitions)"
    search none --no-sleep-sets --max-executions=80000 "$@"
    echo "$short $(value processor_seconds) $(value transitions)" | awk '{ printf "%.0f\n", ($3 - $1) * 1e9 / ($4 - $2) }'
}

less() { [ -z "$2" ] || [ "$1" -lt "$2" ]; }

printf 'kib\twords\tns_without\tns_with\n' >"$tsv"
printf '%12s %14s %14s %14s %12s\n' 'KiB written' 'words a step' 'without, ns' 'with, ns' 'capture, ns'
for size in '0 1' '64 1' '64 4' '64 16'; do
    kib=${size% *} words=${size#* } without='' with=''
    "$mazurka" cc -O1 -DKIB="$kib" -DWORDS="$words" -DSTEPS=6 -o build/capture bench/capture.c || exit 1
    for _ in $(seq "${REPEAT:-3}"); do
        now=$(per_step build/capture)
        if less "$now" "$without"; then without=$now; fi
        now=$(per_step --state-capture=always build/capture)
        if less "$now" "$with"; then with=$now; fi
    done
    printf '%12s %14s %14s %14s %12s\n' "$kib" "$words" "$without" "$with" $((with - without))
    printf '%s\t%s\t%s\t%s\n' "$kib" "$words" "$without" "$with" >>"$tsv"
done
echo
for algorithm in stateful s-por de-s-por dl-s-por sdpor; do
    search $algorithm -DTHREADS=4 -DSTEPS=2 bench/capture.c
    few=$(value peak_memory_bytes)
    search $algorithm -DTHREADS=4 -DSTEPS=16 bench/capture.c
    echo "$algorithm $(value states) $(value peak_memory_bytes) $few" |
        awk '{ printf "%-9s %9d states, %5.1f bytes each\n", $1, $2, ($3 - $4) / $2 }'
done
echo "Aims: 200 ns, 32 bytes. Table: $tsv"
