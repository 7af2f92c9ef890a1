#!/bin/sh
# `make bench-simulate`: simulates searches by many workers on the recorded trees of real searches (tools/simulate). First
# the benchmarks of 2007 at the paper's sizes, under the paper's protocol with the original and with the modified update,
# and under our own; then ours on ten million executions, up to 4096 workers, for cheap and expensive executions.
# Takes about ten minutes and 2 GiB of memory.
#
#   sh bench/simulate.sh [small]       small: without the largest tree and the long simulations (half a minute)
#
# Writes build/simulate.tsv and the plots build/simulate-*.svg; trees are kept in build/trees.
cd "$(dirname "$0")/.." || exit 2
simulate=build/mz-simulate
trees=build/trees
tsv=build/simulate.tsv
small=${1:+small}
status=0
mkdir -p $trees
rm -f $tsv

# ---- recording ----

record() { # NAME ARGUMENTS...
    tree=$trees/$1.tree
    shift
    [ -s "$tree" ] && [ -n "$(find "$tree" -newer build/libmazurka.so)" ] && return # made by this build
    if ! ./mazurka check --quiet --progress=never --json="$trees/json" --record-tree="$tree" "$@" >$trees/out 2>&1; then
        echo "bench: $*: $(head -n 1 $trees/out)" >&2
        rm -f "$tree"
        status=1
    fi
}

for update in last all; do
    record fs-$update --algorithm=dpor --update=$update -DN=26 tests/papers/filesystem.c
    record indexer-$update --algorithm=dpor --update=$update -DN=16 tests/papers/indexer.c
    record aget-$update --algorithm=dpor --update=$update tests/papers/aget.c
    [ -n "$small" ] || record bbuf-$update --algorithm=dpor --update=$update -DFIFO tests/papers/bbuf.c
done
record fs -DN=26 tests/papers/filesystem.c
record indexer -DN=16 tests/papers/indexer.c
record aget tests/papers/aget.c
[ -n "$small" ] || record bbuf -DFIFO tests/papers/bbuf.c
[ -n "$small" ] || record large tests/papers/bbuf.c

# ---- simulating ----

run() { # NAME TREE ARGUMENTS...
    name=$1
    tree=$trees/$2.tree
    shift 2
    echo "$name: $*"
    $simulate --tsv=$tsv --name="$name" "$@" "$tree" || status=1
    echo
}

# The time of a run is from Table 1 of the paper; the time of a message is that of a cluster of 2007.
few=4,8,16,24,32,40,48,56,64
paper() { # NAME EXECUTION
    for update in last all; do
        run "$1-$update" "$1-$update" --protocol=paper --workers="${3:-$few}" --step=0 --execution="$2" \
            --latency=100us --task=50us --done=50us --start=0
    done
    run "$1-ours" "$1" --workers=$few --step=0 --execution="$2" --latency=100us --start=0
}
paper fs 35.6ms
paper indexer 36.3ms
paper aget 49.9ms
[ -n "$small" ] || paper bbuf 20.5ms 8,16,32,64

many=16,32,64,128,256,512,1024,2048,4096
if [ -z "$small" ]; then
    run large-20ms large --workers=$many --step=0 --execution=20ms --latency=100us
    run large-1ms large --workers=$many --step=0 --execution=1ms --latency=50us
    run large-100us large --workers=$many --step=0 --execution=100us --latency=50us
    run large-own large --workers=$many --step=1us --latency=5us
    run large-untold large --workers=$many --step=1us --latency=5us --untold
    run large-again large --workers=$many --step=1us --latency=5us --untold --again
    run large-single large --workers=$many --step=1us --latency=5us --untold --single --wait
fi

# ---- plots ----

plot() { # FILE SCALE MOST TITLE SERIES
    awk -v scale="$2" -v most="$3" -v title="$4" -v series="$5" -f bench/speedup.awk $tsv >"build/simulate-$1.svg" || status=1
}

plot fig11 linear 64 'indexer(16) and file system(26), after 2007, Fig. 11' \
    'indexer-all=indexer, modified update;indexer-last=indexer, original update;indexer-ours=indexer, ours;fs-all=file system, modified;fs-last=file system, original;fs-ours=file system, ours'
plot fig13 linear 64 'aget, after 2007, Fig. 13' \
    'aget-all=modified update;aget-last=original update;aget-ours=ours'
if [ -z "$small" ]; then
    plot fig12 linear 64 'bounded buffer 4 + 4, after 2007, Fig. 12' \
        'bbuf-all=modified update;bbuf-last=original update;bbuf-ours=ours'
    plot scaling log 4096 'Ten million executions, ours' \
        'large-20ms=an execution 20 ms;large-1ms=1 ms;large-100us=100 us;large-own=our own speed, 7 us;large-untold=the same, ways not told;large-again=and all asked again;large-single=the same, one leaf, waiting'
fi
echo "Table: $tsv; plots: build/simulate-*.svg"
exit $status
