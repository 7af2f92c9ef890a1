#!/bin/sh
# The cache of built programs: it must never run an outdated program. In each test the program's result comes from
# another place (library, header, compiler, ...); the test changes it, and changes it back.
#   sh tests/cli/cache.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_cache() {
    programs
    echo 'int answer = 1;' > h.h
    program inc.c
    rm -rf "$HOME/.cache"
    run 0 mazurka check inc.c && [ "$(entries 'program-*')" -eq 1 ] &&
        run 0 mazurka check inc.c && [ "$(entries 'program-*')" -eq 1 ] || { complain "cache not used"; return 1; }
    echo 'int answer = 2;' > h.h
    run 1 mazurka check inc.c && echo 'int answer = 1;' > h.h && run 0 mazurka check inc.c || return 1
    run 0 env XDG_CACHE_HOME="$PWD/xdg" mazurka check inc.c && [ -d xdg/mazurka ] || { complain "XDG_CACHE_HOME"; return 1; }
    run 0 env HOME="$PWD/nowhere" mazurka check inc.c && [ ! -e nowhere ] && run 0 env -u HOME mazurka check inc.c &&
        run 0 env HOME=/dev/null mazurka check inc.c && no_leftovers
    [ "$(entries '*unfinished*')" -eq 0 ] || complain "unfinished files in the cache"
}

# asks.c calls answer(), which the test defines elsewhere, and asserts that it returns 1: 1 is right, 2 is wrong.
answering() {
    program asks.c
    mkdir -p lib
    answers 1
}

answers() { # N: libx.a and x.o that answer N
    echo "int answer(void); int answer(void) { return $1; }" > x.c
    cc -c -o x.o x.c && rm -f lib/libx.a && ar rc lib/libx.a x.o && rm -f lib/libx.so && cc -shared -fPIC -o x.so x.c
}

built() { entries 'program-*'; }

# follows CHANGE COMMAND...: CHANGE 1 and CHANGE 2 make the answer right and wrong
follows() {
    change=$1
    shift
    "$change" 1
    run 0 "$@" || return 1
    before=$(built)
    run 0 "$@" && [ "$(built)" -eq "$before" ] || { complain "the cache is not used: $*"; return 1; }
    "$change" 2
    run 1 "$@" || { complain "an old program was run: $*"; return 1; }
    "$change" 1
    run 0 "$@" || { complain "an old program was run: $*"; return 1; }
}

test_cache_libraries() {
    answering
    for c in $(compilers); do
        export MAZURKA_CC="$c"
        follows answers mazurka check asks.c -Llib -lx &&
            follows answers mazurka check asks.c -Llib -l:libx.a &&
            follows answers mazurka check asks.c -Wl,lib/libx.a &&
            follows answers mazurka check asks.c -Xlinker lib/libx.a &&
            follows answers env LIBRARY_PATH=lib mazurka check asks.c -lx &&
            follows answers mazurka check asks.c lib/libx.a &&
            follows answers mazurka check asks.c x.o || return 1
        echo "INPUT(lib/libx.a)" > script.ld
        follows answers mazurka check asks.c -Wl,script.ld ||
            return 1
        echo "-Llib -lx" > words.txt && cp words.txt words
        follows answers mazurka check asks.c @words.txt && follows answers mazurka check asks.c @words || return 1
        mkdir -p other && answers 2 && cp lib/libx.a other/libx.a && answers 1
        for to in other lib; do echo "-L$to -lx" > words.txt; mazurka check -q asks.c @words.txt > out 2>&1; echo $? > status.$to; done
        [ "$(cat status.other status.lib | tr -d '\n')" = 10 ] || { complain "an @file was not read again"; return 1; }
    done
}

# A new library earlier in the search path; a new header.
test_cache_search_paths() {
    answering
    early() {
        answers 1
        if [ "$1" = 2 ]; then answers 2 && cp lib/libx.a first/libx.a && answers 1; else rm -f first/libx.a; fi
    }
    mkdir first inc1 inc2
    follows early mazurka check asks.c -Lfirst -Llib -lx || return 1
    program has.c
    echo '#define ANSWER 1' > inc2/h.h
    header() { if [ "$1" = 2 ]; then echo '#define ANSWER 2' > inc1/h.h; else rm -f inc1/h.h; fi; }
    follows header mazurka check -Iinc1 -Iinc2 asks.c has.c || return 1
    extra() { if [ "$1" = 2 ]; then printf '#undef ANSWER\n#define ANSWER 2\n' > extra.h; else rm -f extra.h; fi; }
    follows extra mazurka check -Iinc2 asks.c has.c || return 1
    follows extra env CPATH=inc2 mazurka check asks.c has.c
}

# The library changes, but its size and its time do not.
test_cache_times() {
    answering
    quiet() { answers "$1"; touch -d '2020-01-01 00:00' lib/libx.a; }
    follows quiet mazurka check asks.c -Llib -lx
}

test_cache_assembler() {
    answering
    program blob.c
    blob() { printf "\\00$1" > blob.bin; }
    for c in $(compilers); do follows blob env MAZURKA_CC="$c" mazurka check asks.c blob.c || return 1; done
}

# The compiler is a wrapper: a script, a script that reads a file or the environment, a program.
test_cache_wrapper() {
    answering
    echo 'int answer(void); int answer(void) { return ANSWER; }' > y.c
    wrapper() { printf '#!/bin/sh\nexec gcc -DANSWER=%s "$@"\n' "$1" > wrap.sh; chmod +x wrap.sh; }
    follows wrapper env MAZURKA_CC="$PWD/wrap.sh" mazurka check asks.c y.c || return 1
    printf '#!/bin/sh\n. ./settings\nexec gcc -DANSWER=$ANSWER "$@"\n' > wrap.sh
    settings() { echo "ANSWER=$1" > settings; }
    follows settings env MAZURKA_CC="$PWD/wrap.sh" mazurka check asks.c y.c || return 1
    printf '#!/bin/sh\nexec gcc -DANSWER=$WHAT "$@"\n' > wrap.sh
    run 0 env MAZURKA_CC="$PWD/wrap.sh" WHAT=1 mazurka check asks.c y.c &&
        run 1 env MAZURKA_CC="$PWD/wrap.sh" WHAT=2 mazurka check asks.c y.c || return 1
    program wraps_gcc.c gcc.c
    mkdir -p wrapped && cc -o wrapped/gcc gcc.c || return 1
    run 0 env MAZURKA_CC="$PWD/wrapped/gcc" WHAT=-DANSWER=1 mazurka check asks.c y.c &&
        run 1 env MAZURKA_CC="$PWD/wrapped/gcc" WHAT=-DANSWER=2 mazurka check asks.c y.c
}

# A checkpoint belongs to a program with all its libraries: --resume refuses it when a library has changed.
test_identity_of_libraries() {
    answering
    run 0 mazurka check --checkpoint=c asks.c -Llib -lx && answers 2 &&
        refuses "has been changed" mazurka check --resume=c asks.c -Llib -lx
}

# Under strace, mazurka cannot trace the compiler: it compiles each time.
test_cache_without_ptrace() {
    command -v strace > /dev/null 2>&1 || return 0
    answering
    run 0 strace -f -o /dev/null mazurka check asks.c -Llib -lx && answers 2 &&
        run 1 strace -f -o /dev/null mazurka check asks.c -Llib -lx
}

run_tests "$@"
