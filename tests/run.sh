#!/bin/sh
# Every test. `make test` builds first and calls this. Ends with "N passed, M failed".
#
#   sh tests/run.sh [SECTION...]     sections: checks random programs classics papers structures examples fuzz simulator endure cli mpi
#
# SLOW=1       also the expectations marked SLOW (sizes of the benchmarks), and `all`, `every` under dpor too
# JOBS=N       tests at a time, default 2
# RANDOM_PROGRAMS=N, RANDOM_SEED=N   of the random test, default 10000 programs (2000 for the stateful algorithms)
# FUZZ_PROGRAMS=N, FUZZ_SEED=N       of the random C programs (needs python3), default 40
# What is left of failed tests is in build/test.
cd "$(dirname "$0")/.." || exit 2
jobs=${JOBS:-2}
work=build/test
passed=0 failed=0
rm -rf "$work"
mkdir -p "$work"
export MZ_TEST_DIR="$work"
# Compiled programs are kept; without a home of one's own, at least for this run.
[ -n "$XDG_CACHE_HOME" ] || [ -w "${HOME:-/nowhere}" ] || export XDG_CACHE_HOME="$PWD/$work/cache"

pass() { passed=$((passed + $1)); }
fail() { # what went wrong
    failed=$((failed + 1))
    echo "  FAIL $1"
}

# A script or program whose last line may be "N passed, M failed"; else it counts as one.
run_counted() { # name, command...
    what=$1
    shift
    log=$work/$what.log
    if timeout -k 5 "${SECTION_LIMIT:-400}" "$@" >"$log" 2>&1 </dev/null; then status=0; else status=$?; fi
    p=$(sed -n 's/^\([0-9][0-9]*\) passed, [0-9][0-9]* failed$/\1/p' "$log" | tail -n 1)
    f=$(sed -n 's/^[0-9][0-9]* passed, \([0-9][0-9]*\) failed$/\1/p' "$log" | tail -n 1)
    if [ -n "$p" ]; then
        pass "$p"
        failed=$((failed + f))
        if [ "$f" != 0 ]; then grep -i -A 12 'fail' "$log" | grep -v '^ok ' | head -n 60 | sed 's/^/  /'
        elif [ $status != 0 ]; then fail "$what: exit status $status, see $log"
        fi
    elif [ $status = 0 ]; then
        pass 1
        tail -n 1 "$log" | sed 's/^/  /'
    else
        fail "$what: exit status $status: $(tail -n 1 "$log" | cut -c1-300) (see $log)"
    fi
}

# The expectations at the head of each program, as lines "FILE<tab>EXPECTATION", one for each algorithm.
expectations() {
    pattern='EXPECT'
    [ -z "$SLOW" ] || pattern='EXPECT|SLOW'
    dpor=${SLOW:+dpor} # the random programs cover it too
    for file in "$@"; do
        sed -n -E "s@^ *(\*|//|/\*) ($pattern) +@@p" "$file" | sed 's@ *\*/ *$@@' |
            while IFS= read -r line; do
                case "$MZ_TEST_ALGORITHMS/$line" in ?*/*--heap=reuse*) continue ;; esac # not with stateful ones
                # shellcheck disable=SC2086
                case " $line " in
                *' every '*) set -- ${MZ_TEST_ALGORITHMS:-optimal source sleep $dpor}; word=every ;;
                *' all '*) set -- ${MZ_TEST_ALGORITHMS:-optimal source $dpor}; word=all ;;
                *) set -- ''; word= ;;
                esac
                for algorithm in "$@"; do
                    if [ -z "$word" ]; then printf '%s\t%s\n' "$file" "$line"
                    else printf '%s\t%s\n' "$file" "$(printf '%s' " $line " | sed "s/ $word / $algorithm /; s/^ //; s/ $//")"
                    fi
                done
            done
    done
}

run_programs() { # name, files...
    what=$1
    shift
    expectations "$@" >"$work/$what.tasks"
    [ -z "$SLOW" ] || export MZ_TEST_TIMEOUT=900
    tr '\t' '\n' <"$work/$what.tasks" | xargs -d '\n' -P "$jobs" -n 2 sh tests/expect.sh >"$work/$what.log" 2>&1
    p=$(grep -c '^ok ' "$work/$what.log")
    n=$(wc -l <"$work/$what.tasks")
    [ "${n:-0}" -gt 0 ] || fail "$what: nothing was run"
    pass "$p"
    failed=$((failed + n - p))
    grep -v '^ok ' "$work/$what.log" | head -n 40 | sed 's/^/  /'
    echo "  $# programs, $n expectations, $((n - p)) failed"
}

check_format() {
    # Versions of clang-format differ in details: only the one that the project uses counts.
    clang-format --version 2>/dev/null | grep -q "version ${CLANG_FORMAT_VERSION:-14}\." || return 0
    list=$(git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' 2>/dev/null) || return 0
    # shellcheck disable=SC2086
    bad=$(clang-format --dry-run $list 2>&1 | grep -o '^[^:]*' | sort -u | grep '\.\(c\|h\|cpp\)$')
    [ -n "$bad" ] || pass 1
    for file in $bad; do fail "$file: not as clang-format writes it"; done
}

# Folders depend one way only: cmd -> report -> event -> base; runtime, model -> engine -> event -> base, and
# runtime and model know of the engine only program.h; cmd -> balance -> engine, and cmd knows only balance.h;
# cmd knows of mpi only transport.h.
may_include() { # folder, included folder, included file
    case "$1:$2" in
    "$1:$1" | *:base) [ "$1" != base ] || [ "$2" = base ] ;;
    engine:event | runtime:event | model:event | report:event | cmd:event | cmd:report) ;;
    balance:engine | balance:event) ;;
    cmd:balance) [ "$3" = balance.h ] ;;
    cmd:mpi) [ "$3" = transport.h ] ;;
    runtime:engine | model:engine) [ "$3" = program.h ] ;;
    *) return 1 ;;
    esac
}

check_folders() {
    all_good=1
    for file in src/*/*.[ch] src/*/*/*.[ch]; do
        [ -f "$file" ] || continue
        from=$(printf '%s' "$file" | cut -d / -f 2)
        bad=
        for header in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
            case $header in
            */*) folder=$(basename "$(dirname "$header")") ;;
            mazurka.h) continue ;;
            *) folder=$from ;;
            esac
            case $header in ../"${header##*/}") folder=$from ;; esac
            may_include "$from" "$folder" "$(basename "$header")" || bad="$bad $header"
        done
        [ -z "$bad" ] || { all_good=0 && fail "$file: must not include$bad"; }
    done
    pass "$all_good"
}

check_texts() {
    # Those of the machine that runs this, whatever they are.
    here=$(cd .. && pwd)
    [ "${#here}" -gt 4 ] || here=$PWD
    home=${HOME:-$PWD}
    [ "${#home}" -gt 4 ] || home=$PWD
    if found=$(grep -rnIF -e "$here/" -e "$home/" --exclude-dir=.git --exclude=.git --exclude-dir=build . |
        head -n 5) && [ -n "$found" ]; then
        fail "paths of one machine: $found"
    else
        pass 1
    fi
    # clang-format joins lines of a comment when one is too long: an expectation there would never be run.
    found=$(grep -nE '[^ *].*\<EXPECT +[-a-z]' tests/programs/*.c tests/papers/*.c bench/structures/*.c examples/*.c |
        head -n 5)
    if [ -n "$found" ]; then fail "an expectation that does not begin its line: $found"; else pass 1; fi
    all_good=1
    for file in tests/*.sh tests/*/*.sh tools/*.sh bench/*.sh .ci/run; do
        [ -f "$file" ] || continue
        sh -n "$file" 2>/dev/null || bash -n "$file" 2>/dev/null ||
            { all_good=0 && fail "$file: does not parse"; }
    done
    pass "$all_good"
}

run_section() {
    case $1 in
    checks)
        check_format
        check_folders
        check_texts
        ;;
    random)
        if [ ! -x build/mz-random ]; then
            fail "random: build/mz-random is not there (make build/mz-random)"
        else
            run_counted random build/mz-random --count "${RANDOM_PROGRAMS:-10000}" --seed "${RANDOM_SEED:-1}" \
                --jobs "$jobs" --algorithms all-stateless
            run_counted random-stateful build/mz-random --count "$((${RANDOM_PROGRAMS:-10000} / 5))" \
                --seed "${RANDOM_SEED:-1}" --jobs "$jobs" --algorithms all-stateful
            run_counted corpus build/mz-random --corpus tests/random/corpus
        fi
        if [ -x build/asan/mz-random ]; then
            run_counted random-sanitized build/asan/mz-random --count 500 --seed 7
        fi
        ;;
    programs) run_programs programs tests/programs/*.c tests/programs/*.cpp ;;
    classics) run_programs classics tests/classics/*.c ;;
    papers) run_programs papers tests/papers/*.c ;;
    modes) # the same, by other ways: with SLOW=1 all programs
        if [ -n "$SLOW" ]; then set -- tests/classics/*.c tests/papers/*.c tests/programs/*.c
        else set -- tests/classics/*.c
        fi
        export MZ_TEST_FLAGS=--backtrack=undo MZ_TEST_ALGORITHMS=optimal
        run_programs modes-undo "$@"
        export MZ_TEST_FLAGS=--backtrack=checkpoint MZ_TEST_ALGORITHMS=source
        run_programs modes-checkpoint "$@"
        unset MZ_TEST_FLAGS
        export MZ_TEST_ALGORITHMS=dl-s-por
        run_programs modes-stateful tests/classics/*.c
        # What does not belong to the state is overwritten whenever a thread goes on: nothing may change.
        export MAZURKA_POKE_DEAD=1
        run_programs modes-poked tests/classics/*.c bench/structures/*.c
        export MZ_TEST_ALGORITHMS="stateful dl-s-por"
        run_programs modes-poked-states tests/programs/state_*.c tests/papers/state_*.c
        unset MZ_TEST_ALGORITHMS MAZURKA_POKE_DEAD
        ;;
    structures) # clients of concurrent data structures: the same verdict under all algorithms
        asked=$MZ_TEST_ALGORITHMS
        export MZ_TEST_ALGORITHMS="${asked:-optimal stateful s-por de-s-por dl-s-por sdpor}"
        run_programs structures bench/structures/*.c
        MZ_TEST_ALGORITHMS=$asked
        ;;
    examples) run_programs examples examples/*.c ;;
    fuzz)
        if command -v python3 >/dev/null; then
            run_counted fuzz python3 tools/fuzz_programs.py --count "${FUZZ_PROGRAMS:-40}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
            run_counted fuzz-conditions python3 tools/fuzz_programs.py --count "${FUZZ_PROGRAMS:-40}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source --conditions
            run_counted fuzz-sync python3 tools/fuzz_sync.py --count "${FUZZ_PROGRAMS:-40}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
        else
            echo "  python3 is not there: skipped"
        fi
        ;;
    simulator) # trees worked out by hand; recorded ones
        if [ -x build/mz-simulate ] && [ -x build/mz-simulate-test ]; then
            run_counted simulate-by-hand build/mz-simulate-test
            run_counted simulate sh tests/simulate/run.sh
        else
            fail "simulator: build/mz-simulate is not there (make build/mz-simulate build/mz-simulate-test)"
        fi
        ;;
    endure)
        run_counted endure python3 tests/endure/run.py --runs 24 --seconds "${ENDURE_SECONDS:-25}"
        ;;
    mpi) # ranks of Open MPI and MPICH, as far as they are there
        if [ -x build/mz-layout-test ]; then run_counted layout build/mz-layout-test
        else fail "mpi: build/mz-layout-test is not there (make build/mz-layout-test)"
        fi
        run_counted mpi sh tests/mpi/run.sh
        run_counted mpi-endure python3 tests/endure/run.py --ranks --runs 8 --seconds "${ENDURE_SECONDS:-20}"
        grep '^skipped' "$work/mpi.log" | sed 's/^/  /'
        ;;
    cli)
        if [ -f tests/cli/run.sh ]; then run_counted cli sh tests/cli/run.sh; fi
        ;;
    *)
        echo "no such section: $1" >&2
        exit 2
        ;;
    esac
}

[ $# -gt 0 ] || set -- checks random programs classics papers modes structures examples fuzz simulator endure cli mpi
for section in "$@"; do
    before=$passed
    started=$(date +%s)
    echo "$section:"
    run_section "$section"
    echo "  $((passed - before)) passed in $(($(date +%s) - started)) s"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
