#!/bin/sh
# Files and descriptors: full disks, pipes, devices, directories.
#   sh tests/cli/files.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# The disk is full: the verdict is still printed, and a message names the file that could not be written.
test_disk_full() {
    programs
    mkdir small
    unshare -rm true 2> /dev/null || [ "$(id -u)" = 0 ] || return 0
    cat > inside.sh << 'END'
mount -t tmpfs -o size=16k none small 2> /dev/null || exit 77
dd if=/dev/zero of=small/filler bs=1k count=16 2> /dev/null
mazurka check --trace=small/t lost.c > out1 2> err1; echo $? > status1
mazurka check -q --json=small/j lost.c > out2 2> err2; echo $? > status2
mazurka check --checkpoint=small/c --checkpoint-interval=0.2 --time-limit=0.7 "$@" > out3 2> err3; echo $? > status3
ls small > left
END
    unshare -rm sh inside.sh $endless
    [ $? -ne 77 ] || return 0
    [ "$(cat status1 status2 status3 | tr '\n' ' ')" = "1 2 3 " ] || complain "status $(cat status1 status2 status3)"
    has err1 "cannot write the trace file small/t: No space left" && first_line out1 "error: " &&
        hasnt out1 "mazurka replay" && has err2 "cannot write small/j: No space left" && first_line out2 "error: " &&
        has err3 "cannot write the checkpoint small/c: No space left" && has out3 "time limit" || return 1
    [ "$(cat left)" = filler ] || complain "left behind: $(cat left)"
}

test_full_disk() {
    programs
    [ -e /dev/full ] || return 0
    mazurka check -q ok.c > /dev/full 2> err
    [ $? -eq 2 ] && has err "cannot write to standard output"
}

# A pipe is written to, or refused; a regular file never replaces it.
test_special_files() {
    programs
    mkfifo pipe
    cat pipe > got &
    run 1 mazurka check -q --json=pipe lost.c
    wait
    [ -p pipe ] || { complain "the pipe was replaced"; return 1; }
    json_valid got && refuses "not a regular file" mazurka check --checkpoint=pipe ok.c &&
        refuses "cannot write the checkpoint nowhere/c" mazurka check --checkpoint=nowhere/c ok.c && [ -p pipe ]
}

# mazurka neither waits for input from a pipe, nor reads a device for ever, nor waits for a reader that never comes.
test_no_regular_files() {
    programs
    mkfifo pipe
    for file in pipe /dev/zero; do
        for command in "check ok.c --resume=$file" "replay $file" "show $file" "check $file"; do
            refuses "not a regular file" timeout 120 mazurka $command || return 1
        done
    done
    for command in "check ok.c --resume=." "replay ." "show ." "check ." "check ok.c --json=." "check ok.c --trace=."; do
        refuses "is a directory" timeout 120 mazurka $command || return 1
    done
    cp ok.c mine.c && refuses "mine.c is another file" mazurka check --record-tree=mine.c ok.c && cmp ok.c mine.c &&
        run 0 mazurka check -q --record-tree=t ok.c && run 0 mazurka check -q --record-tree=t ok.c || return 1
    refuses "is a pipe" timeout 120 mazurka check --record-tree=pipe ok.c &&
        run 2 timeout 120 mazurka check -q --json=pipe ok.c && has err "cannot write pipe: nobody reads from it" &&
        [ -p pipe ] && ln -s real.json link.json && run 0 mazurka check -q --json=link.json ok.c && [ -L link.json ] &&
        json_valid real.json && mazurka check -q --json=/dev/stdout ok.c > both && first_line both "verified: " &&
        has both '"verdict": "verified"' && [ -L /dev/stdout ] || return 1
    rm -f out
    mazurka check -q --json=pipe ok.c > out 2> err &
    pid=$!
    wait_until [ -s out ] # the report comes first
    kill -TERM $pid
    wait $pid
    [ $? -eq 2 ] && has err "nobody reads from it"
}

test_no_temporary_directory() {
    programs
    TMPDIR=/proc
    refuses "cannot make a temporary directory /proc/" mazurka check ok.c
    status=$?
    TMPDIR=$work/tmp
    return $status
}

test_closed_descriptors() {
    programs
    mazurka check -q ok.c 2> err <&- >&-
    [ $? -eq 2 ] || mazurka check -q ok.c <&- > out 2>&- || complain "status $? with closed descriptors"
}

test_broken_pipe() {
    programs
    mazurka check lost.c 2> err | head -n 1 > out
    first_line out "error: " && empty err && no_leftovers
}

run_tests "$@"
