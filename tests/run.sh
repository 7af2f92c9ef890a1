#!/bin/sh
# Runs every test. `make test` builds first and calls this. Ends with "N passed, M failed".
#
#   sh tests/run.sh [SECTION...]     default: all sections. CONTRIBUTING.md says what each of them tests.
#
# Two sections run at a time, each with half of the jobs, so that no processor is idle while a test uses only one. A single
# section gets all jobs. A section prints its result when it ends, with its seconds and its processor time.
#
# JOBS=N       tests at a time, default 2
# SLOW=1       runs also the expectations marked SLOW (sizes of the benchmarks), and `all`, `every` also under dpor
# MATRIX=all   runs every expectation under both compilers, -O0 and -O2, all algorithms, all --backtrack modes (`make test-full`):
#              hours; MATRIX_SHARE=I/N runs one part of N. Otherwise a sample of MATRIX_CELLS=N (default 150). Each run draws
#              another sample and prints MATRIX_SEED=N, which repeats it.
# PROGRAMS=N     expectations of tests/programs to run, default 500: at least one of each program. Each run draws another sample
#              and prints PROGRAMS_SEED=N, which repeats it. PROGRAMS=all, SLOW=1: all of them
# CLI=N          tests of the command to run, default 60; likewise, with CLI_SEED=N. CLI=all, SLOW=1: all of them
# RANDOM_PROGRAMS=N, RANDOM_SEED=N   random models, default 8000 (1600 for the stateful algorithms)
# FUZZ_PROGRAMS=N, FUZZ_SEED=N       random C programs (needs python3), default 24
# Files of failed tests stay in build/test.
cd "$(dirname "$0")/.." || exit 2
jobs=${JOBS:-2}
work=build/test
passed=0 failed=0
[ "$1" = --one ] || rm -rf "$work"
mkdir -p "$work"
export MAZURKA_MUST_REPLAY=1    # a finding that does not replay is a failure, in every test
export MAZURKA_COMPANIONS_AFTER=inf # a test means the search that it asks for, however long it takes
export MAZURKA_CHECK_FORESEEN=1 # an event without the access that the wakeup tree foresaw is an internal error
# Compiled programs are kept in a cache for later runs. Without a writable home they are kept for this run.
[ -n "$XDG_CACHE_HOME" ] || [ -w "${HOME:-/nowhere}" ] || export XDG_CACHE_HOME="$PWD/$work/cache"

pass() { passed=$((passed + $1)); }
fail() { # what went wrong
    failed=$((failed + 1))
    echo "  FAIL $1"
}

# Runs a script or program. If it does not print "N passed, M failed", it counts as one test.
run_counted() { # name, command...
    what=$1
    shift
    if timeout -k 5 "${SECTION_LIMIT:-3600}" "$@" >"$work/$what.log" 2>&1 </dev/null; then status=0; else status=$?; fi
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

# A random sample of N lines of standard input, with at least one line of each file; without files if a third word is given.
sample() { # N, seed [, 1]
    awk -F '\t' -v most="$1" -v seed="$2" -v plain="$3" '
        BEGIN { srand(seed) }
        { line[NR] = $0; file[NR] = $1; order[NR] = NR }
        END {
            for (i = NR; i > 1; i--) {
                j = int(rand() * i) + 1
                x = order[i]; order[i] = order[j]; order[j] = x
            }
            for (i = 1; i <= NR; i++) if (!plain && !(file[order[i]] in seen)) { seen[file[order[i]]]; chosen[order[i]]; n++ }
            for (i = 1; i <= NR && n < most; i++) if (!(order[i] in chosen)) { chosen[order[i]]; n++ }
            for (i = 1; i <= NR; i++) if (i in chosen) print line[i]
        }'
}

run_programs() { # name, files...
    what=$1
    shift
    expectations "$@" >"$work/$what.tasks"
    if [ "$what" = programs ] && [ -z "$SLOW" ] && [ "${PROGRAMS:-500}" != all ]; then
        seed=${PROGRAMS_SEED:-$(date +%s)}
        sample "${PROGRAMS:-500}" "$seed" <"$work/$what.tasks" >"$work/$what.sample"
        echo "  $(wc -l <"$work/$what.sample") of $(wc -l <"$work/$what.tasks") expectations, PROGRAMS_SEED=$seed"
        mv "$work/$what.sample" "$work/$what.tasks"
    fi
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

check_texts() {
    # The directories of the machine that runs this test.
    here=$(cd .. && pwd)
    [ "${#here}" -gt 4 ] || here=$PWD
    home=${HOME:-$PWD}
    [ "${#home}" -gt 4 ] || home=$PWD
    if found=$(grep -rnIF -e "$here/" -e "$home/" --exclude-dir=.git --exclude=.git --exclude-dir=build --exclude='*.trace' . |
        head -n 5) && [ -n "$found" ]; then
        fail "paths of one machine: $found"
    else
        pass 1
    fi
    # clang-format joins lines of a comment when one is too long: an expectation there would never be run.
    found=$(grep -nE '[^ *].*\<EXPECT +[-a-z]' tests/programs/*.c tests/papers/*.c bench/structures/*.c \
        bench/applications/*.c examples/*.c |
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

has_cmocka() {
    printf '#include <stdarg.h>\n#include <setjmp.h>\n#include <stddef.h>\n#include <cmocka.h>\n' | "${CC:-cc}" -w -E -x c - >/dev/null 2>&1
}

run_section() {
    case $1 in
    checks)
        check_format
        run_counted folders python3 tools/folders.py
        run_counted libc-table python3 tools/libc_table.py
        run_counted names python3 tools/names.py
        run_counted runtime-globals python3 tools/runtime_globals.py
        run_counted cells python3 tools/cells.py
        check_texts
        ;;
    unit)
        if [ -x build/asan/mz-unit ]; then run_counted unit build/asan/mz-unit
        elif has_cmocka; then fail "unit: build/asan/mz-unit is not there (make build/asan/mz-unit)"
        else echo "  skipped: cmocka is not installed (Debian: libcmocka-dev)"
        fi
        ;;
    random)
        if [ ! -x build/mz-random ]; then
            fail "random: build/mz-random is not there (make build/mz-random)"
        else
            run_counted random build/mz-random --count "${RANDOM_PROGRAMS:-8000}" --seed "${RANDOM_SEED:-1}" \
                --jobs "$jobs" --algorithms all-stateless
            run_counted random-stateful build/mz-random --count "$((${RANDOM_PROGRAMS:-8000} / 5))" \
                --seed "${RANDOM_SEED:-1}" --jobs "$jobs" --algorithms all-stateful
            run_counted random-literal build/mz-random --count "$((${RANDOM_PROGRAMS:-8000} / 10))" \
                --seed "${RANDOM_SEED:-1}" --jobs "$jobs" --algorithms literal
            run_counted random-long build/mz-random --count "$((${RANDOM_PROGRAMS:-8000} / 50))" \
                --seed "${RANDOM_SEED:-1}" --jobs "$jobs" --algorithms literal,optimal,source,optimal-shared --long \
                --threads 3 --operations 3 --prefixes 20000 --literal 200000
            # More threads than operations: joins, threads that create threads.
            run_counted random-many build/mz-random --count "$((${RANDOM_PROGRAMS:-8000} / 2))" \
                --seed "${RANDOM_SEED:-${FUZZ_SEED:-$(date +%s)}}" --jobs "$jobs" --threads 5 --operations 3 \
                --algorithms static,static-sleep,dpor-static,classic-static,static-stateful,static-stateful-sleep,stateful-sleep,dpor-marks
            run_counted corpus build/mz-random --corpus tests/random/corpus
            run_counted survey build/mz-survey --count 3000 --tours 1000
            run_counted survey-corpus build/mz-survey --corpus tests/random/corpus --tours 20000
        fi
        if [ -x build/asan/mz-random ]; then
            run_counted random-sanitized build/asan/mz-random --count 500 --seed 7
        fi
        ;;
    programs) run_programs programs tests/programs/*.c tests/programs/*.cpp ;;
    hooks) # does the search see every access, with both compilers and at all levels of optimization?
        run_counted hooks-types python3 tests/hooks/run.py --jobs "$jobs" --sample "${HOOKS_SAMPLE:-24}"
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
    papers) run_programs papers tests/papers/*.c bench/applications/*.c ;;
    matrix) # a random sample of: both compilers, -O0 and -O2, all algorithms, all --backtrack modes; MATRIX=all: the whole
        if [ "$MATRIX" = all ]; then
            SECTION_LIMIT=1000000 run_counted matrix python3 tests/matrix.py --all --slow --jobs "$jobs" \
                --share "${MATRIX_SHARE:-1/1}"
        else
            run_counted matrix python3 tests/matrix.py --cells "${MATRIX_CELLS:-150}" --jobs "$jobs"
            grep 'MATRIX_SEED' "$work/matrix.log" | sed 's/^/  /'
        fi
        ;;
    poked) # memory outside the state is overwritten each time a thread continues: no result may change
        export MAZURKA_POKE_DEAD=1 MZ_TEST_ALGORITHMS=dl-s-por
        run_programs poked tests/classics/*.c bench/structures/*.c
        export MZ_TEST_ALGORITHMS="stateful dl-s-por"
        run_programs poked-states tests/programs/state_*.c tests/papers/state_*.c
        unset MZ_TEST_ALGORITHMS
        # Waiting loops, with both compilers: dead slots and registers get other values each time.
        command -v python3 >/dev/null && run_counted poked-loops python3 tests/matrix.py --cells "${POKED_CELLS:-120}" --jobs "$jobs" \
            tests/programs/spin_*.c tests/programs/stack_*.c tests/programs/*loop*.c tests/programs/allow_*.c tests/classics/*.c
        unset MAZURKA_POKE_DEAD
        ;;
    states) # does the state contain everything that the future depends on? SLOW=1 or MATRIX=all: all programs
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
    decode) # the decoder of machine code against Zydis: libraries, our own code, test programs, generated encodings
        if [ -x build/mz-decode-test ]; then
            run_counted decode sh tests/decode/run.sh
        else
            echo "  not built: make build/mz-decode-test, which needs libzydis-dev"
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
            whole=${SLOW:+--all}
            [ "$MATRIX" != all ] || whole=--all
            run_counted stack python3 tools/on_stack.py --jobs "$jobs" $whole
        else
            echo "  python3 is not there: skipped"
        fi
        ;;
    fuzz)
        if command -v python3 >/dev/null; then
            run_counted fuzz python3 tools/fuzz_programs.py --count "${FUZZ_PROGRAMS:-24}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
            run_counted fuzz-conditions python3 tools/fuzz_programs.py --count "${FUZZ_PROGRAMS:-24}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source --conditions
            # Other programs in each run; the output has the seed.
            run_counted fuzz-c python3 tools/fuzz_c.py --count "$((${FUZZ_PROGRAMS:-24} * 3))" --jobs "$jobs" \
                --seed "${FUZZ_SEED:-$(date +%s)}"
            run_counted fuzz-twins python3 tools/fuzz_twins.py --count "$((${FUZZ_PROGRAMS:-24} / 20 + 1))" \
                --seed "${FUZZ_SEED:-1}"
            run_counted fuzz-sync python3 tools/fuzz_sync.py --count "${FUZZ_PROGRAMS:-24}" \
                --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
            if [ -x build/mz-random ]; then
                run_counted fuzz-models python3 tools/fuzz_models.py --count "$((${FUZZ_PROGRAMS:-24} / 2))" \
                    --seed "${FUZZ_SEED:-1}" --algorithms optimal,source
            fi
            changing=${FUZZ_SEED:-$(date +%s)} # other programs in every run
            run_counted fuzz-races python3 tools/fuzz_races.py --count "${FUZZ_PROGRAMS:-24}" \
                --seed "$changing" --compilers --algorithms stateful,dl-s-por,sdpor
            run_counted fuzz-races-allowed python3 tools/fuzz_races.py --count "$((${FUZZ_PROGRAMS:-24} / 4))" \
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
        run_counted mpi sh tests/mpi/run.sh
        run_counted mpi-endure python3 tests/endure/run.py --ranks --runs 8 --seconds "${ENDURE_SECONDS:-12}"
        grep '^skipped' "$work/mpi.log" | sed 's/^/  /'
        ;;
    cli)
        if [ -n "$SLOW" ] || [ "${CLI:-60}" = all ]; then
            run_counted cli env JOBS="$jobs" sh tests/cli/run.sh
        else
            seed=${CLI_SEED:-$(date +%s)}
            sed -n 's/^test_\([a-z_0-9]*\)().*/\1/p' tests/cli/*.sh >"$work/cli.tests"
            echo "  ${CLI:-60} of $(wc -l <"$work/cli.tests") tests, CLI_SEED=$seed"
            # shellcheck disable=SC2046
            run_counted cli env JOBS="$jobs" sh tests/cli/run.sh $(sample "${CLI:-60}" "$seed" 1 <"$work/cli.tests")
        fi
        ;;
    *)
        fail "no such section: $1"
        ;;
    esac
}

# Run one section and print its result. The numbers also go to a file, for the sum at the end.
one_section() { # section
    section=$1
    export MZ_TEST_DIR="$work/$section"
    mkdir -p "$MZ_TEST_DIR"
    started=$(date +%s)
    echo "$section:"
    run_section "$section"
    times >"$work/$section.times" # not in a subshell, which has no children; independent of the machine's load
    used=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4 + 0.5) }' "$work/$section.times")
    echo "  $passed passed in $(($(date +%s) - started)) s, $used s of processor time"
    echo "$passed $failed" >"$work/$section.result"
}
if [ "$1" = --one ]; then
    one_section "$2" >"$work/$2.out" 2>&1
    cat "$work/$2.out"
    exit 0
fi

# The longest sections come first, so that both lanes end at about the same time.
if [ $# = 0 ]; then
    set -- matrix programs fuzz cli structures states random stack hooks mpi formats poked endure simulator papers decode classics \
        checks unit examples
    [ "$MATRIX" != all ] || set -- checks unit random hooks matrix decode poked states structures examples stack fuzz formats \
        simulator endure cli mpi
fi
lanes=2
if [ $# = 1 ] || [ "$MATRIX" = all ] || [ "$jobs" -lt 2 ]; then lanes=1; fi
started=$(date +%s)
printf '%s\n' "$@" | JOBS=$((jobs / lanes)) xargs -P "$lanes" -I '{}' sh tests/run.sh --one '{}'
for section in "$@"; do
    if read -r p f 2>/dev/null <"$work/$section.result"; then
        passed=$((passed + p)) failed=$((failed + f))
    else
        fail "$section: did not end"
    fi
done
echo "all sections took $(($(date +%s) - started)) s"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
