#!/bin/sh
# Runs one expectation of a test program and prints one line: "ok ..." or "FAIL ...: expected ..., got ...".
#
#   sh tests/expect.sh FILE "FLAGS... ALGORITHM VERDICT [EXECUTIONS] [KEY=VALUE...]"
#
# The comment at the head of each program contains its expectations, one per line (see CONTRIBUTING.md):
#
#   EXPECT [-DX=1 --option ...] ALGORITHM VERDICT [EXECUTIONS] [KEY=VALUE ...]
#   SLOW ...       the same, only run with SLOW=1
#   OPTIONS ...    options for every line of the file
#   ARGS ...       arguments of the program
#
#   VERDICT        verified, error, incomplete, vacuous, failed: also decides the exit status
#   EXECUTIONS     complete executions, exactly
#   blocked=N      explorations cut by sleep sets (always 0 for optimal)
#   total=N        executions + blocked; total=~N is the paper's figure, only reported
#   states=N transitions=N revisited=N   of stateful algorithms; states=..N: at most
#   kind=K line=N thread=T   of the first error;  errors=N  number of errors
#   exit=N         exit status, if not the one of the verdict
#   says=WORD      a word of the output (text or standard error)
#   compiler=gcc opt=0 search=stateless backtrack=MODE,...   holds only there (tests/matrix.py): the program's comment says why
#   mib=N          peak memory of the run: at most N MiB
#
# A finding that `check` could not replay is a failure. An error is also replayed: `mazurka replay` of the trace must end
# with status 1 and name the same kind.
set -f
export MAZURKA_MUST_REPLAY=1
file=$1
work=${MZ_TEST_DIR:-build/test}
limit=${MZ_TEST_TIMEOUT:-60}
export MAZURKA_CHECK_FORESEEN=1
# One process reads all that is needed of the file: there are thousands of expectations.
name='' options='' arguments=''
eval "$(awk -v what="$file $2" -v here="says_$$" '
    BEGIN {
        gsub(/says=[^ ]*/, here, what) # the output may contain the name of the trace: leave out the word that says= looks for
        gsub(/[^A-Za-z0-9_]/, "_", what)
        printf "name=%s\n", substr(what, 1, 180)
    }
    /^ *(\*|\/\/|\/\*) (OPTIONS|ARGS) / {
        kind = $2
        sub(/^ *(\*|\/\/|\/\*) (OPTIONS|ARGS) /, "")
        sub(/ *\*\/ *$/, "")
        text[kind] = text[kind] $0 " "
    }
    END {
        q = "\047"
        for (kind in text) gsub(q, q "\\" q q, text[kind])
        printf "options=%s%s%s\narguments=%s%s%s\n", q, text["OPTIONS"], q, q, text["ARGS"], q
    }' "$file")"
[ -d "$work" ] || mkdir -p "$work"
json=$work/$name.json out=$work/$name.out trace=$work/$name.trace
[ ! -e "$json" ] && [ ! -e "$out" ] && [ ! -e "$trace" ] || rm -f "$json" "$out" "$trace"

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

# The first value of each key of the JSON object, as value_KEY, and how many errors there are.
# shellcheck disable=SC2034 # value() reads them
value_verdict='' value_executions='''' value_blocked='' value_states='' value_transitions='' value_revisited=''
value_kind='' value_line='' value_thread='' value_peak_memory_bytes='' errors=0
[ ! -f "$json" ] || eval "$(awk '
    {
        rest = $0
        while (match(rest, /"[a-z_]+" *: *("[^"]*"|[0-9.]*)/)) {
            pair = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            key = value = pair
            sub(/^"/, "", key)
            sub(/".*/, "", key)
            sub(/^[^:]*: */, "", value)
            gsub(/"/, "", value)
            if (key == "kind") kinds++
            if (key in seen || key !~ wanted || value !~ /^[-A-Za-z0-9._]*$/) continue
            seen[key] = 1
            printf "value_%s=%s\n", key, value
        }
    }
    END { printf "errors=%d\n", kinds }
    ' wanted='^(verdict|executions|blocked|states|transitions|revisited|kind|line|thread|peak_memory_bytes)$' \
    "$json")"
value() { eval "printf '%s' \"\$value_$1\""; }

wrong=''
compare() { # what, expected, got
    [ "$2" = "$3" ] || wrong="$wrong; $1: expected $2, got ${3:-nothing}"
}

ran_executions=$value_executions ran_blocked=$value_blocked
exits=$status
for want in $wants; do
    case $want in exit=*) exits=${want#exit=} ;; esac
done
if [ "$got" = 124 ] || [ "$got" = 137 ]; then
    wrong="; expected an end within $limit s, got a time-out"
else
    compare "exit status" "$exits" "$got"
fi
if [ -f "$json" ] || [ "$verdict" != failed ]; then compare verdict "$verdict" "$value_verdict"; fi
case "$MZ_TEST_ALGORITHMS:$algorithm" in ?*:stateful | ?*:*s-por | ?*:sdpor | ?*:static* | ?*:sdpor-initial) executions='' stateful=1 ;; esac
[ -z "$executions" ] || compare executions "$executions" "$ran_executions"
[ "$algorithm" != optimal ] || [ "$verdict" != verified ] || compare blocked 0 "$ran_blocked"
for want in $wants; do
    expected=${want#*=}
    case $stateful$want in
    *states=* | *transitions=* | *revisited=*) [ -z "$MZ_TEST_NO_STATES" ] || continue ;;
    esac
    case $stateful$want in
    1blocked=* | 1total=* | 1line=* | 1thread=* | 1errors=*) continue ;; # a stateful search takes other paths
    esac
    case $want in
    blocked=*) compare blocked "$expected" "$ran_blocked" ;;
    total=*) compare total "$expected" "$((ran_executions + ran_blocked))" ;;
    states=..* | transitions=..*)
        [ "$(value "${want%%=*}")" -le "${expected#..}" ] || compare "${want%%=*}" "at most ${expected#..}" "$(value "${want%%=*}")"
        ;;
    states=* | transitions=* | revisited=*) compare "${want%%=*}" "$expected" "$(value "${want%%=*}")" ;;
    kind=*) compare kind "$expected" "$value_kind" ;;
    line=*) compare line "$expected" "$value_line" ;;
    thread=*) compare thread "$expected" "$value_thread" ;;
    errors=*) compare errors "$expected" "$errors" ;;
    says=*) grep -qi -- "$expected" "$out" || compare "the output" "the word $expected" "$(head -c 150 "$out" | head -n 1)" ;;
    mib=*) [ "$value_peak_memory_bytes" -le $((expected << 20)) ] || compare "peak memory" "at most $expected MiB" "$value_peak_memory_bytes bytes" ;;
    exit=* | compiler=* | opt=* | search=* | backtrack=*) ;;
    *) wrong="$wrong; unknown expectation $want" ;;
    esac
done

# The same schedule again, with the same outcome.
if [ -z "$wrong" ] && [ "$verdict" = error ] && [ "$value_kind" != nondeterminism ]; then
    timeout -k 5 "$limit" "${MAZURKA:-./mazurka}" replay --trust --color=never "$trace" >"$out.replay" 2>&1 </dev/null
    compare "exit status of replay" 1 "$?"
    case $value_kind in *-*) said=${value_kind%%-*}.${value_kind#*-} ;; *) said=$value_kind ;; esac
    grep -qi -- "$said" "$out.replay" || compare "replay" "$value_kind" "$(head -n 1 "$out.replay")"
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
