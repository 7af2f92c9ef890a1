# Functions that all tests of the command share. Each theme (options.sh, build.sh, ...) reads this file, defines functions
# test_NAME and ends with `run_tests "$@"`. Takes ./mazurka from the root of the checkout.
#
# Every test runs in a directory of its own; every theme has a new HOME and TMPDIR. So no test depends on an old cache,
# and a test that leaves temporary files behind fails. A theme prints a line for each test, and at the
# end "N passed, M failed".
# shellcheck shell=sh disable=SC2034,SC2115
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
mazurka=$root/mazurka
programs=$root/tests/cli/programs
work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-cli-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

HOME=$work/home
TMPDIR=$work/tmp
export HOME TMPDIR
export MAZURKA_MUST_REPLAY=1 # a finding that does not replay is a failure
export MAZURKA_COMPANIONS_AFTER=inf # no test depends on how long a search takes
unset XDG_CACHE_HOME MAZURKA_CC MAZURKA_OPTIONS NO_COLOR CC CFLAGS
mkdir "$HOME" "$TMPDIR"
PATH=$root:$PATH

# run_tests [NAME...]: the tests of this theme, or those named
run_tests() {
    passed=0 failed=0
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(sed -n 's/^test_\([a-z_0-9]*\)().*/\1/p' "$root/tests/cli/${0##*/}")
    for name in "$@"; do
        mkdir "$work/$name"
        : > "$work/why"
        if (cd "$work/$name" && "test_$name") && [ ! -s "$work/why" ] && (: && no_leftovers); then
            echo "ok   cli: $name"
            passed=$((passed + 1))
        else
            echo "FAIL cli: $name"
            sed 's/^/       /' "$work/why"
            failed=$((failed + 1))
        fi
        rm -rf "$TMPDIR"/* "${work:?}/$name"
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# program FILE [AS]: copy one of tests/cli/programs into the directory of the test
program() { cp "$programs/$1" "${2:-$1}"; }
programs() { for p in ok lost race abba crash exitcode spin single many long; do program $p.c; done; }

# ---- checks: each writes what was wrong to $work/why and returns 1 ----

complain() { printf '%s\n' "$*" >> "$work/why"; return 1; }

# run EXPECTED_STATUS COMMAND...: output to ./out, ./err
run() {
    want=$1
    shift
    "$@" > out 2> err < /dev/null
    got=$?
    [ "$got" -eq "$want" ] && return 0
    complain "status $got instead of $want: $*"
    head -n 5 out err >> "$work/why"
    return 1
}

# ended_with EXPECTED STATUS: of a command that wrote ./out and ./err
ended_with() {
    [ "$2" -eq "$1" ] || complain "status $2 instead of $1: $(head -n 3 out err)"
}

has() { # FILE TEXT: a line contains the text
    grep -qF -- "$2" "$1" && return 0
    complain "$1 does not say: $2"
    head -n 8 "$1" >> "$work/why"
    return 1
}

hasnt() {
    grep -qF -- "$2" "$1" || return 0
    complain "$1 says: $2"
}

first_line() { # FILE TEXT: the first line begins with the text
    case $(head -n 1 "$1") in
    "$2"*) return 0 ;;
    esac
    complain "$1 begins with: $(head -n 1 "$1")"
}

empty() { [ ! -s "$1" ] || complain "$1 is not empty: $(head -n 1 "$1")"; }

# refuses TEXT COMMAND...: status 2, nothing on stdout, one line "mazurka: ...TEXT..." on stderr
refuses() {
    text=$1
    shift
    run 2 "$@" && empty out && first_line err "mazurka: " && has err "$text" || return 1
    [ "$(wc -l < err)" -eq 1 ] || complain "more than one line: $(cat err)"
}

no_leftovers() {
    set -- "$TMPDIR"/*
    [ ! -e "$1" ] || complain "left behind: $*"
}

no_wide_lines() { # FILE: except the verdict, which is always one line
    awk 'NR > 1 && length > 80 { bad = 1 } END { exit bad }' "$1" && return 0
    complain "lines over 80 columns: $(awk 'NR > 1 && length > 80' "$1" | head -n 3)"
}

json_valid() { # FILE
    if command -v python3 > /dev/null 2>&1; then
        python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$1" 2> json_error ||
            complain "not JSON: $(tail -n 1 json_error)"
    elif command -v jq > /dev/null 2>&1; then
        jq . "$1" > /dev/null 2>&1 || complain "not JSON"
    fi
}

json_is() { # FILE PYTHON-EXPRESSION over d
    command -v python3 > /dev/null 2>&1 || return 0
    python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
        complain "JSON: not so: $2"
}

# entries PATTERN: how many entries of the cache have such names
entries() { find "$HOME/.cache/mazurka" -mindepth 1 -maxdepth 1 -name "$1" 2> /dev/null | wc -l; }

executions() { python3 -c "import json,sys;print(json.load(open('$1'))['executions'])"; }

compilers() {
    for c in gcc clang; do
        command -v $c > /dev/null 2>&1 && echo $c
    done
}

# Print the ratio of wall-clock time to processor time right now, rounded up: 1 on a quiet machine. It scales the upper
# limits of times.
slowness() {
    python3 -c '
import math, time
wall, cpu = time.perf_counter(), time.process_time()
while time.process_time() - cpu < 0.1: pass
print(math.ceil((time.perf_counter() - wall) / (time.process_time() - cpu) + 0.2))' 2> /dev/null || echo 10
}

# No test may depend on the speed of the machine:
#   for a search that must not end within its limit, use $endless (8.9e9 executions: half a day on a fast machine) or long.c;
#   before a signal, do not sleep: use wait_until with the event (searching FILE);
#   give a generous limit to a command that must end: the limit only tells late from never.
endless="-DN=30 $root/tests/papers/lastzero.c"

# wait_until COMMAND...: try it every 0.1 s, for two minutes
wait_until() {
    for _ in $(seq 1200); do
        "$@" && return 0
        sleep 0.1
    done
    complain "two minutes passed without: $*"
}

searching() { grep -q '"executions": [1-9]' "$1" 2> /dev/null; } # FILE: what --progress=json has written

is_gone() { case $(ps -o stat= -p "$1" 2> /dev/null) in '' | Z*) ;; *) false ;; esac; } # PID

# For tests that measure time, on a machine that may be busy: one good run of three is enough.
one_of_three() { # COMMAND...
    for attempt in 1 2 3; do
        "$@" && return 0
        [ $attempt = 3 ] || : > "$work/why"
    done
    return 1
}
