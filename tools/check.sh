#!/bin/sh
# Static checks, and how much of the engine the tests execute. `make check` builds first and calls this.
#
#   sh tools/check.sh [format | folders | cycles | names | tidy | cppcheck | shell | coverage]...     default: all of them
#
# A tool that is not installed is named and left out; tools/setup.sh installs them on Debian and Ubuntu. Exit status 1 if a
# check found something. JOBS=N: files at a time, default the number of processors.
cd "$(dirname "$0")/.." || exit 2
jobs=${JOBS:-$(nproc)}
work=build/check
failed=0
mkdir -p "$work"

good() { echo "ok    $1"; }
bad() { # check, what it found
    echo "FAIL  $1"
    printf '%s\n' "$2" | head -n 40 | sed 's/^/      /'
    failed=1
}
result() { # check, output (empty: nothing was found)
    if [ -z "$2" ]; then good "$1"; else bad "$1" "$2"; fi
}
has() { # tool, check
    command -v "$1" >/dev/null && return 0
    echo "skip  $2: $1 is not installed"
    return 1
}
sources() { git ls-files -co --exclude-standard -- "$@"; }

check_format() {
    # Versions of clang-format differ in details: only the one that the project uses counts.
    version=${CLANG_FORMAT_VERSION:-14}
    if ! clang-format --version 2>/dev/null | grep -q "version $version\."; then
        echo "skip  format: clang-format $version is not installed"
        return
    fi
    result format "$(sources '*.c' '*.h' '*.cpp' | xargs clang-format --dry-run 2>&1 | grep -o '^[^:]*\.\(c\|h\|cpp\):[0-9]*')"
}

check_folders() { result folders "$(python3 tools/folders.py | grep '^FAIL')"; }

check_names() { result names "$(python3 tools/names.py | grep '^FAIL')"; }

# The largest groups of files that need each other.
check_cycles() { result cycles "$(python3 tools/link_cycles.py --check | grep '^FAIL')"; }

# The options with which a source is compiled, as far as clang-tidy and cppcheck need them.
flags_of() { # file
    set -- "$1" -Isrc -Iinclude '-DMZ_VERSION="0"'
    case $1 in
    tests/simulate/* | tools/simulate/*) set -- "$@" -Itools/simulate ;;
    src/compiler/gcc_*) set -- "$@" -isystem "$(gcc -print-file-name=plugin)/include" ;;
    src/compiler/llvm_*) set -- "$@" -isystem "/usr/lib/llvm-$(clang -dumpversion | cut -d . -f 1)/include" ;;
    esac
    case $1 in
    *.cc) set -- "$@" -std=c++17 -fno-rtti ;;
    *) set -- "$@" -std=gnu11 -msse4.2 ;;
    esac
    shift
    printf '%s\n' "$@"
}

# One line for each source that can be looked at here: plug-ins need the headers of their compiler.
checkable() {
    sources 'src/*.c' 'src/compiler/*.cc' 'tools/*.c' 'tests/random/*.c' 'tests/unit/*.c' 'tests/fuzz/*.c' 'tests/simulate/*.c' \
        'tests/decode/*.c' | while read -r file; do
        case $file in
        src/compiler/gcc_*) [ -f "$(gcc -print-file-name=plugin)/include/gcc-plugin.h" ] || continue ;;
        src/compiler/llvm_*) [ -d "/usr/lib/llvm-$(clang -dumpversion 2>/dev/null | cut -d . -f 1)/include/llvm" ] || continue ;;
        src/dist/mpi/*) command -v mpicc >/dev/null || continue ;;
        tests/unit/*) printf '#include <cmocka.h>\n' | cc -w -E -include stdarg.h -include setjmp.h -include stddef.h -x c - >/dev/null 2>&1 || continue ;;
        esac
        echo "$file"
    done
}

tidy_log() { echo "$work/tidy/$(echo "$1" | tr / _)"; } # file

# What clang-tidy says depends on the tokens of a file and its headers, on the list of checks, and on our NOLINT comments.
# If all of that is as it was when clang-tidy found nothing, it finds nothing now.
tidy_key() { # file, flags
    file=$1
    shift
    {
        clang-tidy --version
        cat .clang-tidy
        grep -rhA 1 NOLINT src tests tools include
        clang -E -P "$@" "$file" 2>&1 || date +%N
    } | sha256sum
}

tidy_one() { # file
    file=$1 mpi=''
    case $file in src/dist/mpi/*) mpi=$(mpicc -show 2>/dev/null | tr ' ' '\n' | grep '^-I') ;; esac
    log=$(tidy_log "$file")
    # shellcheck disable=SC2046
    key=$(tidy_key "$file" $(flags_of "$file") $mpi)
    [ ! -f "$log" ] || [ "$key" != "$(cat "$log.key" 2>/dev/null)" ] || return 0
    # shellcheck disable=SC2046
    clang-tidy --quiet "$file" -- $(flags_of "$file") $mpi >"$log" 2>"$log.err" || grep -q 'error:' "$log" || cat "$log.err" >>"$log"
    if tidy_found "$log" >/dev/null; then rm -f "$log.key"; else echo "$key" >"$log.key"; fi
}

# What clang-tidy has found in our own files, not in those of the system.
tidy_found() { # logs
    cat "$@" | grep -E '(warning|error):' | sed "s|^$PWD/||" | grep -E '^(src|tests|tools|include)/|^error:'
}

check_tidy() {
    has clang-tidy tidy && has clang tidy || return
    mkdir -p "$work/tidy"
    checkable | xargs -P "$jobs" -n 1 sh tools/check.sh --tidy-one
    # shellcheck disable=SC2046
    result tidy "$(tidy_found $(checkable | while read -r file; do tidy_log "$file"; done) | sort -u)"
}

check_cppcheck() {
    has cppcheck cppcheck || return
    # shellcheck disable=SC2046
    result cppcheck "$(cppcheck --quiet -j "$jobs" --std=c11 --language=c --enable=warning,portability --inline-suppr \
        --suppressions-list=tools/cppcheck.txt --template='{file}:{line}: {id}: {message}' -Isrc -Iinclude -DMZ_VERSION='"0"' \
        -D__x86_64__ --error-exitcode=0 $(sources 'src/*.c' | grep -v '^src/dist/mpi/') 2>&1)"
}

check_shell() {
    has shellcheck shell || return
    result shell "$(sources '*.sh' .ci/run | xargs shellcheck -x -S warning -f gcc 2>&1)"
}

# Lines and branches of src/engine and src/trace that the unit tests and the random programs execute.
check_coverage() {
    has gcov coverage || return
    rm -rf "$work/coverage"
    if ! make --no-print-directory -s -j "$jobs" B="$work/coverage" CFLAGS="-O0 -g --coverage" CPPFLAGS=-DMZ_COVERAGE coverage-programs >"$work/coverage.log" 2>&1 ||
        ! run_covered >>"$work/coverage.log" 2>&1; then
        bad coverage "$(tail -n 5 "$work/coverage.log")"
        return
    fi
    python3 tools/coverage.py "$work/coverage/host/src/engine" "$work/coverage/host/src/trace" || failed=1
}
run_covered() {
    if [ -x "$work/coverage/mz-unit" ]; then "$work/coverage/mz-unit" || return 1
    else echo "cmocka is not installed: without the unit tests" # the figure is lower then
    fi
    "$work/coverage/mz-random" --count "${COVERAGE_PROGRAMS:-300}" --seed 1 --jobs "$jobs" &&
        "$work/coverage/mz-random" --corpus tests/random/corpus
}

if [ "$1" = --tidy-one ]; then
    tidy_one "$2"
    exit 0
fi
[ $# -gt 0 ] || set -- format folders cycles names shell cppcheck tidy coverage
for check in "$@"; do
    case $check in
    format | folders | cycles | names | tidy | cppcheck | shell | coverage) "check_$check" ;;
    *)
        echo "no such check: $check" >&2
        exit 2
        ;;
    esac
done
exit $failed
