#!/bin/sh
# Untrusted input: traces, directories, files, programs and names that must do no harm.
#   sh tests/cli/hostile.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# reseal FILE: replace the checksum of a trace by the right one
reseal() {
    sed '/^checksum/d' "$1" > resealed && printf 'checksum\t%s\n' "$(sha256sum < resealed | cut -d' ' -f1)" >> resealed &&
        mv resealed "$1"
}

# program_with_escapes FILE AS: copy one of tests/cli/programs; @ESC@ in it becomes the character ESC
program_with_escapes() { sed "s/@ESC@/$(printf '\033')/g" "$programs/$1" > "$2"; }

# The trace of another user must not run anything except the program that it belongs to.
test_trace_is_no_code() {
    programs
    run 1 mazurka check -O2 -Wall -std=gnu11 -DX=1 -I. -pthread lost.c -lm && run 1 mazurka replay mazurka-lost-1.trace ||
        return 1
    t=mazurka-lost-1.trace
    printf '#!/bin/sh\ntouch %s/owned\nexec gcc "$@"\n' "$PWD" > evil.sh && chmod +x evil.sh
    for compiler in "$PWD/evil.sh" ./evil.sh "sh -c 'touch owned'" "gcc -B$PWD" "gcc;touch owned" "gcc-12;x"; do
        sed "s|^compiler.*|compiler	$compiler|" $t > bad.trace && reseal bad.trace
        mazurka replay bad.trace > out 2> err < /dev/null # any status: replay uses the user's own compiler
        [ ! -e owned ] || { complain "ran the trace's compiler: $compiler"; return 1; }
    done
    cp evil.sh cc1 && cp evil.sh ld && cp evil.sh as
    for flag in -B. "-B$PWD" -fplugin=./x.so -fplugin=x -specs=x "-wrapper,./evil.sh" -Wl,-plugin,x -Wl,-o,owned \
        -Wl,--dynamic-linker=x -Wl,-rpath,. -Wl,-T,x -Wl,-Map=owned -Wa,--MD=owned -Wp,-MD,owned -MMD -MD -save-temps \
        -ofoo -fuse-ld=./ld -fuse-ld="$PWD/ld" -fdump-tree-all -fstack-usage -fprofile-generate -fprofile-dir=/ -c -S \
        --sysroot=. -fpass-plugin=x -ftime-trace -fcrash-diagnostics-dir=. -gcc-toolchain=. --gcc-toolchain=. --config=x \
        -fmodules -fcallgraph-info -Tx -fdiagnostics-format=sarif-file -fsave-optimization-record -fauto-profile=x \
        -mllvm -Xclang -dumpdir -aux-info -time=owned -frobnicate/x -unknown --output=owned; do
        sed "s|^build	-O2|build	$flag|" $t > bad.trace && reseal bad.trace
        mazurka replay bad.trace > out 2> err < /dev/null
        [ $? -eq 2 ] && grep -q -e "--trust" -e "argument is missing" err || { complain "not refused: $flag: $(head -n 1 err)"; return 1; }
    done
    for pair in "-Xlinker -rpath" "-Xclang -load" "-mllvm x" "-wrapper ./evil.sh" "-B ." "-MF owned" "-o owned" "-T x" "-Xassembler --MD=owned" \
        "-isysroot ." "-specs x" "-Xpreprocessor -MD" "-x objective-c" "-aux-info owned" "-dumpdir x"; do
        sed "s|^build	-O2|build	${pair% *}\nbuild	${pair#* }|" $t > bad.trace && reseal bad.trace
        refuses "--trust" mazurka replay bad.trace || { complain "not refused: $pair"; return 1; }
    done
    echo "-fplugin=./x.so" > more.txt && sed "s|^build	-O2|build	@more.txt|" $t > bad.trace && reseal bad.trace
    refuses "--trust" mazurka replay bad.trace && [ ! -e owned ] || { complain "an @file was believed"; return 1; }
    rm -f cc1 ld as
    # With --trust, replay runs the compiler that the trace names.
    sed "s|^compiler.*|compiler	$PWD/evil.sh|" $t > bad.trace && reseal bad.trace
    mazurka replay --trust bad.trace > out 2> err < /dev/null # the status does not matter: with this compiler it is another program
    [ -e owned ] || { complain "--trust did not"; return 1; }
    return 0
}

# A trace of a program that another compiler has built: replay needs that compiler, and takes it from MAZURKA_CC, or with
# --trust from the trace.
test_trust_with_another_compiler() {
    programs
    printf '#!/bin/sh\necho run >> "%s/used"\nexec gcc -DEXTRA -O1 "$@"\n' "$PWD" > mine.sh && chmod +x mine.sh
    run 1 env MAZURKA_CC="$PWD/mine.sh" mazurka check -q --trace=t lost.c && grep -q "^compiler.*mine.sh" t ||
        { complain "the trace does not name its compiler"; return 1; }
    rm -rf used "$HOME/.cache"
    refuses "name that compiler in MAZURKA_CC, or use --trust" mazurka replay t && [ ! -e used ] || return 1
    run 1 mazurka replay --trust t && has out "assertion failed" && [ -e used ] || return 1
    run 1 env MAZURKA_CC="$PWD/mine.sh" mazurka replay t && has out "assertion failed" || return 1
    # --trust does not make another program of it: the schedule belongs to the one that was built.
    sed -i 's/-O1/-O2/' mine.sh
    refuses "has changed since the trace was made" mazurka replay --trust t
}

# Without --trust, a trace cannot bring code along, neither in macros nor in files that flags make the compiler read. A trace
# without a program does not crash replay.
test_trace_brings_no_code() {
    programs
    run 1 mazurka check -O2 -DX=1 -I. lost.c || return 1
    t=mazurka-lost-1.trace
    for flag in '-Dassert(e)=remove("precious")' '-Dputs=unlink' '-DX="a"' '-Dx(a)=a' '-DX=1;' '-DX=-' '-D' '-D=1'; do
        sed "s|^build	-O2|build	$flag|" $t > bad.trace && reseal bad.trace
        mazurka replay bad.trace > out 2> err < /dev/null
        [ $? -eq 2 ] && grep -q -e "--trust" -e "argument is missing" err || { complain "not refused: $flag: $(head -n 1 err)"; return 1; }
    done
    sed "s|^build	-O2|build	-D\nbuild	x=remove(\"p\")|" $t > bad.trace && reseal bad.trace && refuses "--trust" mazurka replay bad.trace || return 1
    for flag in -DY -DY=2 -DY=-2 -DY=0x1fUL -DY=1.5 -DY=EBUSY -DY=int -DY=; do
        rm -f -- *.trace && run 1 mazurka check -q --trace=good.trace "$flag" lost.c && run 1 mazurka replay good.trace ||
            { complain "refused: $flag: $(head -n 1 err)"; return 1; }
    done
    run 1 mazurka check -q --trace=t -DX=1 lost.c && echo "-DX=1" > own.txt && sed "s|^build	-DX=1|build	@own.txt|" t > bad.trace &&
        reseal bad.trace && refuses "--trust" mazurka replay bad.trace || return 1
    sed '/^build/d' t > bad.trace && reseal bad.trace && refuses "neither a program nor source files" mazurka replay bad.trace &&
        refuses "neither a program nor source files" mazurka replay --trust bad.trace || return 1
    mkdir -m 777 all && chmod 777 all
    for flag in -Iall "-I$PWD/all" -Lall; do
        sed "s|^build	-DX=1|build	$flag|" t > bad.trace && reseal bad.trace && refuses "everybody can write" mazurka replay bad.trace ||
            { complain "not refused: $flag"; return 1; }
    done
    sed "s|^build	-DX=1|build	-isystem\nbuild	all|" t > bad.trace && reseal bad.trace && refuses "everybody can write" mazurka replay bad.trace
    can_be_others || return 0
    echo "/* */" > theirs.h && mkdir theirs && chown 65534 theirs.h theirs
    for flag in "-include theirs.h" "-imacros theirs.h" "-I theirs" "-L theirs" "-idirafter theirs" "--include-directory theirs"; do
        sed "s|^build	-DX=1|build	${flag% *}\nbuild	${flag#* }|" t > bad.trace && reseal bad.trace &&
            refuses "another user" mazurka replay bad.trace || { complain "not refused: $flag"; return 1; }
    done
}

# replay refuses a source, a program or a directory that belongs to another user.
test_trace_of_others() {
    [ "$(id -u)" = 0 ] && chown nobody . 2> /dev/null || return 0
    chown root .
    programs
    run 1 mazurka check lost.c && chown nobody lost.c && refuses "another user" mazurka replay mazurka-lost-1.trace &&
        chown root lost.c && run 0 mazurka cc -o prog lost.c && run 1 mazurka check ./prog && chown nobody prog &&
        refuses "another user" mazurka replay mazurka-prog-1.trace && chown root prog && chown nobody . &&
        refuses "another user" mazurka replay mazurka-prog-1.trace && chown root . && run 1 mazurka replay mazurka-prog-1.trace
}

# as_nobody COMMAND...: run it as another user; fails if that is not possible
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

can_be_others() { [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null 2>&1 && as_nobody true 2> /dev/null; }

# A cache that other users can write to is not used: they would decide what we run.
test_cache_of_others() {
    programs
    mkdir -m 777 open && mkdir -m 700 own && mkdir -m 777 own/mazurka && chmod 777 own/mazurka
    run 0 env XDG_CACHE_HOME="$PWD/own" mazurka check ok.c && has err "others can write to it" && [ "$(wc -l < err)" -eq 1 ] &&
        [ -z "$(ls own/mazurka)" ] || return 1
    chmod 777 open && run 0 env XDG_CACHE_HOME="$PWD/open" mazurka check ok.c && has err "others can replace it" || return 1
    chmod 1777 open && run 0 env XDG_CACHE_HOME="$PWD/open" mazurka check ok.c && empty err || return 1
    can_be_others || return 0
    mkdir other && mkdir -m 755 other/mazurka && chown 65534 other/mazurka &&
        run 0 env XDG_CACHE_HOME="$PWD/other" mazurka check ok.c && has err "belongs to another user"
}

# mazurka does not write through links that other users put into a shared directory; it does write through our own links.
test_links_of_others() {
    programs
    run 1 mazurka check --trace=real.trace lost.c && ln -s real.trace own.trace && : > real.trace &&
        run 1 mazurka check --trace=own.trace lost.c && [ -h own.trace ] && [ -s real.trace ] || { complain "our own link"; return 1; }
    can_be_others || return 0
    chmod 755 "$work" . && mkdir shared && chmod 1777 shared && echo precious > precious
    for name in t j c c.new r; do as_nobody ln -s "$PWD/precious" shared/$name || return 0; done
    as_nobody mkfifo shared/p
    run 1 mazurka check --trace=shared/t lost.c && has err "another user" || return 1
    run 2 mazurka check --json=shared/j -q ok.c && has err "another user" || return 1
    refuses "another user" mazurka check --checkpoint=shared/c ok.c && refuses "another user" mazurka check --record-tree=shared/r ok.c &&
        run 1 mazurka check --trace=shared/p lost.c && has err "another user" && has precious precious && [ "$(wc -c < precious)" -eq 9 ]
}

# Directories whose owner can replace the files in them; links that another user made.
test_directories_of_others() {
    can_be_others || return 0
    programs
    chmod 755 "$work" . && mkdir theirs own shared && chmod 1777 theirs shared && chown 65534 theirs && mkdir -m 700 mine
    run 0 env XDG_CACHE_HOME="$PWD/theirs" mazurka check ok.c && has err "others can replace it" || return 1
    as_nobody ln -s "$PWD/mine" shared/mazurka || return 0
    run 0 env XDG_CACHE_HOME="$PWD/shared" mazurka check ok.c && has err "another user has put a link there" && [ -z "$(ls mine)" ] || return 1
    refuses "sticky" env TMPDIR="$PWD/theirs" XDG_CACHE_HOME="$PWD/own" mazurka check -DFRESH2 ok.c || return 1
    # The default name of a trace.
    echo precious > precious && as_nobody ln -s "$PWD/precious" shared/mazurka-lost-1.trace && cp lost.c shared && cd shared &&
        run 1 mazurka check lost.c && has err "another user" && has ../precious precious
}

# Unfinished files are created with O_EXCL; a temporary directory in which other users can replace files is refused.
test_temporary_names() {
    programs
    run 1 strace -f -e trace=openat -o log "$mazurka" check --trace=t lost.c 2> /dev/null || return 0
    grep 'O_CREAT' log | grep '"t\.' | grep -v O_EXCL && complain "made without O_EXCL"
    mkdir -m 777 all && chmod 777 all && refuses "sticky" env TMPDIR="$PWD/all" mazurka check -DFRESH ok.c
}

# no_controls FILE: it has no character that a terminal would take for a command
no_controls() {
    python3 - "$1" << 'END' || complain "$1 has control characters: $(head -n 3 "$1" | cat -v)"
import re, sys
text = open(sys.argv[1], "rb").read().decode("utf-8")
sys.exit(bool(re.search("[\0-\t\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", text)))
END
}

# Control characters in strings of the program, in file names and in a trace do not reach the terminal, nor do they forge
# lines of the report.
test_escape_sequences() {
    command -v python3 > /dev/null 2>&1 || return 0
    e=$(printf '\033') file="$(printf 'a\033]0;owned\007b.c')"
    program_with_escapes escapes.c "$file"
    for second in 0 1; do
        rm -f -- *.trace
        run 1 mazurka check --json=j -DSECOND=$second "$file" && no_controls out && no_controls err && no_controls j && json_valid j &&
            first_line out "error: " && ! grep -q '^verified' out && run 1 mazurka replay ./*.trace && no_controls out &&
            ! grep -q '^verified' out && run 0 mazurka show ./*.trace && no_controls out && ! grep -q '^verified' out || return 1
        json_is j "'\\x1b' in d['errors'][0]['message']" || return 1
    done
    refuses 'owned' mazurka check "$(printf 'no\033]0;owned\007.c')" && no_controls err || return 1
    # Control characters in the fields of a trace.
    sed "s|^directory.*|directory	${e}[2J|; s|	main	|	ma${e}[2Jin\\\\nverified	|; s|^version.*|version	\\\\r$e|" *.trace > x.tr && reseal x.tr &&
        run 0 mazurka show x.tr && no_controls out && ! grep -q '^verified' out
}

# Names of threads, symbols and files that the program or its linker makes up; texts of exceptions.
test_escape_sequences_of_names() {
    command -v python3 > /dev/null 2>&1 || return 0
    e=$(printf '\033')
    program_with_escapes escapes.cpp names.cpp
    program symbols.c
    run 0 mazurka cc -O0 -g0 -c symbols.c && objcopy --redefine-sym work="w${e}[2J" --redefine-sym plain="p${e}[31m" \
        --redefine-sym variable="v$e]0;owned" symbols.o && run 0 mazurka cc -o symbols symbols.o || return 1
    for what in names.cpp ./symbols; do
        for jobs in 1 2; do
            run 1 mazurka check -j $jobs --progress=always --json=j --trace=t "$what" -- "${e}[31m" && no_controls out && no_controls err &&
                no_controls j && json_valid j && run 0 mazurka show t && no_controls out && run 1 mazurka replay t && no_controls out &&
                ! grep -q '^verified' out || return 1
        done
    done
}

# The program overwrites the memory that it shares with the command: the command still ends, and soon.
test_damaged_channel() {
    program scribble.c
    for seed in 1 2 3 4 5 6 7 8; do
        for jobs in 1 3; do
            MAZURKA_SHARE_AT_ONCE=1 timeout -k 1 120 mazurka check -q -j $jobs -DSEED=${seed}77 scribble.c > out 2> err < /dev/null
            status=$?
            [ $status -le 4 ] || { complain "seed $seed, -j$jobs: status $status: $(head -n 2 out err)"; return 1; }
        done
    done
}

run_tests "$@"
