#!/bin/sh
# Sampling strategies: --strategy, --seed, what the report says, and which bugs they find.
#   sh tests/cli/sampling.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

strategies='random pct:3 pos surw mix'

# A bug that nearly all executions miss, and that depth first does not meet soon: thread 0.1 and 0.2 must meet in the first
# of many rounds.
needle() {
    cat > needle.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int first, noise, seen;
static void *early(void *arg) { atomic_store(&first, 1); for (int i = 0; i < 30; i++) atomic_fetch_add(&noise, 1); return arg; }
static void *late(void *arg)
{
    for (int i = 0; i < 30; i++) atomic_exchange(&noise, i);
    if (atomic_load(&first) == 0) atomic_store(&seen, 1);
    return arg;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, early, 0);
    pthread_create(&t[1], 0, late, 0);
    pthread_join(t[0], 0), pthread_join(t[1], 0);
    assert(!seen);
    return 0;
}
END
}

test_sample_says_what_it_saw() {
    programs
    for s in $strategies; do
        run 3 mazurka check --strategy=$s --seed=5 --max-executions=500 --json=j long.c &&
            first_line out "incomplete: no error so far, but only 500 executions were sampled" &&
            has out "strategy $s" && has out "seed 5" && has out "different classes" && has out "Chao1" || return 1
        json_is j "d['verdict'] == 'incomplete' and d['executions'] == d['walks'] == 500 and d['seed'] == 5" &&
            json_is j "1 <= d['classes'] <= 500 and d['classes'] <= d['classes_estimate'] and d['classes_exact']" &&
            json_is j "d['classes_estimate_method'] == 'chao1' and d['strategy'] == '$s'" || return 1
    done
    run 3 mazurka check --strategy=random --max-executions=600 --json=j long.c && has out "95 % confidence" &&
        json_is j "abs(d['missed_probability'] - 3 / 600) < 1e-9 and d['missed_confidence'] == .95" &&
        run 3 mazurka check --strategy=mix --max-executions=60 --json=j long.c && has out "No confidence" &&
        json_is j "'missed_probability' not in d and sum(m['walks'] for m in d['mix']) == 60 - 8" &&
        run 3 mazurka check --strategy=pct:2 --max-executions=600 --json=j long.c && has out "Guarantee of pct" &&
        json_is j "d['pct']['depth'] == 2 and d['pct']['threads'] == 5 and d['pct']['exceeded'] == 0" &&
        json_is j "abs(d['pct']['probability'] * d['pct']['threads'] * d['pct']['steps'] - 1) < 1e-3"
}

# As many classes as the exhaustive search has executions.
test_sample_meets_all_classes() {
    for s in random pct:4 pos mix; do
        run 3 mazurka check --strategy=$s --seed=1 --json=j -DN=3 "$root/tests/papers/lastzero.c" &&
            json_is j "d['executions'] == 10000 and d['classes'] == 12 == d['classes_estimate']" || return 1
    done
    run 0 mazurka check --json=j -DN=3 "$root/tests/papers/lastzero.c" && json_is j "d['executions'] == 12"
}

# The same seed draws the same executions; another one draws others.
test_sample_seed() {
    programs
    for s in $strategies; do
        for n in 1 2 3; do
            seed=$((n == 3 ? 8 : 7))
            run 3 mazurka check --strategy=$s --seed=$seed --max-executions=60 --json=j$n -DN=6 "$root/tests/papers/lastzero.c" ||
                return 1
            python3 -c "import json
d = json.load(open('j$n'))
print(d['classes'], d['classes_once'], d['classes_twice'], d['transitions'])" > n$n
        done
        cmp n1 n2 || complain "$s: the same seed, other walks" || return 1
        [ "$(cat n1)" != "$(cat n3)" ] || complain "$s: another seed, the same walks" || return 1
    done
    # without --seed: another one each time
    run 3 mazurka check --strategy=random --max-executions=9 --json=j1 long.c &&
        run 3 mazurka check --strategy=random --max-executions=9 --json=j2 long.c &&
        seed=$(python3 -c "import json; print(json.load(open('j1'))['seed'])") && json_is j2 "d['seed'] != $seed"
}

# Every kind of finding, with a trace that replays.
test_sample_finds_and_replays() {
    programs
    for s in $strategies; do
        for program in lost:assertion race:'data race' abba:deadlock crash:SIGSEGV; do
            rm -f ./*.trace
            run 1 mazurka check --strategy=$s --seed=3 ${program%%:*}.c && has out "${program#*:}" &&
                has out "Sample: strategy" && run 1 mazurka replay "mazurka-${program%%:*}-1.trace" || return 1
        done
    done
}

test_sample_finds_the_needle() {
    needle
    run 1 mazurka check --strategy=pct:2 --seed=1 --max-executions=3000 needle.c && has out "assertion failed" || return 1
    run 3 mazurka check --max-executions=3000 needle.c
}

test_sample_keep_going() {
    programs
    run 1 mazurka check --strategy=random --keep-going --max-executions=200 --json=j lost.c &&
        json_is j "d['executions'] >= 190 and len(d['errors']) >= 1 and 'missed_probability' not in d"
}

# A limit of time, an interrupt, loops that wait, an execution without end, programs that check nothing.
test_sample_ends() {
    programs
    run 3 mazurka check --strategy=pos --time-limit=0.3 --json=j long.c && json_is j "d['walks'] > 20" &&
        run 3 mazurka check --strategy=random --max-steps=500 spin.c && has out "3 rounds" &&
        run 4 mazurka check --strategy=random --max-executions=20 single.c && first_line out "vacuous: "
}

# Two threads with five stores each: 252 classes, and nothing that makes a search start over.
stores() { sed 's/STORES/5/' "$programs/stores.c" > stores.c; }

# Workers draw the walks that one process would draw: the same seed, so nearly the same numbers. The limit is for all.
test_sample_workers() {
    stores
    run 3 mazurka check --strategy=random --seed=4 --max-executions=600 --json=j1 stores.c &&
        run 3 mazurka check -j 3 --strategy=random --seed=4 --max-executions=600 --json=j stores.c &&
        json_is j "600 <= d['walks'] == d['executions'] <= 603 and d['workers'] >= 1 and d['redundant'] == 0" || return 1
    for s in $strategies; do
        run 3 mazurka check -j 2 --strategy=$s --max-executions=700 --json=j stores.c &&
            json_is j "d['classes'] <= 252 and 700 <= d['walks'] <= 702 and d['executions'] == d['walks']" &&
            json_is j "'missed_walks' not in d or 700 - 16 - 60 <= d['missed_walks'] <= d['walks']" || return 1
    done
    # One task each time, so the same walks.
    run 3 mazurka check --strategy=pos --seed=4 --max-executions=200 --json=j1 stores.c &&
        run 3 mazurka check -j 1 --checkpoint=c --strategy=pos --seed=4 --max-executions=200 --json=j2 stores.c &&
        json_is j2 "all(d[k] == json.load(open('j1'))[k] for k in ('walks', 'classes', 'classes_once', 'transitions'))" || return 1
    programs
    run 1 mazurka check -j 3 --strategy=pos --max-executions=500 --keep-going --json=j lost.c &&
        json_is j "len(d['errors']) == 1" && run 1 mazurka replay mazurka-lost-1.trace &&
        run 3 mazurka check -j 2 --strategy=random --max-steps=500 spin.c && has out "3 rounds"
}

# The classes, the walks and the seed go on from the checkpoint.
test_sample_checkpoint() {
    stores
    run 3 mazurka check --strategy=pos --max-executions=300 --checkpoint=c --json=j1 stores.c && [ -s c ] &&
        run 3 mazurka check -j 2 --strategy=pos --max-executions=900 --resume=c --json=j2 stores.c &&
        json_is j1 "300 <= d['walks'] <= 302" &&
        json_is j2 "900 <= d['walks'] <= 903 and d['walks'] == d['executions'] and d['resumed'] >= 300" &&
        json_is j2 "d['seed'] == json.load(open('j1'))['seed'] and d['classes'] >= json.load(open('j1'))['classes']" &&
        json_is j2 "d['missed_walks'] == d['walks']" &&
        refuses "--strategy (then pos, now random)" mazurka check --strategy=random --resume=c stores.c &&
        refuses "--seed (then drawn, now 3)" mazurka check --strategy=pos --seed=3 --resume=c stores.c
}

test_sample_refused() {
    programs
    refuses "did you mean random" mazurka check --strategy=randon ok.c &&
        refuses "the depth must be a number from 1 to 32" mazurka check --strategy=pct:0 ok.c &&
        refuses "the depth must be a number" mazurka check --strategy=pct:x ok.c &&
        refuses "--seed goes with a sampling --strategy" mazurka check --seed=3 ok.c &&
        refuses "a number is wanted" mazurka check --strategy=random --seed=x ok.c &&
        refuses "--algorithm goes with --strategy=exhaustive" mazurka check --strategy=pos --algorithm=dpor ok.c &&
        refuses "--order goes with" mazurka check --strategy=pos --order=random ok.c &&
        refuses "--classes goes with" mazurka check --strategy=pos --classes=c ok.c &&
        run 0 mazurka check --strategy=exhaustive ok.c && has out "algorithm optimal"
}

run_tests "$@"
