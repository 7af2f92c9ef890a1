#!/bin/sh
# Every test. `make test` builds first and calls this. Ends with "N passed, M failed".
#
#   sh tests/run.sh [SECTION...]     sections: checks random programs hooks classics papers matrix poked structures examples
#                                    stack fuzz formats simulator endure cli mpi
#
# MATRIX=all   every expectation under both compilers, -O0 and -O2, all algorithms, all --backtrack modes (`make test-full`):
#              hours; MATRIX_SHARE=I/N is a part of it. Otherwise a sample of MATRIX_CELLS=500, other ones in each run; it
#              prints MATRIX_SEED=N, which runs the same again.
# SLOW=1       also the expectations marked SLOW (sizes of the benchmarks), and `all`, `every` under dpor too
# JOBS=N       tests at a time, default 2
# RANDOM_PROGRAMS=N, RANDOM_SEED=N   of the random test, default 10000 programs (2000 for the stateful algorithms)
# FUZZ_PROGRAMS=N, FUZZ_SEED=N       of the random C programs (needs python3), default 30
# What is left of failed tests is in build/test.
cd "$(dirname "$0")/.." || exit 2
jobs=${JOBS:-2}
work=build/test
passed=0 failed=0
rm -rf "$work"
mkdir -p "$work"
export MZ_TEST_DIR="$work"
export MAZURKA_MUST_REPLAY=1 # a finding that does not replay is a failure, in every test
export MAZURKA_CHECK_FORESEEN=1 # an event without the access that the wakeup tree foresaw ends the search with a bug
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
    if timeout -k 5 "${SECTION_LIMIT:-1200}" "$@" >"$work/$what.log" 2>&1 </dev/null; then status=0; else status=$?; fi
    count "$what" "$status"
}

count() { # name, exit status: what its log says
    what=$1 status=$2 log=$work/$1.log
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
    more=${SLOW:+source dpor} # otherwise a sample of the matrix has them
    for file in "$@"; do
        sed -n -E "s@^ *(\*|//|/\*) ($pattern) +@@p" "$file" | sed 's@ *\*/ *$@@' |
            while IFS= read -r line; do
                case "$MZ_TEST_ALGORITHMS/$line" in ?*/*--heap=reuse*) continue ;; esac # not with stateful ones
                # shellcheck disable=SC2086
                case " $line " in
                *' every '*) set -- ${MZ_TEST_ALGORITHMS:-optimal $more ${SLOW:+sleep}}; word=every ;;
                *' all '*) set -- ${MZ_TEST_ALGORITHMS:-optimal $more}; word=all ;;
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
    compiler:event) [ "$3" = code_note.h ] ;;
    cmd:mpi) [ "$3" = transport.h ] ;;
    runtime:engine | model:engine) [ "$3" = program.h ] ;;
    *) return 1 ;;
    esac
}

check_folders() {
    all_good=1
    for file in src/*/*.[ch] src/*/*.cc src/*/*/*.[ch]; do
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
    hooks) # does the search see every access, with both compilers and at all levels of optimization?
        run_counted hooks-types python3 tests/hooks/run.py --sample "${HOOKS_SAMPLE:-24}"
        for compiler in gcc clang; do
            command -v "$compiler" >/dev/null || continue
            for level in O0 O2 O3; do
                export MAZURKA_CC="$compiler" MZ_TEST_FLAGS="-$level" MZ_TEST_ALGORITHMS=optimal
                run_programs "hooks-$compiler-$level" tests/programs/hooks_*.c
            done
        done
        unset MAZURKA_CC MZ_TEST_FLAGS MZ_TEST_ALGORITHMS
        ;;
    classics) run_programs classics tests/classics/*.c ;;
    papers) run_programs papers tests/papers/*.c ;;
    matrix) # a random sample of: both compilers, -O0 and -O2, all algorithms, all --backtrack modes; MATRIX=all: the whole
        if [ "$MATRIX" = all ]; then
            SECTION_LIMIT=1000000 run_counted matrix python3 tests/matrix.py --all --slow --jobs "$jobs" \
                --share "${MATRIX_SHARE:-1/1}"
        else
            run_counted matrix python3 tests/matrix.py --cells "${MATRIX_CELLS:-500}" --jobs "$jobs"
            grep 'MATRIX_SEED' "$work/matrix.log" | sed 's/^/  /'
        fi
        ;;
    poked) # what does not belong to the state is overwritten whenever a thread goes on: nothing may change
        export MAZURKA_POKE_DEAD=1 MZ_TEST_ALGORITHMS=dl-s-por
        run_programs poked tests/classics/*.c bench/structures/*.c
        export MZ_TEST_ALGORITHMS="stateful dl-s-por"
        run_programs poked-states tests/programs/state_*.c tests/papers/state_*.c
        unset MZ_TEST_ALGORITHMS MAZURKA_POKE_DEAD
        ;;
    states) # is all that the future depends on part of the state? SLOW=1, MATRIX=all: everything
        export MAZURKA_CHECK_STATES=2 MZ_TEST_ALGORITHMS=stateful
        run_programs states-classics tests/classics/*.c
        if [ -n "$SLOW" ] || [ "$MATRIX" = all ]; then
            run_programs states-structures bench/structures/*.c
            run_programs states-programs tests/programs/*.c
        fi
        unset MAZURKA_CHECK_STATES MZ_TEST_ALGORITHMS
        if ! command -v python3 >/dev/null; then echo "  python3 is not there: skipped"
        elif [ -n "$SLOW" ] || [ "$MATRIX" = all ]; then
            SECTION_LIMIT=36000 run_counted fuzz-state python3 tools/fuzz_state.py --all --check
        else
            run_counted fuzz-state python3 tools/fuzz_state.py --count 16 --check \
                --seed "${FUZZ_SEED:-$(date +%s)}"
        fi
        ;;
    structures) # clients of concurrent data structures: the same verdict under all algorithms
        asked=$MZ_TEST_ALGORITHMS
        export MZ_TEST_ALGORITHMS="${asked:-optimal stateful s-por de-s-por dl-s-por sdpor}"
        run_programs structures bench/structures/*.c
        MZ_TEST_ALGORITHMS=$asked
        ;;
    examples) run_programs examples examples/*.c ;;
    stack) # the programs again, with their variables on the stack of main: a sample, with SLOW=1 all
        if command -v python3 >/dev/null; then
            run_counted stack python3 tools/on_stack.py --jobs "$jobs" ${SLOW:+--all} $([ "$MATRIX" != all ] || echo --all)
        else
            echo "  python3 is not there: skipped"
        fi
        ;;
    fuzz)
        if command -v python3 >/dev/null; then
            run_counted fuzz python3 tools/fuzz_programs.py --count "${FUZZ_PROGRAMS:-30}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
            run_counted fuzz-conditions python3 tools/fuzz_programs.py --count "${FUZZ_PROGRAMS:-30}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source --conditions
            # Other programs in each run; what it prints says which.
            run_counted fuzz-c python3 tools/fuzz_c.py --count "$((${FUZZ_PROGRAMS:-30} * 3))" --jobs "$jobs" \
                --seed "${FUZZ_SEED:-$(date +%s)}"
            run_counted fuzz-twins python3 tools/fuzz_twins.py --count "$((${FUZZ_PROGRAMS:-30} / 20 + 1))" \
                --seed "${FUZZ_SEED:-1}"
            run_counted fuzz-sync python3 tools/fuzz_sync.py --count "${FUZZ_PROGRAMS:-30}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
            changing=${FUZZ_SEED:-$(date +%s)} # other programs in every run
            run_counted fuzz-races python3 tools/fuzz_races.py --count "${FUZZ_PROGRAMS:-30}" \
                --seed "$changing" --compilers --algorithms stateful,dl-s-por,sdpor
            run_counted fuzz-races-allowed python3 tools/fuzz_races.py --count "$((${FUZZ_PROGRAMS:-30} / 4))" \
                --seed "$changing" --compilers --algorithms stateful,dl-s-por --allow
        else
            echo "  python3 is not there: skipped"
        fi
        ;;
    formats) # damaged files, behind right checksums
        if [ -x build/asan/mz-fuzz-formats ]; then
            run_counted formats sh tests/fuzz/run.sh "${FUZZ_FORMATS:-400}" "${FUZZ_SEED:-1}"
            run_counted commands sh tests/fuzz/commands.sh "${FUZZ_COMMANDS:-40}" "${FUZZ_SEED:-1}"
        else
            echo "  not built: make build/asan/mz-fuzz-formats"
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
        run_counted endure python3 tests/endure/run.py --runs 24 --seconds "${ENDURE_SECONDS:-15}"
        ;;
    mpi) # ranks of Open MPI and MPICH, as far as they are there
        if [ -x build/mz-layout-test ]; then run_counted layout build/mz-layout-test
        else fail "mpi: build/mz-layout-test is not there (make build/mz-layout-test)"
        fi
        run_counted mpi sh tests/mpi/run.sh
        run_counted mpi-endure python3 tests/endure/run.py --ranks --runs 8 --seconds "${ENDURE_SECONDS:-12}"
        grep '^skipped' "$work/mpi.log" | sed 's/^/  /'
        ;;
    cli)
        # One test after the other, in two halves at the same time: much of it is waiting.
        names=$(cat tests/cli/*.sh | sed -n 's/^test_\([a-z_0-9]*\)().*/\1/p')
        for half in 0 1; do
            # shellcheck disable=SC2046
            timeout -k 5 "${SECTION_LIMIT:-1200}" sh tests/cli/run.sh $(echo "$names" | awk -v half=$half 'NR % 2 == half') \
                >"$work/cli-$half.log" 2>&1 </dev/null &
            eval "half_$half=\$!"
        done
        for half in 0 1; do
            eval "wait \$half_$half" && status=0 || status=$?
            count cli-$half $status
        done
        ;;
    *)
        echo "no such section: $1" >&2
        exit 2
        ;;
    esac
}

[ $# -gt 0 ] || if [ "$MATRIX" = all ]; then set -- checks random hooks matrix poked states structures examples stack fuzz formats simulator endure cli mpi
else set -- checks random programs hooks classics papers matrix poked states structures examples stack fuzz formats simulator endure cli mpi
fi
for section in "$@"; do
    before=$passed
    started=$(date +%s)
    echo "$section:"
    run_section "$section"
    echo "  $((passed - before)) passed in $(($(date +%s) - started)) s"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
