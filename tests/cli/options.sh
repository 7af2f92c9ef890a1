#!/bin/sh
# Options, arguments, help, and input that the command refuses.
#   sh tests/cli/options.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

test_version() { run 0 mazurka --version && first_line out "mazurka $(cat "$root/VERSION")"; }

test_help() {
    run 0 mazurka help && has out "mazurka check" && no_wide_lines out &&
        run 0 mazurka help check && has out "--algorithm=A" && no_wide_lines out &&
        run 0 mazurka check --help && has out "--max-steps=N" && run 0 mazurka --help &&
        run 0 mazurka help cc && run 0 mazurka help replay && run 0 mazurka help show && run 0 mazurka help bench &&
        run 2 mazurka && refuses "did you mean check" mazurka help chek
}

# bash splits --heap=re into three words.
completes() { # expected, words...
    expected=$1
    shift
    run 0 bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mazurka; echo "${COMPREPLY[*]}"' - "$@" &&
        empty err && [ "$(cat out)" = "$expected" ] || complain "completion of $*: $(cat out)"
}
test_bash_completion() {
    command -v bash >/dev/null || return 0
    "$mazurka" help --bash-completion >completion &&
        completes "check" mazurka ch &&
        completes "--heap= --help" mazurka check --he &&
        completes "reuse" mazurka check --heap = re &&
        completes "fresh reuse" mazurka check a.c --heap = &&
        completes "--trust" mazurka replay --tr &&
        completes "replay" mazurka help re &&
        completes "" mazurka check exam
}
test_manual_is_up_to_date() { run 0 sh "$root/man/update.sh" --check; }

test_unknown_command() {
    refuses "did you mean \`mazurka check\`" mazurka chekc x.c && refuses "mazurka check a.c" mazurka a.c &&
        refuses "see \`mazurka help\`" mazurka frobnicate
}

test_unknown_options() {
    programs
    refuses "did you mean --algorithm?" mazurka check --algoritm=source ok.c &&
        refuses "did you mean --keep-going?" mazurka check --keepgoing ok.c &&
        refuses "did you mean optimal?" mazurka check --algorithm=optmal ok.c &&
        refuses "unknown option -k" mazurka check -k ok.c &&
        refuses "unknown option --wobble" mazurka check --wobble ok.c &&
        refuses "did you mean --verbose?" mazurka replay --verbos x.trace
}

test_bad_values() {
    programs
    refuses "--max-steps=0" mazurka check --max-steps=0 ok.c &&
        refuses "--max-executions=x" mazurka check --max-executions=x ok.c &&
        refuses "--max-executions=-1" mazurka check --max-executions=-1 ok.c &&
        refuses "--max-executions=99999999999999999999" mazurka check --max-executions=99999999999999999999 ok.c &&
        refuses "--time-limit=soon" mazurka check --time-limit=soon ok.c &&
        refuses "--memory-limit=2Q" mazurka check --memory-limit=2Q ok.c &&
        refuses "--checkpoint-interval goes with --checkpoint" mazurka check --checkpoint-interval=5 ok.c &&
        refuses "--color=yes" mazurka check --color=yes ok.c &&
        refuses "its argument is missing" mazurka check ok.c --max-steps &&
        refuses "takes no argument" mazurka check --keep-going=yes ok.c &&
        refuses "needs sleep sets" mazurka check --no-sleep-sets ok.c &&
        refuses "goes with a stateful" mazurka check --order=learned ok.c &&
        refuses "goes with a stateless" mazurka check --order=round-robin --algorithm=s-por ok.c &&
        refuses "the stateful form of dpor is --algorithm=sdpor" mazurka check --stateful --algorithm=dpor ok.c &&
        refuses "goes with --algorithm=dpor --no-sleep-sets" mazurka check --persistent=static ok.c &&
        refuses "goes with --algorithm=dpor --no-sleep-sets" mazurka check --marks --algorithm=dpor ok.c &&
        refuses "by one worker" mazurka check --algorithm=static -j2 ok.c &&
        refuses "goes with a stateful" mazurka check --state-match=exact --algorithm=source ok.c &&
        refuses "visited-first" mazurka check --order=visited ok.c &&
        refuses "hash, exact" mazurka check --state-match=no ok.c
}

test_not_supported_yet() {
    programs
    for o in --sarif=x --junit=x --html=x; do
        refuses "not supported yet" mazurka check $o ok.c || return 1
    done
    refuses "not supported yet" mazurka replay --gdb x && refuses "not supported yet" mazurka show x --html x &&
        run 0 mazurka check -j 1 ok.c
}

test_bad_inputs() {
    programs
    refuses "No such file" mazurka check nothere.c && refuses "No such file" mazurka check ./nothere &&
        refuses "directory" mazurka check . && refuses "not a file" mazurka check "$(mkdir d.c && echo d.c)" &&
        refuses "nothing to check" mazurka check && refuses "not an ELF file" mazurka check "$root/VERSION" &&
        refuses "not built for checking" mazurka check /bin/ls && refuses "cannot be used here" mazurka check -c ok.c &&
        refuses "cannot be used here" mazurka check -o x ok.c && refuses "is no source file" mazurka check ok.c /bin/ls &&
        refuses "compiler flags make no sense" mazurka check -DX /bin/ls || return 1
    cc -pthread -c -o plain.o ok.c && refuses "object file" mazurka check plain.o || return 1
    cc -pthread -fPIC -shared -o lib.so ok.c && refuses "not a program" mazurka check lib.so || return 1
    if cc -pthread -static -o static ok.c 2> /dev/null; then
        refuses "static executable" mazurka check ./static || return 1
    fi
    cp ok.c ok.mm && refuses "neither C nor" mazurka check ok.mm
    run 0 mazurka cc -o prog ok.c && chmod -x prog && { [ -x prog ] || refuses "ermission denied" mazurka check ./prog; }
}

test_options_from_environment() {
    programs
    # shellcheck disable=SC2089,SC2090 # mazurka itself reads the quotes
    MAZURKA_OPTIONS="--algorithm='source' --quiet"
    # shellcheck disable=SC2090
    export MAZURKA_OPTIONS
    run 1 mazurka check --json=r.json lost.c && [ "$(wc -l < out)" -eq 1 ] && json_is r.json "d['algorithm'] == 'source'" &&
        run 1 mazurka check --algorithm=dpor --json=r.json lost.c && json_is r.json "d['algorithm'] == 'dpor'" &&
        run 1 mazurka replay mazurka-lost-1.trace || return 1
    MAZURKA_OPTIONS="--algoritm=source" && refuses "did you mean --algorithm" mazurka check ok.c &&
        MAZURKA_OPTIONS="--trace='x" && refuses "quote" mazurka check ok.c &&
        MAZURKA_OPTIONS="ok.c" && refuses "not an option" mazurka check ok.c
}

test_arguments() {
    program args.c
    run 0 mazurka check -DN=4 args.c -- "-x y" --json && run 0 mazurka check -D N=4 args.c -- "-x y" --json &&
        run 1 mazurka check -DN=5 args.c -- "-x y" --json && run 1 mazurka replay mazurka-args-1.trace &&
        has out "N == 4" && run 1 mazurka check -DN=4 args.c
}

test_quiet_and_verbose() {
    program talk.c
    run 0 mazurka check -q talk.c && [ "$(wc -l < out)" -eq 1 ] && run 0 mazurka check talk.c &&
        hasnt out "hello" && run 0 mazurka check --verbose talk.c && has out "hello from the program" &&
        run 0 mazurka check --verbose --json talk.c && json_valid out && has err "hello from the program"
}

test_color() {
    programs
    esc=$(printf '\033')
    run 0 mazurka check ok.c && hasnt out "$esc" && run 0 mazurka check --color=always ok.c && has out "$esc" &&
        run 0 env NO_COLOR=1 mazurka check --color=always ok.c && has out "$esc" &&
        run 0 mazurka check --color=never ok.c && hasnt out "$esc"
}

# --algorithm=portfolio runs two algorithms at a time.
test_portfolio() {
    programs
    refuses "--checkpoint is not for portfolio" mazurka check --algorithm=portfolio --checkpoint=c ok.c &&
        refuses "--resume is not for portfolio" mazurka check --algorithm=portfolio --resume=c ok.c &&
        run 0 mazurka check -q --algorithm=portfolio --json=a.json ok.c && empty err && json_valid a.json && [ "$(ls a.*)" = a.json ] &&
        mazurka check -q --algorithm=portfolio -j 2 --json=/dev/stdout ok.c > all 2>&1 &&
        first_line all "mazurka: note: portfolio explores with one worker for each algorithm: -j is not" &&
        [ "$(grep -c 'note:' all)" -eq 1 ] && has all '"verdict": "verified"' && [ -L /dev/stdout ]
}

run_tests "$@"
