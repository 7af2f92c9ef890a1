#!/bin/sh
# Runs one expectation of a test program and prints one line: "ok ..." or "FAIL ...: expected ..., got ...".
#
#   sh tests/expect.sh FILE "FLAGS... ALGORITHM VERDICT [EXECUTIONS] [KEY=VALUE...]"
#
# The expectations stand in the comment at the head of each program, one a line (see CONTRIBUTING.md):
#
#   EXPECT [-DX=1 --option ...] ALGORITHM VERDICT [EXECUTIONS] [KEY=VALUE ...]
#   SLOW ...       the same, only run with SLOW=1
#   OPTIONS ...    options for every line of the file
#   ARGS ...       arguments of the program
#
#   VERDICT        verified, error, incomplete, vacuous, failed: decides the exit status too
#   EXECUTIONS     complete executions, exactly
#   blocked=N      explorations cut by sleep sets (always 0 for optimal)
#   total=N        executions + blocked; total=~N is the paper's figure, only reported
#   states=N transitions=N revisited=N   of stateful algorithms; states=..N: at most
#   kind=K line=N thread=T   of the first error;  errors=N  number of errors
#   exit=N         exit status, if not the one of the verdict
#   says=WORD      a word of the output (text or standard error)
#   mib=N          peak memory of the run, at most so many MiB
#
# An error is also replayed: `mazurka replay` of the trace must end with status 1 and name the same kind.
set -f
file=$1
work=${MZ_TEST_DIR:-build/test}
limit=${MZ_TEST_TIMEOUT:-60}
name=$(printf '%s' "$file $2" | tr -c 'A-Za-z0-9_\n' '_' | cut -c1-180)
mkdir -p "$work"
json=$work/$name.json out=$work/$name.out trace=$work/$name.trace
rm -f "$json" "$out" "$trace"

directive() { sed -n "s@^ *\(\*\|//\|/\*\) $1 @@p" "$file" | sed 's@ *\*/ *$@@' | tr '\n' ' '; }
options=$(directive OPTIONS)
arguments=$(directive ARGS)

flags='' stateful='' algorithm='' verdict='' executions='' wants='' paper=''
for word in $2; do
    case $word in
    -*) flags="$flags $word" ;;
    total=~*) paper=${word#total=~} ;;
    *=*) wants="$wants $word" ;;
    *)
        if [ -z "$algorithm" ]; then algorithm=$word
        elif [ -z "$verdict" ]; then verdict=$word
        else executions=$word
        fi
        ;;
    esac
done
case $verdict in
verified) status=0 ;;
error) status=1 ;;
failed) status=2 ;;
incomplete) status=3 ;;
vacuous) status=4 ;;
*)
    echo "FAIL $file: cannot read the expectation: $2"
    exit 1
    ;;
esac

# shellcheck disable=SC2086
timeout -k 5 "$limit" "${MAZURKA:-./mazurka}" check --algorithm="$algorithm" --color=never --progress=never --json="$json" \
    --trace="$trace" $options $MZ_TEST_FLAGS $flags "$file" ${arguments:+-- $arguments} >"$out" 2>&1 </dev/null
got=$?

# The first value of a key of the JSON object, and how often a key occurs.
value() { grep -o "\"$1\" *: *\(\"[^\"]*\"\|[0-9.]*\)" "$json" 2>/dev/null | head -n 1 | sed 's/^[^:]*: *//; s/"//g'; }
occurrences() { grep -o "\"$1\" *: *" "$json" 2>/dev/null | wc -l | tr -d ' '; }

wrong=''
compare() { # what, expected, got
    [ "$2" = "$3" ] || wrong="$wrong; $1: expected $2, got ${3:-nothing}"
}

ran_executions=$(value executions) ran_blocked=$(value blocked)
exits=$status
for want in $wants; do
    case $want in exit=*) exits=${want#exit=} ;; esac
done
if [ "$got" = 124 ] || [ "$got" = 137 ]; then
    wrong="; expected an end within $limit s, got a time-out"
else
    compare "exit status" "$exits" "$got"
fi
if [ -f "$json" ] || [ "$verdict" != failed ]; then compare verdict "$verdict" "$(value verdict)"; fi
case "$MZ_TEST_ALGORITHMS:$algorithm" in ?*:stateful | ?*:*s-por | ?*:sdpor) executions='' stateful=1 ;; esac
[ -z "$executions" ] || compare executions "$executions" "$ran_executions"
[ "$algorithm" != optimal ] || [ "$verdict" != verified ] || compare blocked 0 "$ran_blocked"
for want in $wants; do
    expected=${want#*=}
    case $stateful$want in
    1blocked=* | 1total=* | 1line=* | 1thread=* | 1errors=*) continue ;; # they come by other ways
    esac
    case $want in
    blocked=*) compare blocked "$expected" "$ran_blocked" ;;
    total=*) compare total "$expected" "$((ran_executions + ran_blocked))" ;;
    states=..* | transitions=..*)
        [ "$(value "${want%%=*}")" -le "${expected#..}" ] || compare "${want%%=*}" "at most ${expected#..}" "$(value "${want%%=*}")"
        ;;
    states=* | transitions=* | revisited=*) compare "${want%%=*}" "$expected" "$(value "${want%%=*}")" ;;
    kind=*) compare kind "$expected" "$(value kind)" ;;
    line=*) compare line "$expected" "$(value line)" ;;
    thread=*) compare thread "$expected" "$(value thread)" ;;
    errors=*) compare errors "$expected" "$(occurrences kind)" ;;
    says=*) grep -qi -- "$expected" "$out" || compare "the output" "the word $expected" "$(head -c 150 "$out" | head -n 1)" ;;
    mib=*) [ "$(value peak_memory_bytes)" -le $((expected << 20)) ] || compare "peak memory" "at most $expected MiB" "$(value peak_memory_bytes) bytes" ;;
    exit=*) ;;
    *) wrong="$wrong; unknown expectation $want" ;;
    esac
done

# The same schedule again, with the same outcome.
if [ -z "$wrong" ] && [ "$verdict" = error ] && [ "$(value kind)" != nondeterminism ]; then
    timeout -k 5 "$limit" "${MAZURKA:-./mazurka}" replay --color=never "$trace" >"$out.replay" 2>&1 </dev/null
    compare "exit status of replay" 1 "$?"
    grep -qi -- "$(value kind | tr '-' '.')" "$out.replay" || compare "replay" "$(value kind)" "$(head -n 1 "$out.replay")"
fi

if [ -z "$wrong" ]; then
    if [ -n "$paper" ]; then echo "ok $file: $2 (paper $paper, ours $((ran_executions + ran_blocked)))"
    else echo "ok $file: $2"
    fi
    [ -n "$MZ_TEST_KEEP" ] || rm -f "$json" "$out" "$trace" "$out.replay"
    exit 0
fi
[ "$got" != 2 ] || [ "$verdict" = failed ] || wrong="$wrong; it said: $(head -n 1 "$out" | cut -c1-200)"
echo "FAIL $file:$options$flags --algorithm=$algorithm: ${wrong#; }"
exit 1
