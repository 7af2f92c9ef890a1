#!/bin/sh
# `make bench-structures`: runs all algorithms on clients of concurrent sets, maps and queues (2023, section 5).
#
#   sh bench/structures.sh [sample]     sample: two small clients of each structure, as in `make bench`
#
# LIMIT=S        seconds for a run (default 5; sample: 2)
# SEED=N         other clients (default 1)
# EACH=N         clients of each structure (default 8)
# REPEAT=N       runs of each row that takes less than half a second; the fastest counts (default 3; sample: 1)
# BUG=1          the broken variants: how soon is the error found?
# ONLY=WORD      only the clients whose name contains WORD
# ALGORITHMS=... default: optimal stateful s-por de-s-por dl-s-por sdpor
#
# Seconds are processor time, including the start of the program. LIMIT is wall-clock time.
#
# Writes build/structures.tsv, and the plots build/structures-{time,memory,scatter}.svg. Fails if two algorithms that
# finished disagree about a client, or if one of them fails.
cd "$(dirname "$0")/.." || exit 2
each=${EACH:-8} limit=${LIMIT:-5} repeat=${REPEAT:-3} numbers='*'
[ "$1" != sample ] || { limit=${LIMIT:-2} repeat=${REPEAT:-1} numbers='*-[24]'; }
algorithms=${ALGORITHMS:-optimal stateful s-por de-s-por dl-s-por sdpor}
name=structures${1:+-$1}${BUG:+-bug}
tsv=build/$name.tsv json=build/$name.json
mkdir -p build
status=0

value() { grep -o "\"$1\" *: *\(\"[^\"]*\"\|[0-9.eE+-]*\)" "$json" | head -n 1 | sed 's/^[^:]*: *//; s/"//g'; }

run() { # algorithm, file, flags...
    rm -f "$json"
    algorithm=$1 file=$2
    shift 2
    "${MAZURKA:-./mazurka}" check --strategy=exhaustive --estimate=never --algorithm="$algorithm" --quiet --progress=never --color=never --time-limit="$limit" \
        --json="$json" --trace=build/$name.trace ${BUG:+-DBUG} "$@" "$file" >build/$name.out 2>&1
}

less() { awk "BEGIN { exit !($1 < $2) }"; }

# One line of the table.
measure() { # client, algorithm, file, flags...
    client=$1 seconds='' i=0
    shift
    while [ $i -lt "$repeat" ]; do
        i=$((i + 1))
        run "$@"
        [ -s "$json" ] || break
        now=$(value processor_seconds)
        if [ -z "$seconds" ] || less "$now" "$seconds"; then seconds=$now; fi
        less "$now" 0.5 || break
    done
    verdict=failed
    [ ! -s "$json" ] || verdict=$(value verdict)
    case $verdict${BUG:+-bug} in
    verified* | incomplete* | error-bug) ;;
    *)
        echo "bench: $client under $1: $(head -n 1 build/$name.out)" >&2
        status=1
        ;;
    esac
    [ "$verdict" != failed ] || return
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$client" "$1" "$verdict" "${seconds:-$now}" \
        "$(value peak_memory_bytes)" "$(value executions)" "$(value states)" "$(value transitions)" \
        "$(value revisited)" "$(value restarts)" >>"$tsv"
}

printf 'client\talgorithm\tverdict\tseconds\tpeak_memory_bytes\texecutions\tstates\ttransitions\trevisited\trestarts\n' >"$tsv"
awk -v seed="${SEED:-1}" -v each="$each" -f bench/clients.awk >build/$name.clients
while read -r client structure flags; do
    case $client in *"${ONLY:-}"*) ;; *) continue ;; esac
    # shellcheck disable=SC2254
    case $client in $numbers) ;; *) continue ;; esac
    for algorithm in $algorithms; do
        # shellcheck disable=SC2086
        measure "$client" "$algorithm" "bench/structures/$structure.c" $flags </dev/null
    done
done <build/$name.clients

awk -v algorithms="$algorithms" -f bench/summary.awk "$tsv" || status=1
for plot in time memory scatter; do
    awk -v plot=$plot -v limit="$limit" -v algorithms="$algorithms" -f bench/plot.awk "$tsv" >build/$name-$plot.svg || status=1
done
echo "Table: $tsv; plots: build/$name-time.svg, -memory.svg, -scatter.svg"
exit $status
