#!/bin/sh
# Checkpoints and --resume.
#   sh tests/cli/checkpoint.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# A killed run continues from its last checkpoint, an interrupted run from where it stopped. In the end the executions are
# the same.
test_checkpoint() {
    file=$root/tests/papers/lastzero.c
    run 0 mazurka check -q -DN=15 "$file" && cp out alone || return 1
    mazurka check -q -j 2 --checkpoint=c --checkpoint-interval=0.1 -DN=15 "$file" > out 2> err &
    pid=$!
    wait_until [ -s c ]
    kill -KILL $pid 2> /dev/null
    wait $pid 2> /dev/null
    [ -f c ] || { complain "no checkpoint"; return 1; }
    rm -f err
    mazurka check -q --progress=json --resume=c --checkpoint=d -DN=15 "$file" > out 2> err &
    pid=$!
    wait_until searching err
    kill -INT $pid 2> /dev/null
    wait $pid
    [ -f d ] || { cmp -s out alone && return 0; complain "no second checkpoint"; return 1; }
    run 0 mazurka check -q -j 2 --resume=d -DN=15 "$file" || return 1
    cmp -s out alone || complain "$(cat out) instead of $(cat alone)"
}

# The same for stateful searches: the checkpoint has the states that are finished.
test_checkpoint_stateful() {
    file="-DP=4 $root/tests/papers/state_buffer.c"
    # shellcheck disable=SC2086
    for how in stateful s-por dl-s-por sdpor; do
        rm -f c d
        run 0 mazurka check -q --algorithm=$how --json=1.json $file || return 1
        mazurka check -q --progress=json -j 2 --algorithm=$how --checkpoint=c --checkpoint-interval=0.05 $file > out 2> err &
        pid=$!
        wait_until [ -s c ]
        kill -KILL $pid 2> /dev/null
        wait $pid 2> /dev/null
        run 3 mazurka check -q -j 2 --algorithm=$how --checkpoint=d --max-executions=5000 $file || return 1
        for from in c d; do
            run 0 mazurka check -q --algorithm=$how --resume=$from --json=2.json $file &&
                json_is 2.json "d['verdict'] == 'verified'" &&
                python3 -c "import json; a, b = (json.load(open(n)) for n in ('1.json', '2.json'))
assert '$how' != 'stateful' or a['states'] <= b['states'] <= 1.01 * a['states'], (a['states'], b['states'])" || return 1
        done
    done
    run 0 mazurka check -q --algorithm=sdpor --checkpoint=c $file && run 0 mazurka check -q --algorithm=sdpor --resume=c $file
}

# A checkpoint can be resumed in another directory: the program is the same there.
test_checkpoint_elsewhere() {
    mkdir a b
    cp "$root/tests/papers/lastzero.c" a
    cp a/lastzero.c b
    run 0 mazurka check -q -DN=12 "$root/tests/papers/lastzero.c" && cp out alone || return 1
    (cd a && mazurka check -q --checkpoint=c --max-executions=4000 -DN=12 lastzero.c) > out 2> err
    (cd b && mazurka check -q -j 2 --resume=../a/c -DN=12 lastzero.c) > out 2> err || { complain "$(cat err)"; return 1; }
    cmp -s out alone || complain "$(cat out) instead of $(cat alone)"
}

# Two searches must not use the same checkpoint file at a time.
test_checkpoint_twice() {
    file=$root/tests/papers/lastzero.c
    mazurka check -q --progress=json --checkpoint=c $endless > first 2>&1 &
    pid=$!
    wait_until searching first
    ln -s c link
    refuses "another search is using it" mazurka check --checkpoint=./c -DN=6 "$file" &&
        refuses "another search is using it" mazurka check --checkpoint=link -DN=6 "$file" &&
        run 0 mazurka check -q --checkpoint=d -DN=6 "$file"
    kill -KILL $pid
    wait $pid 2> /dev/null
    run 0 mazurka check -q --checkpoint=c -DN=6 "$file"
}

# A search that a limit ended can be resumed and loses nothing. A complete search is still complete when it is resumed.
test_checkpoint_limits() {
    file="-DN=13 $root/tests/papers/lastzero.c"
    # shellcheck disable=SC2086
    for how in "--max-executions=15000" "--max-executions=5000 -j 3" "--memory-limit=300K" "--memory-limit=300K -j 2"; do
        rm -f c
        run 3 mazurka check $how --checkpoint=c --json=1.json $file &&
            run 3 mazurka check $how --checkpoint=c $file && has out "--resume=c" || return 1
        run 3 mazurka check $how --checkpoint=c --json=1.json $file &&
            run 0 mazurka check -q --resume=c --checkpoint=c --json=2.json $file && has out "(32768 executions" || return 1
        # This search starts over once. If the limit ends it before that, the restart discards what was explored: resumed is 0.
        json_is 2.json "d['resumed'] == $(executions 1.json) or (d['resumed'] == 0 and d['restarts'] == 1)" &&
            json_is 2.json "abs(d['executions_per_second'] * d['seconds'] - (32768 - d['resumed'])) < 2" || return 1
        run 0 mazurka check -q --resume=c --json=3.json $file && has out "(32768 executions" &&
            json_is 3.json "d['resumed'] == 32768 and d['share'] == 1" || return 1
    done
    programs
    run 1 mazurka check --keep-going --checkpoint=e --json=1.json lost.c && run 1 mazurka check --keep-going --resume=e --json=2.json lost.c &&
        json_is 2.json "[e['kind'] for e in d['errors']] == $(python3 -c "import json;print([e['kind'] for e in json.load(open('1.json'))['errors']])")"
}

test_checkpoint_refused() {
    file=$root/tests/papers/lastzero.c
    run 3 mazurka check -q --max-executions=1000 --checkpoint=c -DN=14 "$file" && [ -s c ] || return 1
    refuses "it is of another program (then -DN=14 $file, now -DN=13 $file)" mazurka check --resume=c -DN=13 "$file" &&
        refuses "other options: --max-steps (then 100000, now 99)" mazurka check --resume=c --max-steps=99 -DN=14 "$file" &&
        refuses "other options: --order (then default, now names)" mazurka check --resume=c --order=names -DN=14 "$file" &&
        refuses "other options: --algorithm (then optimal, now source), --leaks (then no, now yes)" \
            mazurka check --resume=c --algorithm=source --leaks -DN=14 "$file" &&
        refuses "other options: --data-races (then error, now allow)" mazurka check --resume=c --data-races=allow -DN=14 "$file" &&
        refuses "other options: --nondet-range (then none, now 0..3)" mazurka check --resume=c --nondet-range=0..3 -DN=14 "$file" &&
        refuses "other arguments (then none, now a 'b c')" mazurka check --resume=c -DN=14 "$file" -- a 'b c' &&
        refuses "other options: --algorithm (then optimal, now stateful)" mazurka check --resume=c --algorithm=stateful -DN=14 "$file" &&
        refuses "--resume is not for sleep sets with states" mazurka check --resume=c --algorithm=stateful --sleep-sets -DN=14 "$file" &&
        refuses "--checkpoint is not for --state-match=exact" mazurka check --checkpoint=d --algorithm=s-por --state-match=exact "$file" &&
        refuses "cannot read" mazurka check --resume=none -DN=14 "$file" || return 1
    head -c $(($(wc -c < c) - 9)) c > torn && refuses "damaged" mazurka check --resume=torn -DN=14 "$file" || return 1
    sed 's/^mazurka checkpoint [0-9]*/mazurka checkpoint 0/' c > old && refuses "checkpoint of another version" mazurka check --resume=old -DN=14 "$file" &&
        echo x > x && refuses "it is not a checkpoint" mazurka check --resume=x -DN=14 "$file" &&
        cp "$file" changing.c &&
        run 3 mazurka check -q --max-executions=10 --checkpoint=d -DN=14 changing.c && echo "int more;" >> changing.c &&
        refuses "it is of another program: this one has been changed since" mazurka check --resume=d -DN=14 changing.c &&
        refuses "cannot write the checkpoint nowhere/d" mazurka check -q --resume=c --checkpoint=nowhere/d -DN=14 "$file" &&
        run 0 mazurka check -q --resume=c -DN=14 "$file"
}

# An existing file is not overwritten, unless it is empty, is the checkpoint that is resumed, or belongs to a finished
# search. A symbolic link stays a link.
test_checkpoint_there() {
    file="-DN=10 $root/tests/papers/lastzero.c"
    echo mine > notes.txt && refuses "notes.txt: there is a file of that name" mazurka check --checkpoint=notes.txt $file &&
        has notes.txt mine && : > empty && run 0 mazurka check -q --checkpoint=empty $file && empty err && [ -s empty ] || return 1
    run 3 mazurka check -q --max-executions=10 --checkpoint=c $file && empty err && cp c first &&
        run 3 mazurka check -q --max-executions=20 --checkpoint=c $file && has err "kept as c.old" && cmp c.old first &&
        [ "$(wc -l < err)" -eq 1 ] && rm c.old &&
        run 3 mazurka check -q --max-executions=30 --resume=c --checkpoint=./c $file && empty err && [ ! -e c.old ] &&
        run 0 mazurka check -q --resume=c --checkpoint=c $file && empty err && [ ! -e c.old ] &&
        run 3 mazurka check -q --max-executions=10 --checkpoint=c $file && empty err && [ ! -e c.old ] || return 1
    for _ in 1 2; do # a search with an error is finished, too
        run 1 mazurka check -q --checkpoint=w "$root/tests/programs/deadlock_abba.c" && empty err && [ ! -e w.old ] || return 1
    done
    run 1 mazurka check -q --resume=w "$root/tests/programs/deadlock_abba.c" && first_line out "error: deadlock" || return 1
    cp first d.old && cp first d && run 3 mazurka check -q --max-executions=15 --resume=d.old --checkpoint=d $file &&
        has err "kept as d.old.2" && cmp d.old first && cmp d.old.2 first || return 1
    echo mine > e.new && refuses "e.new: there is a file of that name" mazurka check --checkpoint=e $file &&
        has e.new mine && rm e.new || return 1
    echo mine > e.old && cp first e && cp first e.old.2 && run 3 mazurka check -q --max-executions=15 --checkpoint=e $file &&
        has err "kept as e.old.3" && has e.old mine && cmp e.old.2 first && cmp e.old.3 first || return 1
    mkdir dir && ln -s dir/real link && run 3 mazurka check -q --max-executions=10 --checkpoint=link $file && empty err &&
        [ -L link ] && [ -f dir/real ] && run 0 mazurka check -q --resume=link --checkpoint=link $file && empty err &&
        [ -L link ] && [ -f dir/real ] && [ "$(ls dir)" = real ] &&
        ln -s round round && refuses "symbolic links" mazurka check --checkpoint=round $file
}

# A checkpoint with any byte changed or missing is refused with a reason; a checkpoint of another version is called that.
test_checkpoint_damaged() {
    file=$root/tests/papers/lastzero.c
    run 3 mazurka check -q --max-executions=1000 --checkpoint=c -DN=14 "$file" && [ -s c ] || return 1
    python3 - mazurka check -q --resume=bad -DN=14 "$file" > why 2>&1 << 'END' || { complain "$(cat why)"; return 1; }
import hashlib, random, subprocess, sys
whole, rng = open("c", "rb").read(), random.Random(1)
def refused(data, reason, what):
    open("bad", "wb").write(data)
    p = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if p.returncode != 2 or reason not in p.stderr:
        sys.exit("%s: status %d, %s" % (what, p.returncode, p.stderr + p.stdout))
def summed(data): return data + hashlib.sha256(data).hexdigest().encode()
for size in {0, 1, 20, 21, 22, 63, 64, 65, 200, len(whole) // 2, len(whole) - 65, len(whole) - 64, len(whole) - 1}:
    refused(whole[:size], "cannot resume from bad: it is", "%d bytes of it" % size)
refused(whole + b"x", "damaged", "more than all of it")
step = len(whole) // 24
for at in [rng.randrange(i, min(i + step, len(whole))) for i in range(0, len(whole), step)] + [len(whole) - 1]:
    flipped = whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1:]
    refused(flipped, "cannot resume from bad: it is", "another byte %d" % at)
refused(bytes(len(whole)), "not a checkpoint", "zeros")
head = whole.split(b"\n", 4)
refused(summed(b"\n".join([head[0], b"9.9.9"] + head[2:])[:-64]), "another version", "another version")
# Damage behind a right checksum is found, too.
body = whole[:-64]
for cut in (len(body) - 1, len(body) // 2, len(body) - len(head[4]) + 64 + 1000):
    refused(summed(body[:cut]), "damaged", "short, with the right sum")
refused(summed(body + b"x"), "damaged", "long, with the right sum")
END
}

# A kill loses only the executions since the last checkpoint. The checkpoint is written repeatedly, each time with more
# executions. Three times in two minutes: the default interval of 60 s would be too long for that.
test_checkpoint_interval() {
    for algorithm in optimal source; do
        rm -f c
        mazurka check -q -j 2 --algorithm=$algorithm --checkpoint=c --checkpoint-interval=0.2 $endless > out 2> err &
        pid=$!
        saved=0 grown=0
        wait_until checkpoint_has_grown_often
        status=$?
        kill -KILL $pid
        wait $pid 2> /dev/null
        [ $status = 0 ] || return 1
    done
}

checkpoint_has_grown_often() {
    [ -s c ] || return 1
    now=$(saved_executions)
    [ "$now" -le $saved ] || { saved=$now grown=$((grown + 1)); }
    [ $grown -gt 3 ]
}

saved_executions() { # in the checkpoint c; resumes a copy of it
    cp c copy && mazurka check -q --algorithm=$algorithm --resume=copy --max-executions=1 --json=r.json $endless > resumed 2>&1
    executions r.json
}

# same_verdict COMMAND...: the verdict of the search that was saved, line by line
same_verdict() {
    run "${status:-0}" "$@" || return 1
    sed '/^No error in/,$d' out > now && cmp -s now before && return 0
    complain "another verdict after --resume: $(head -n 3 now)"
}

# What the search reported as not seen before a checkpoint, it reports again when it is resumed.
test_unseen_is_saved() {
    program weak.c
    for jobs in 1 2; do
        run 0 mazurka check -j $jobs --checkpoint=c weak.c && first_line out "verified, except: weak memory" || return 1
        sed '/^No error in/,$d' out > before
        same_verdict mazurka check --resume=c weak.c && same_verdict mazurka check -j 2 --resume=c --checkpoint=d weak.c &&
            same_verdict mazurka check --resume=d weak.c && run 0 mazurka check --resume=d --json weak.c &&
            has out '"weak memory is not explored' && run 3 mazurka check --resume=d --strict weak.c || return 1
    done
    # A limit ends the search, perhaps before it has noticed all of that.
    run 3 mazurka check --max-executions=1 --checkpoint=e weak.c && run 0 mazurka check --resume=e weak.c &&
        first_line out "verified, except: weak memory" || return 1
    # The search that noticed an unseen write is discarded; the checkpoint is of the second search.
    unset MAZURKA_MUST_REPLAY
    export MAZURKA_TRUST_HOOKS=1
    run 0 mazurka check -j 2 --checkpoint=f -DCHECK "$root/tests/programs/unseen_rarely.c" &&
        first_line out "verified, except: " || return 1
    sed '/^No error in/,$d' out > before
    same_verdict mazurka check --resume=f -DCHECK "$root/tests/programs/unseen_rarely.c" || return 1
    # The same for what other ranks noticed.
    command -v mpirun.mpich > /dev/null && [ -e "$root/build/libmazurka-mpich.so" ] || return 0
    unset MAZURKA_TRUST_HOOKS
    MAZURKA_SHARE_AT_ONCE=1 MAZURKA_FAR=1 run 0 mpirun.mpich -n 3 "$mazurka" check --checkpoint=g weak.c &&
        first_line out "verified, except: weak memory" || return 1
    run 0 mazurka check --resume=g weak.c && first_line out "verified, except: weak memory"
}

# A checkpoint of the previous format has no lines for the unseen: it is refused.
test_old_checkpoint_is_refused() {
    program weak.c
    run 0 mazurka check --checkpoint=c weak.c && sed '1s/[0-9]*$/4/' c > old && ! cmp -s c old && refuses "a checkpoint of another version" mazurka check --resume=old weak.c
}

run_tests "$@"
