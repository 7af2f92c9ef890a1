#!/bin/sh
# What the search does not see: writes without a hook, findings that no replay reproduces, system calls without a filter.
#   sh tests/cli/unseen.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_inline_assembly() {
    program asm.c
    sed 's/"lock incl %0" : "+m"(n)/"lock incl (%0)" : : "r"(\&n) : "memory"/' asm.c > pointer.c
    run 0 mazurka check asm.c && first_line out "verified" && run 0 mazurka check pointer.c &&
        { has out "pointer.c:3: inline assembly changes memory atomically" ||
            has out "atomic instructions that are not seen"; } && run 3 mazurka check --strict pointer.c
}

# Objects and archives that mazurka cc did not compile: the search does not see their accesses, and the report names their
# functions. It does not name functions that only compute or use only their own stack, nor code that every program has.
test_uninstrumented_objects() {
    program other.c
    program use.c
    printf '.globl count\n.type count,@function\ncount: incl shared(%%rip)\nret\n.comm shared,4\n.size count,.-count\n.section .note.GNU-stack\n' > asm.s
    printf 'int sum(int a) { return a; } int twice(int a) { return a; }\n' > rest.c
    cc -O1 -g -c other.c -o other.o && cc -O1 -c other.c -o bare.o && ar rc libother.a other.o || return 1
    for object in other.o libother.a "-L. -lother"; do
        # shellcheck disable=SC2086
        run 0 mazurka check --json=j use.c $object && first_line out "verified, except: " && has out "2 functions in other.c" &&
            has out "(other.c:4)" && has out "look (other.c:5)" && json_is j "any('other.c:4' in u for u in d['unseen'])" || return 1
    done
    run 3 mazurka check --strict use.c other.o &&
        run 0 mazurka check use.c bare.o && has out "2 functions without debug information are not" &&
        run 0 mazurka check use.c rest.c asm.s && has out "1 function in asm.s is not instrumented: count" &&
        run 1 mazurka check use.c other.c && first_line out "error: data race on shared" &&
        run 0 mazurka cc -o program use.c other.o && run 0 mazurka check ./program && has out "not instrumented"
}

# An object that mazurka cc did not compile.
test_object_without_hooks() {
    program plain_add.c plain.c
    program adds_without_hooks.c user.c
    cc -g -c plain.c || return 1
    for algorithm in optimal source stateful; do
        run 0 mazurka check -q --algorithm=$algorithm user.c plain.o || return 1
        first_line out "verified, except: " || return 1
        run 3 mazurka check -q --strict --algorithm=$algorithm user.c plain.o || return 1
    done
    run 0 mazurka check -q user.c plain.o && has out "shared is written without a hook"
}

# Code without hooks that only reads changes no memory. The report names its functions, also if symbols are missing.
test_code_without_hooks_that_reads() {
    program reads_without_hooks.c user.c
    printf '\t.globl look\nlook: movl (%%rdi), %%eax\n\tret\n\t.section .note.GNU-stack\n' > untyped.s
    program plain_look.c plain.c
    cc -O1 -c plain.c && cc -c untyped.s && cp plain.o stripped.o && strip -x stripped.o || return 1
    for c in $(compilers); do
        export MAZURKA_CC="$c"
        for what in plain.o untyped.s untyped.o stripped.o -DOUTSIDE -DSECTION; do
            run 0 mazurka check -q user.c "$what" && first_line out "verified, except: " || return 1
            run 3 mazurka check -q --strict user.c "$what" || return 1
        done
        run 0 mazurka check -q -DNO_CODE user.c && first_line out "verified: " || return 1
    done
}

# If a finding cannot be replayed, the verdict is neither "error" nor "verified".
test_finding_that_no_replay_shows() {
    unset MAZURKA_MUST_REPLAY
    program turns.c
    run 3 mazurka check turns.c || return 1
    first_line out "incomplete: no error so far, but a finding could not be replayed: assertion failed: fd < 0" || return 1
    rm -f sign
    run 3 mazurka check -j 2 --json turns.c || return 1
    has out '"verdict": "incomplete"' && has out '"errors": []' || return 1
    rm -f sign
    run 3 mazurka check --algorithm=stateful -q turns.c || return 1
    rm -f sign
    [ -z "$(find . -name '*trace*')" ] || complain "a trace of what cannot be replayed"
}

# Only the first search has such a finding: mazurka runs the search again, and the report says so.
test_finding_of_the_first_search_only() {
    unset MAZURKA_MUST_REPLAY
    sed 's/if (fd < 0) unlink("sign");//' "$programs/turns.c" > once.c
    run 0 mazurka check -q once.c || return 1
    first_line out 'verified, except: a first search came to "assertion failed: fd < 0"' || return 1
    rm -f sign
    run 3 mazurka check -q --strict once.c
}

# Backtracking does not undo a write without a hook, so the search may come to a false error: it must not be reported.
test_unseen_write_is_no_error() {
    unset MAZURKA_MUST_REPLAY
    export MAZURKA_TRUST_HOOKS=1 # otherwise mazurka finds the assembly before the search begins
    for how in "" "-j 2" "--checkpoint=saved"; do # perhaps the search does not backtrack: then nothing goes wrong
        # shellcheck disable=SC2086
        run 0 mazurka check -q $how -DCHECK "$root/tests/programs/unseen_rarely.c" || return 1
        first_line out "verified, except: " || return 1
    done
    for how in "-DCHECK" "-DCHECK --algorithm=source" ""; do
        # shellcheck disable=SC2086
        run 0 mazurka check -q --backtrack=undo $how "$root/tests/programs/unseen_rarely.c" || return 1
        has out "marks is written without a hook" || return 1
    done
    for how in "-DSILENT" "-DSILENT -j 2" "-DASM -O0 --backtrack=undo" "-DSILENT -O2 --algorithm=stateful" "-DASM -DHEAP"; do
        # shellcheck disable=SC2086
        run 0 mazurka check -q $how "$root/tests/programs/unseen_writes.c" || return 1
        has out "is written without a hook" || return 1
        # shellcheck disable=SC2086
        run 1 mazurka check -q $how -DFAIL "$root/tests/programs/unseen_writes.c" || return 1
    done
}

# ./refused COMMAND...: runs it where the kernel refuses seccomp filters, as in some containers.
refused() {
    program refused.c
    cc -o refused refused.c
}

test_without_seccomp() {
    refused || return 1
    program reads.c
    run 0 mazurka check -q reads.c && first_line out "verified: " || return 1
    run 0 ./refused mazurka check -q reads.c || return 1
    first_line out "verified, except: the kernel refused the seccomp filter" || return 1
    run 3 ./refused mazurka check -q --strict reads.c || return 1
    run 0 ./refused mazurka check -j 2 --json reads.c && has out "the kernel refused the seccomp filter"
}

run_tests "$@"
