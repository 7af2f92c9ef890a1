#!/bin/sh
# Measures the cost of state capture: keeping the identity of the state up to date. Also writes build/capture.tsv.
#
#   sh bench/capture.sh
#
# Time: runs bench/capture.c under `none`, with and without capture of states (--state-capture=always). Both runs make the
# same steps and take them back in the same way, so the difference is the cost of keeping the identity of the state up to
# date. The figure is processor time per step, of a long run minus a short one. All kinds of runs take turns, and the
# fastest of each counts. The program has written to 64 KiB of memory before; a step writes 1, 4 or 16 words of it.
#
# Memory: the peak of a run with more than a million states, minus the peak of a run with a few states, divided by the
# number of states.
#
# REPEAT=N   runs of each kind (default 8)
cd "$(dirname "$0")/.." || exit 2
json=build/capture.json tsv=build/capture.tsv
mkdir -p build
mazurka=${MAZURKA:-./mazurka}

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "$json" | head -n 1 | sed 's/^[^:]*: *//'; }

search() { # algorithm, options and program...
    algorithm=$1
    shift
    "$mazurka" check --algorithm="$algorithm" "$@" --backtrack=undo --quiet --progress=never --json="$json" >build/capture.out 2>&1
    case $? in
    0 | 3) ;;
    *)
        echo "bench: capture under $algorithm: $(head -n 1 build/capture.out)" >&2
        exit 1
        ;;
    esac
}

# Runs the given number of executions; sets $least to the smallest processor seconds so far, and the steps.
again() { # $least so far, executions, options...
    least=$1 executions=$2
    shift 2
    search none --max-executions="$executions" "$@"
    least=$(echo "$(value processor_seconds) $(value transitions) $least" | awk '{ print NF < 4 || $1 < $3 ? $1 " " $2 : $3 " " $4 }')
}

# Nanoseconds per step: (time of the long run - time of the short run) / (steps of the long run - steps of the short run).
per_step() { echo "$1 $2" | awk '{ printf "%.0f\n", ($3 - $1) * 1e9 / ($4 - $2) }'; }

printf 'kib\twords\tns_without\tns_with\n' >"$tsv"
printf '%12s %14s %14s %14s %12s\n' 'KiB written' 'words a step' 'without, ns' 'with, ns' 'capture, ns'
for size in '0 1' '64 1' '64 4' '64 16'; do
    kib=${size% *} words=${size#* } short='' long='' short_with='' long_with=''
    "$mazurka" cc -O1 -DKIB="$kib" -DWORDS="$words" -DSTEPS=6 -o build/capture bench/capture.c || exit 1
    for _ in $(seq "${REPEAT:-8}"); do
        again "$short" 1000 build/capture && short=$least
        again "$long" 16000 build/capture && long=$least
        again "$short_with" 1000 --state-capture=always build/capture && short_with=$least
        again "$long_with" 16000 --state-capture=always build/capture && long_with=$least
    done
    without=$(per_step "$short" "$long") with=$(per_step "$short_with" "$long_with")
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
