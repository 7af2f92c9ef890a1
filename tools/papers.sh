#!/bin/sh
# Writes the tables of docs/PAPERS.md anew, from runs of the programs in tests/papers.
#
#   sh tools/papers.sh          all rows but the longest; about a minute
#   ALL=1 sh tools/papers.sh    every row
#
# The paper's figure is "traces explored": complete executions and those that sleep sets cut short. Ours is
# printed as executions+blocked when something was blocked.
cd "$(dirname "$0")/.." || exit 2
page=docs/PAPERS.md
json=build/papers.json
table=build/papers.table
mkdir -p build

value() { grep -o "\"$1\" *: *[0-9.eE+-]*" "$json" | head -n 1 | sed 's/^[^:]*: *//'; }
thousands() { printf '%s' "$1" | sed -e :a -e 's/^\([0-9]\{1,\}\)\([0-9]\{3\}\)/\1,\2/;ta'; }

# Prints "executions" or "executions+blocked = total" of one run.
count() { # program, flags, algorithm
    # shellcheck disable=SC2086
    "${MAZURKA:-./mazurka}" check --algorithm="$3" --quiet --progress=never --time-limit=900 --json="$json" $2 \
        "tests/papers/$1.c" >build/papers.out 2>&1 || { printf 'failed' && return; }
    e=$(value executions) b=$(value blocked)
    if [ "$b" = 0 ]; then thousands "$e"
    else printf '%s (%s blocked)' "$(thousands $((e + b)))" "$(thousands "$b")"
    fi
}

# where; program; flags; classic, source, optimal of the paper (- : no figure, x : not even run); L: only with ALL=1
rows='2005 section 3; section3; ; 3; -; 3
2005 Fig. 1; indexer; -DN=11; 1; -; 1
2005 Fig. 7; filesystem; -DN=13; 1; -; 1
2017 Fig. 1; fig1; ; 5; 4; 4
2017 Table 1, n=1; fig10; -DN=1; -; 8; 5
2017 Table 1, n=2; fig10; -DN=2; -; 20; 9
2017 Table 1, n=3; fig10; -DN=3; -; 41; 13
2017 Table 1, n=4; fig10; -DN=4; -; 78; 17
2017 Table 1, n=5; fig10; -DN=5; -; 145; 21
2017 Table 1, n=6; fig10; -DN=6; -; 268; 25
2017 Table 1, n=7; fig10; -DN=7; -; 373; 29
2017 Table 1, n=8; fig10; -DN=8; -; 674; 33
2017 Table 1, n=9; fig10; -DN=9; -; 1222; 37
2017 Table 2, n=1; wakeup_stress; -DN=1; -; 2; 2
2017 Table 2, n=2; wakeup_stress; -DN=2; -; 4; 4
2017 Table 2, n=3; wakeup_stress; -DN=3; -; 12; 12
2017 Table 2, n=4; wakeup_stress; -DN=4; -; 48; 48
2017 Table 2, n=5; wakeup_stress; -DN=5; -; 240; 240
2017 Table 2, n=6; wakeup_stress; -DN=6; -; 1440; 1440
2017 Table 2, n=7; wakeup_stress; -DN=7; -; 10080; 10080
2017 Table 2, n=8; wakeup_stress; -DN=8; x; 80640; 80640
2017 Table 2, n=9; wakeup_stress; -DN=9; x; 725760; 725760; L
2017 Table 3; filesystem; -DN=14; 4; 2; 2
2017 Table 3; filesystem; -DN=16; 64; 8; 8
2017 Table 3; filesystem; -DN=18; 1024; 32; 32
2017 Table 3; filesystem; -DN=19; 4096; 64; 64
2005 Fig. 8, largest; filesystem; -DN=26; x; -; -
2017 Table 3; indexer; -DN=12; 78; 8; 8
2017 Table 3; indexer; -DN=15; 341832; 4096; 4096
2005 Fig. 6, largest; indexer; -DN=16; x; -; -
2017 Table 4; readers; -DN=2; 5; 4; 4
2017 Table 4; readers; -DN=8; 3281; 256; 256
2017 Table 4; readers; -DN=13; 797162; 8192; 8192
2017 Table 4; lastzero; -DN=5; 241; 79; 64
2017 Table 4; lastzero; -DN=10; 53198; 7204; 3328
2017 Table 4; lastzero; -DN=15; 9378091; 302587; 147456; L
2017 Fig. 2; fig2; ; -; -; -
2017 Fig. 2, as printed; fig2; -DAS_PRINTED; -; -; -
2017 Fig. 10, as printed; fig10; -DN=3 -DAS_PRINTED; -; -; -'

show() { case $1 in - | x) printf '%s' '' ;; *) thousands "$1" ;; esac; }

{
    echo '| where | program | paper: classic | source | optimal | ours: `dpor` | `source` | `optimal` | s, `optimal` |'
    echo '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
    echo "$rows" | while IFS=';' read -r where program flags classic source optimal long; do
        trim() { printf '%s' "$1" | sed 's/^ *//; s/ *$//'; }
        program=$(trim "$program") flags=$(trim "$flags")
        classic=$(trim "$classic") source=$(trim "$source") optimal=$(trim "$optimal")
        if [ -n "$(trim "$long")" ] && [ -z "$ALL" ]; then continue; fi
        echo "$where: $program $flags" >&2
        if [ "$classic" = x ]; then ours_dpor=''; else ours_dpor=$(count "$program" "$flags" dpor); fi
        ours_source=$(count "$program" "$flags" source)
        ours_optimal=$(count "$program" "$flags" optimal)
        seconds=$(value seconds)
        size=$(printf '%s' "$flags" | sed 's/-D//g')
        printf '| %s | %s %s | %s | %s | %s | %s | %s | %s | %.3f |\n' "$where" "$program" "$size" \
            "$(show "$classic")" "$(show "$source")" "$(show "$optimal")" "$ours_dpor" "$ours_source" \
            "$ours_optimal" "$seconds"
    done
} >"$table"

grep -q '<!-- counts: begin -->' "$page" || { echo "$page: no place for the table" >&2 && exit 1; }
awk -v table="$table" '
    /<!-- counts: begin -->/ { print; print ""; while ((getline line < table) > 0) print line; print ""; skip = 1 }
    /<!-- counts: end -->/ { skip = 0 }
    !skip { print }' "$page" >build/papers.page && cp build/papers.page "$page"
