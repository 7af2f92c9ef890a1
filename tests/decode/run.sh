#!/bin/sh
# Compares the runtime's decoder of machine code with Zydis (decode_test.c), over libc and libstdc++, our own code, and a
# client of a concurrent set that each compiler compiled at each level of optimization.
work=${MZ_TEST_DIR:-build/test}/decode
mkdir -p "$work"
set -- mazurka build/libmazurka.so
for library in libc.so.6 libstdc++.so.6; do
    path=$(${CC:-cc} -print-file-name=$library)
    case $path in /*) set -- "$@" "$path" ;; esac
done
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for level in O0 O1 O2 O3; do
        program=$work/$compiler-$level
        MAZURKA_CC=$compiler ./mazurka cc -w "-$level" -DT0=a1 -DT1=r1 -DT2=a2 -DT3=c2 -o "$program" \
            bench/structures/bst_cas.c || exit 1
        set -- "$@" "$program"
    done
done
build/mz-decode-test "$@"
