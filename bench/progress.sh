#!/bin/sh
# Measures how good the estimates of --progress are. For each program it prints the share that --progress showed when 10,
# 25, 50 and 75 % of the executions were done, and the estimated number of executions (at 10 and 50 %) as a multiple of the
# true one. `error` is the mean of |ln(estimated / true)| from 5 to 95 %; 0.7 is a factor of two.
#
#   sh bench/progress.sh [-j N] [NAME...]     names as in the list below; default: all
#
# A search that takes less than a few seconds is run again up to each of these points; then there is no `error`.
cd "$(dirname "$0")/.." || exit 2
jobs=1
case $1 in
-j) jobs=$2 && shift 2 ;;
-j*) jobs=${1#-j} && shift ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-progress-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
P=tests/papers

programs() {
    cat << END
indexer(17) optimal -DN=17 $P/indexer.c
lastzero(16) optimal -DN=16 $P/lastzero.c
readers(18) optimal -DN=18 $P/readers.c
casrot(12) optimal -DN=12 $P/casrot.c
example1(36) optimal -DN=36 $P/example1.c
fib(7) optimal -DN=7 $P/fib.c
floating_read(9) optimal -DN=9 $P/floating_read.c
lockers(9) optimal -DN=9 $P/lockers.c
wakeup_stress(9) optimal -DN=9 $P/wakeup_stress.c
aget(3,5) optimal -DT=3 -DPIECES=5 $P/aget.c
bbuf(4+3) optimal -DP=4 -DC=3 $P/bbuf.c
bbuf(4+4) optimal $P/bbuf.c
bbuf-fifo(4+4) optimal -DFIFO $P/bbuf.c
filesystem(26) optimal -DN=26 $P/filesystem.c
lastzero(13) source -DN=13 $P/lastzero.c
casrot(12) source -DN=12 $P/casrot.c
fib(7) source -DN=7 $P/fib.c
lastzero(13) dpor -DN=13 $P/lastzero.c
fib(7) sleep -DN=7 $P/fib.c
END
}

wanted() { # NAME NAMES...
    name=$1
    shift
    [ $# -eq 0 ] && return 0
    for n in "$@"; do [ "$n" = "$name" ] && return 0; done
    return 1
}

# Prints the share shown after 10, 25, 50 and 75 % of the executions, from a run to each of these points.
at_part() { # ALGORITHM TOTAL FLAGS...
    algorithm=$1
    total=$2
    shift 2
    for percent in 10 25 50 75; do
        ./mazurka check --strategy=exhaustive -j "$jobs" --algorithm="$algorithm" --max-executions=$((total * percent / 100)) --json="$work/json" \
            --progress=never -q "$@" > "$work/out" 2>&1
        sed -n "s/^ *\"share\": \([0-9.]*\).*/$percent \1/p" "$work/json"
    done | awk '{ printf " %6.1f%%", 100 * $2; total[$1] = $2 ? $1 / 100 / $2 : 0 }
        END { printf "  %8.2fx %8.2fx      -\n", total[10], total[50] }'
}

printf '%-18s %-9s %10s  %7s %7s %7s %7s  %9s %9s %6s\n' program algorithm executions 10% 25% 50% 75% 'total@10%' 'total@50%' error
programs | while read -r name algorithm flags; do
    wanted "$name" "$@" || continue
    # shellcheck disable=SC2086
    ./mazurka check --strategy=exhaustive -j "$jobs" --algorithm="$algorithm" --progress=json -q $flags > "$work/out" 2> "$work/err" ||
        { echo "$name: $(head -n 1 "$work/out" "$work/err")" >&2; continue; }
    awk -v total="$work/total" -v name="$name" -v algorithm="$algorithm" '
        function value(key) { return match($0, "\"" key "\": [0-9.e+-]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0 : 0 }
        /^{/ {
            executions = value("executions")
            leaves = executions + value("blocked") + value("cut")
            if (n && leaves < at[n]) n = 0 # it started over
            if (value("share") > 0) { at[++n] = leaves; share[n] = value("share") }
        }
        function nearest(part,   i, best) {
            for (i = 1; i < n; i++)
                if (!best || (at[i] - part * leaves) ^ 2 < (at[best] - part * leaves) ^ 2) best = i
            return best
        }
        # The share it would have shown at exactly that point: compares estimates of the total.
        function said(part,   i) { i = nearest(part); return i ? share[i] / at[i] * part * leaves : 0 }
        END {
            printf "%-18s %-9s %10d ", name, algorithm, leaves
            if (n < 6) { print executions > total; exit 1 }
            split("0.1 0.25 0.5 0.75", parts, " ")
            for (k = 1; k <= 4; k++) printf " %6.1f%%", 100 * said(parts[k])
            for (i = 1; i < n; i++) {
                part = at[i] / leaves
                if (part > 0.05 && part < 0.95) { sum += log(share[i] / part) * (share[i] < part ? -1 : 1); count++ }
            }
            printf "  %8.2fx %8.2fx %6.2f\n", said(0.1) ? 0.1 / said(0.1) : 0, said(0.5) ? 0.5 / said(0.5) : 0, count ? sum / count : 0
        }' "$work/err" > "$work/line"
    long=$?
    cat "$work/line"
    # shellcheck disable=SC2086
    [ $long = 0 ] || at_part "$algorithm" "$(cat "$work/total")" $flags
done
