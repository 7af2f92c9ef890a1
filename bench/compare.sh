#!/bin/sh
# Time and peak memory of all algorithms side by side, on programs of the papers and on clients of data structures.
#
#   sh bench/compare.sh [WORD]      only programs whose name contains the word
#
# LIMIT=S        seconds for a run (default 1.5); a longer run is shown as a time-out
# ALGORITHMS=... default: all
#
# Here `none` runs without sleep sets; `sleep` runs with them.
#
# Writes build/compare.tsv and the plots build/compare-{time,memory}.svg. Fails if two algorithms that finished
# disagree about a program, or if one of them fails.
cd "$(dirname "$0")/.." || exit 2
limit=${LIMIT:-1.5}
algorithms=${ALGORITHMS:-none sleep dpor source optimal stateful s-por de-s-por dl-s-por sdpor portfolio}
tsv=build/compare.tsv json=build/compare.json
mkdir -p build
status=0

# name, file, flags
programs='readers(10) tests/papers/readers.c -DN=10
lastzero(9) tests/papers/lastzero.c -DN=9
indexer(14) tests/papers/indexer.c -DN=14
filesystem(20) tests/papers/filesystem.c -DN=20
wakeup_stress(6) tests/papers/wakeup_stress.c -DN=6
lockers(7) tests/papers/lockers.c -DN=7
example1(64) tests/papers/state_loops.c
sharedArray tests/papers/state_array.c
bbuf(2+2) tests/papers/state_buffer.c -DITEMS=2
bbuf(4+4) tests/papers/state_buffer.c -DP=4
list_coarse-8 bench/structures/list_coarse.c
list_hand-4 bench/structures/list_hand.c
list_lazy-2 bench/structures/list_lazy.c
bst_cas-4 bench/structures/bst_cas.c
queue_ms-2 bench/structures/queue_ms.c
map_striped-4 bench/structures/map_striped.c'

value() { grep -o "\"$1\" *: *\(\"[^\"]*\"\|[0-9.eE+-]*\)" "$json" | head -n 1 | sed 's/^[^:]*: *//; s/"//g'; }

measure() { # program, algorithm, file, flags...
    program=$1 algorithm=$2
    shift 2
    rm -f "$json"
    "${MAZURKA:-./mazurka}" check --strategy=exhaustive --estimate=never --algorithm="$algorithm" --quiet --progress=never --color=never --time-limit="$limit" \
        --json="$json" --trace=build/compare.trace "$@" >build/compare.out 2>&1
    verdict=failed
    [ ! -s "$json" ] || verdict=$(value verdict)
    case $verdict in
    verified | incomplete) ;;
    *)
        echo "bench: $program under $algorithm: $(head -n 1 build/compare.out)" >&2
        status=1
        return
        ;;
    esac
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$program" "$algorithm" "$verdict" "$(value seconds)" \
        "$(value peak_memory_bytes)" "$(value executions)" "$(value states)" "$(value transitions)" \
        "$(value revisited)" "$(value restarts)" >>"$tsv"
}

printf 'client\talgorithm\tverdict\tseconds\tpeak_memory_bytes\texecutions\tstates\ttransitions\trevisited\trestarts\n' >"$tsv"
awk -v seed=1 -v each=8 -f bench/clients.awk >build/compare.clients
while read -r program file flags; do
    case $program in *"$1"*) ;; *) continue ;; esac
    calls=$(sed -n "s/^$program [a-z_]* //p" build/compare.clients)
    for algorithm in $algorithms; do
        # shellcheck disable=SC2086
        measure "$program" "$algorithm" $flags $calls "$file" </dev/null
    done
done <<END
$programs
END

awk -v algorithms="$algorithms" -f bench/compare.awk "$tsv" || status=1
for plot in time memory; do
    awk -v plot=programs-$plot -v limit="$limit" -v algorithms="$algorithms" -f bench/plot.awk "$tsv" \
        >build/compare-$plot.svg || status=1
done
echo "Limit: $limit s. Table: $tsv; plots: build/compare-time.svg, build/compare-memory.svg"
exit $status
