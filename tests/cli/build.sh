#!/bin/sh
# Building programs: compiler wrappers, build systems, several files, compilers that fail.
#   sh tests/cli/build.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_does_not_compile() {
    rm -rf "$HOME/.cache"
    echo 'int main(void) { return x; }' > bad.c
    echo '#include "nope.h"' > bad2.c
    echo 'int f(void); int main(void) { return f(); }' > bad3.c
    run 2 mazurka check bad.c && has err "mazurka: bad.c does not compile" && empty out &&
        run 2 mazurka check bad2.c && has err "mazurka: bad2.c does not compile" &&
        run 2 mazurka check bad3.c && has err "mazurka: bad3 does not link" && no_leftovers &&
        [ "$(entries '*')" -eq "$(entries 'compiler-*')" ] || complain "something left in the cache"
    run 2 mazurka check --json bad.c && json_valid out && json_is out "d['verdict'] == 'failed' and d['reason']"
}

test_missing_compiler() {
    programs
    MAZURKA_CC=no-such-compiler
    export MAZURKA_CC
    refuses "compiler \`no-such-compiler\` not found" mazurka check ok.c &&
        refuses "compiler \`no-such-compiler\` not found" mazurka cc -c ok.c &&
        MAZURKA_CC=false && refuses "-fsanitize=thread" mazurka check ok.c
}

test_several_files() {
    programs
    mkdir include
    echo 'extern _Atomic int shared; void *worker(void *);' > include/part.h
    program part.c
    program whole.c
    run 1 mazurka check -Iinclude whole.c part.c -lm && has out "part.c:3" && has out "whole.c:9" &&
        run 1 mazurka check -std=c11 -O2 -Wall -Iinclude part.c whole.c -lm
}

test_cc_stages() {
    programs
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        run 0 mazurka cc -c ok.c && [ -f ok.o ] && run 0 mazurka cc -c -o other.o ok.c && [ -f other.o ] &&
            run 0 mazurka cc -o linked ok.o && run 0 ./linked && run 0 mazurka check ./linked &&
            run 0 mazurka cc -O2 ok.c && [ -x a.out ] && run 0 mazurka check a.out &&
            run 0 mazurka cc -S ok.c && has ok.s tsan && run 0 mazurka cc -E ok.c && has out "worker" &&
            run 0 mazurka cc -M ok.c && has out "ok.o:" && run 0 mazurka cc -fsyntax-only ok.c &&
            run 0 mazurka cc --version && has out "clang" || [ "$MAZURKA_CC" = gcc ] || return 1
        run 0 mazurka cc -MMD -o withdeps ok.c && has withdeps.d "withdeps: ok.c" &&
            run 0 mazurka cc -MD -MF here.d -c ok.c && has here.d "ok.o:" &&
            run 0 mazurka cc -xc -o lang ok.c && run 0 mazurka check ./lang || return 1
        printf '%s\n' '-O1 -o "at file"' "ok.c" > words
        run 0 mazurka cc @words && run 0 mazurka check "./at file" || return 1
        mazurka cc -x c -o stdin - < ok.c && run 0 mazurka check ./stdin || return 1
        run 0 mazurka cc -c bad.c 2> /dev/null && return 1
        : > "$work/why"
        rm -f ./*.o ./*.d a.out linked withdeps lang stdin "at file" ok.s
    done
    no_leftovers
}

test_cc_keeps_search_order() {
    programs
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        run 0 mazurka cc -o prog ok.c -lm -Wl,--as-needed && run 0 readelf -d prog || return 1
        grep NEEDED out | head -n 1 | grep -q libmazurka || { complain "libmazurka is not first"; return 1; }
        grep -q libtsan out && { complain "libtsan is linked"; return 1; }
        run 0 mazurka cc -fPIC -shared -o libpart.so lost.c && run 0 mazurka cc -r -o part.o ok.c || return 1
    done
    return 0
}

test_cc_flags() {
    programs
    refuses "-static" mazurka cc -static ok.c && refuses "-fsanitize=address" mazurka cc -fsanitize=address ok.c &&
        refuses "address" mazurka cc -fsanitize=undefined,address ok.c && refuses "-m32" mazurka cc -m32 -c ok.c &&
        refuses "argument is missing" mazurka cc ok.c -o && refuses "no arguments" mazurka cc &&
        run 0 mazurka cc -fsanitize=thread -o prog ok.c && has err "note: -fsanitize=thread left out" &&
        run 0 mazurka check prog && run 0 mazurka cc -flto -o prog ok.c && has err "-flto left out" &&
        run 0 mazurka cc -DNDEBUG -o prog lost.c && has err "NDEBUG" && run 0 mazurka check prog &&
        run 1 mazurka cc -c nothere.c && run 1 mazurka cc -Wall -Werror -Wunused-variable -c "$(
            echo 'void f(void) { int x; }' > warn.c && echo warn.c)" && no_leftovers
}

test_cc_by_another_name() {
    programs
    ln -s "$mazurka" mazurka-cc
    run 0 ./mazurka-cc -o prog ok.c && run 0 mazurka check ./prog
}

test_cxx() {
    program part_in_c.c part.c
    program whole.cpp
    run 1 mazurka check -std=c++17 -std=c11 whole.cpp part.c && has out "data race on a.money" &&
        has out "bank::account::deposit" && has out "lambda, whole.cpp:14" && hasnt out "/usr/include" || return 1
    run 1 mazurka replay mazurka-whole-1.trace || return 1
    run 0 mazurka cc -c part.c && run 0 mazurka c++ -std=c++17 -o whole whole.cpp part.o && run 1 mazurka check ./whole &&
        has out "data race on a.money" || return 1
    for name in c++ cxx; do
        ln -sf "$mazurka" mazurka-$name
        run 0 ./mazurka-$name -o whole whole.cpp part.o && run 1 mazurka check ./whole || return 1
    done
    MAZURKA_CXX=no-such-compiler
    export MAZURKA_CXX
    refuses "C++ compiler \`no-such-compiler\` not found" mazurka check whole.cpp part.c &&
        refuses "no arguments" mazurka c++
}

test_cc_public_header() {
    program header.c
    run 1 mazurka check header.c && has out "choose 2" && has out "assertion failed: n < 3"
}

test_make() {
    programs
    cat > Makefile << 'END'
CFLAGS = -O2 -Wall -MMD
prog: ok.o
	$(CC) $(CFLAGS) -o $@ $^ -lm
END
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        rm -f prog ok.o
        run 0 make CC="mazurka cc" && run 0 mazurka check ./prog && has out "2 executions" && run 0 ./prog || return 1
    done
}

test_cmake() {
    command -v cmake > /dev/null 2>&1 || return 0
    programs
    ln -s "$mazurka" mazurka-cc
    cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.10)
project(example C)
find_package(Threads REQUIRED)
add_library(part STATIC part.c)
add_executable(prog ok.c)
target_link_libraries(prog part m Threads::Threads)
END
    echo 'int part(void); int part(void) { return 1; }' > part.c
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        rm -rf build
        run 0 cmake -S . -B build -DCMAKE_C_COMPILER="$PWD/mazurka-cc" -DCMAKE_BUILD_TYPE=Debug &&
            run 0 cmake --build build && run 0 mazurka check build/prog && has out "2 executions" || return 1
    done
    rm -rf build
    run 0 cmake -S . -B build -DCMAKE_C_COMPILER="$mazurka" -DCMAKE_C_COMPILER_ARG1=cc &&
        run 0 cmake --build build && run 0 mazurka check build/prog
}

test_symbols_of_both_compilers() {
    programs
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        for o in -O0 -O1 -O2; do
            run 1 mazurka check $o lost.c && has out "store queue.tail[1]: 4000000000" && has out "at lost.c:20" &&
                has out "0.1 (worker)" && run 1 mazurka check $o race.c && has out "data race on counter, at race.c:3" &&
                has out "bump, race.c:3" && has out "worker, race.c:6" || { complain "$MAZURKA_CC $o"; return 1; }
        done
    done
}

test_program_built_elsewhere_runs_here() {
    programs
    mkdir sub && cp lost.c sub && (cd sub && mazurka cc -o prog lost.c) && run 1 mazurka check sub/prog &&
        has out "at sub/lost.c:20"
}

# gcc warns of fences that its own runtime does not know.
test_fence_is_no_warning() {
    program fence.cpp
    run 0 mazurka c++ -Wall -Wextra -Werror -O2 -c fence.cpp && run 0 mazurka check -Werror fence.cpp && first_line out "verified"
}

run_tests "$@"
