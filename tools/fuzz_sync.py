#!/usr/bin/env python3
"""Random C programs over all synchronization objects: every algorithm must find what brute force finds.

    tools/fuzz_sync.py [--seed N] [--count N] [--kinds LIST] [--algorithms LIST] [--ways] [--compilers] [--keep DIR]

A program has two or three threads that use a few kinds of objects, wait in loops, and keep the result of each
operation. Its outcome consists of all results, and selects the assertion that fails at its end. So with --keep-going
the set of errors is the set of outcomes. It must be the same as that of `--algorithm=none --no-sleep-sets`, which runs
every interleaving; and all stateless algorithms must count the same number of executions. The runtime is the same on
both sides: an error of the runtime in every interleaving is not found here. With --ways, all --backtrack modes must
count the same, and equal hashes must mean equal states (--state-match). If results differ, the exit status is 1 and the
program is in DIR.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ["MAZURKA_MUST_REPLAY"] = "1"  # a finding that does not replay is a failure

OUTCOMES = 200
WAYS = ("undo", "checkpoint", "rerun")
STATEFUL = ("stateful", "s-por", "de-s-por", "dl-s-por", "sdpor") # their executions end in known states

HEAD = """#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static _Atomic int x[2], f[2];
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t sl;
static pthread_barrier_t b;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s;
static pthread_t t[4];
static unsigned h[4];
static const struct timespec later = {2000000000, 0};
static void init(void) { atomic_fetch_add(&x[0], 1); }
#define NOTE(v) (h[me] = h[me] * 31 + (unsigned)(v) + 1)
#define FUTEX(a, op, v, v2, a2) syscall(SYS_futex, a, op, v, v2, a2, 0)
static void ended(void *p) { atomic_fetch_add(&x[1], 1); (void)p; }
static __thread int own[2];
static __thread char text[24];
static char *block[4];
static pthread_key_t key;
struct job { int from, to; char pad[20]; _Atomic int sum; };
static int deep(int n, int v) { return n ? deep(n - 1, v + atomic_load(&x[n & 1])) + v % 3 : v; }
static int by_case(int v)
{
    switch (v & 7) {
    case 0: return atomic_load(&x[0]);
    case 1: return v + 3;
    case 2: atomic_fetch_add(&x[1], 1); return 9;
    case 3: return v * v;
    case 4: return atomic_exchange(&x[0], v);
    case 5: return -v;
    case 6: return atomic_fetch_sub(&x[1], 1) + v;
    default: return 77;
    }
}
static int of_all(int n, ...)
{
    va_list a;
    int sum = 0;
    va_start(a, n);
    while (n--) sum = sum * 5 + va_arg(a, int) + atomic_load(&x[n & 1]);
    va_end(a);
    return sum;
}
static int six(int a, int b2, int c2, int d, int e, int f2)
{
    int r = atomic_fetch_add(&x[0], a & 1);
    r = r * 3 + atomic_load(&x[1]) + b2;
    return r + c2 * atomic_load(&x[0]) + d - e + f2;
}
static int by_size(const void *a, const void *b2)
{
    atomic_load(&x[0]);
    return *(const int *)a - *(const int *)b2;
}
static void *do_job(void *p)
{
    struct job *j = p;
    for (int i = j->from; i < j->to; i++) atomic_fetch_add(&j->sum, i + 1);
    return (void *)(long)atomic_load(&x[0]);
}
"""

ATOMICS = ["NOTE(atomic_load(&x[X]));", "atomic_store(&x[X], $K);", "NOTE(atomic_fetch_add(&x[X], 1));",
           "{ int e = $K; NOTE(atomic_compare_exchange_strong(&x[X], &e, 3)); }"]
# Operations of each kind of object; INSIDE is a block of its own; [X], $K and [Y] are chosen at random.
KINDS = {
    "mutex": ["pthread_mutex_lock(&m[X]); INSIDE pthread_mutex_unlock(&m[X]);"] * 2,
    "try": [
        "{ int r = pthread_mutex_trylock(&m[X]); NOTE(r); if (!r) { INSIDE pthread_mutex_unlock(&m[X]); } }",
        "{ int r = pthread_mutex_timedlock(&m[X], &later); NOTE(r); if (!r) { INSIDE pthread_mutex_unlock(&m[X]); } "
        "}",
        "pthread_mutex_lock(&m[X]); INSIDE pthread_mutex_unlock(&m[X]);",
        "while (pthread_mutex_trylock(&m[X])) {} INSIDE pthread_mutex_unlock(&m[X]);"],
    "spinlock": ["pthread_spin_lock(&sl); INSIDE pthread_spin_unlock(&sl);",
                 "{ int r = pthread_spin_trylock(&sl); NOTE(r); if (!r) { INSIDE pthread_spin_unlock(&sl); } }"],
    "rwlock": ["pthread_rwlock_rdlock(&l); INSIDE pthread_rwlock_unlock(&l);",
               "pthread_rwlock_wrlock(&l); INSIDE pthread_rwlock_unlock(&l);",
               "{ int r = pthread_rwlock_tryrdlock(&l); NOTE(r); if (!r) { INSIDE pthread_rwlock_unlock(&l); } }",
               "{ int r = pthread_rwlock_trywrlock(&l); NOTE(r); if (!r) { INSIDE pthread_rwlock_unlock(&l); } }"],
    "semaphore": ["sem_wait(&s);", "sem_post(&s);", "sem_post(&s);", "NOTE(sem_trywait(&s));",
                  "NOTE(sem_timedwait(&s, &later));", "{ int v; sem_getvalue(&s, &v); NOTE(v); }",
                  "while (sem_trywait(&s)) {}"],
    "barrier": ["NOTE(pthread_barrier_wait(&b));"],
    "condition": ["pthread_mutex_lock(&m[0]); pthread_cond_wait(&c, &m[0]); INSIDE pthread_mutex_unlock(&m[0]);",
                  "pthread_mutex_lock(&m[0]); NOTE(pthread_cond_timedwait(&c, &m[0], &later)); INSIDE "
                  "pthread_mutex_unlock(&m[0]);",
                  "pthread_cond_signal(&c);", "pthread_cond_signal(&c);", "pthread_cond_broadcast(&c);",
                  "pthread_mutex_lock(&m[0]); pthread_cond_signal(&c); pthread_mutex_unlock(&m[0]);",
                  "pthread_mutex_lock(&m[0]); while (!atomic_load(&x[X])) pthread_cond_timedwait(&c, &m[0], &later); "
                  "pthread_mutex_unlock(&m[0]);",
                  "pthread_mutex_lock(&m[0]); while (!atomic_load(&x[X])) pthread_cond_wait(&c, &m[0]); "
                  "pthread_mutex_unlock(&m[0]);"],
    "once": ["pthread_once(&once, init); NOTE(atomic_load(&x[0]));"],
    "futex": ["NOTE(FUTEX(&f[X], FUTEX_WAIT, 0, 0, 0));", "NOTE(FUTEX(&f[X], FUTEX_WAIT, 0, &later, 0));",
              "NOTE(FUTEX(&f[X], FUTEX_WAKE, 1, 0, 0));", "NOTE(FUTEX(&f[X], FUTEX_WAKE, INT_MAX, 0, 0));",
              "atomic_store(&f[X], 1); FUTEX(&f[X], FUTEX_WAKE, INT_MAX, 0, 0);",
              "NOTE(FUTEX(&f[X], FUTEX_WAKE, 2, 0, 0));",
              "NOTE(FUTEX(&f[0], FUTEX_REQUEUE, $K, (void *)(long)INT_MAX, &f[1]));",
              "NOTE(FUTEX(&f[0], FUTEX_REQUEUE, 0, (void *)1L, &f[1]));",
              "NOTE(FUTEX(&f[0], FUTEX_CMP_REQUEUE, 1, (void *)1L, &f[1]));"],
    "join": ["NOTE(pthread_tryjoin_np(t[Y], NULL) == EBUSY);"],
    "cancel": ["pthread_testcancel(); NOTE(1);", "pthread_cancel(t[Y]);",
               "pthread_mutex_lock(&m[0]); pthread_cleanup_push(ended, 0); pthread_cond_wait(&c, &m[0]); "
               "pthread_cleanup_pop(0); pthread_mutex_unlock(&m[0]);", "pthread_cond_signal(&c);"],
    "clock": ["NOTE(time(NULL));", "sleep($K + 1);", "{ time_t a = time(NULL) + 1; while (time(NULL) < a) {} }",
              "{ struct timespec a = {1000000002, 0}; clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &a, NULL); }"],
    "random": ["NOTE(rand());"],
    "locals": [
        "{ int v = atomic_load(&x[X]); for (int i = 0; i < 2; i++) v = v * 3 + atomic_fetch_add(&x[Z], i); NOTE(v); }",
        "{ int v = atomic_load(&x[X]); int w = atomic_load(&x[Z]); atomic_fetch_add(&x[X], v > w ? v : w); NOTE(v - w); }",
        "{ unsigned char v = (unsigned char)atomic_load(&x[X]); short w = (short)(v + $K); atomic_store(&x[Z], w); "
        "v += (unsigned char)atomic_load(&x[X]); NOTE(v * 2 + w); }",
        "{ double v = atomic_load(&x[X]) * 0.5; atomic_store(&x[Z], $K); float w = atomic_load(&x[X]); NOTE(v * 4 + w); }",
        "{ int v[3] = {atomic_load(&x[0]), atomic_load(&x[1]), $K}; atomic_fetch_add(&x[X], v[1]); NOTE(v[0] * 4 + v[2]); }",
        "{ long v = 0; do { v = v * 2 + atomic_load(&x[X]); } while (v < 2 && v++ < 1); NOTE(v); }"],
    "calls": ["NOTE(deep(2, $K));", "NOTE(by_case(atomic_load(&x[X]) + me));", "NOTE(by_case(atomic_fetch_add(&x[X], 1)));",
              "NOTE(of_all(3, atomic_load(&x[X]), $K, me));", "NOTE(six(1, atomic_load(&x[X]), 3, me, 5, $K));",
              "{ int v = atomic_load(&x[X]); NOTE(six(v, v + 1, v, $K, 1, atomic_load(&x[Z]))); }",
              "{ int v[3] = {atomic_load(&x[X]), 1, atomic_load(&x[Z])}; qsort(v, 3, sizeof *v, by_size); NOTE(v[1]); }"],
    "memory": [
        "{ char *p = malloc(24); memset(p, atomic_load(&x[X]), 24); atomic_fetch_add(&x[Z], 1); p = realloc(p, 48); "
        "NOTE(p[23]); free(p); }",
        "{ free(block[me]); block[me] = malloc(16 + 16 * (size_t)(atomic_load(&x[X]) & 1)); memset(block[me], 3, 16); "
        "block[me][5] = (char)atomic_load(&x[Z]); NOTE(block[me][5]); }",
        "{ int *p = calloc(4, 4); p[1] = atomic_load(&x[X]); int q[4]; memcpy(q, p, 16); atomic_store(&x[Z], q[1] + 1); "
        "NOTE(p[1] + q[2]); free(p); }",
        "own[$K] += atomic_load(&x[X]) + 1; NOTE(own[1]);", "own[0] = 1; atomic_fetch_add(&x[X], own[$K]); NOTE(own[0]++);",
        "snprintf(text, sizeof text, \"%d\", atomic_load(&x[X])); atomic_load(&x[Z]); NOTE(strtol(text, NULL, 10));",
        "errno = atomic_load(&x[X]); atomic_fetch_add(&x[Z], 1); NOTE(errno);",
        "pthread_setspecific(key, &x[atomic_load(&x[X]) & 1]); atomic_load(&x[Z]); NOTE(pthread_getspecific(key) == &x[1]);",
        "{ struct job j = {$K, 2, {0}, 0}; pthread_t u; pthread_create(&u, NULL, do_job, &j); void *r; "
        "NOTE(atomic_load(&j.sum)); pthread_join(u, &r); NOTE((long)r + j.sum); }"],
    "wait": ["while (!atomic_load(&x[X])) {}", "while (atomic_load(&x[X]) < 2) {}",
             "for (;;) { pthread_mutex_lock(&m[1]); int v = atomic_load(&x[X]); pthread_mutex_unlock(&m[1]); "
             "if (v) break; }"],
}


class Program:
    def __init__(self, seed, kinds):
        r = self.random = random.Random(seed)
        self.kinds = r.sample(kinds, min(len(kinds), r.choice([1, 2, 2, 3])))
        self.count = r.choice([2, 2, 3, 3, 3])
        self.cond = "cancel" in self.kinds or "condition" in self.kinds
        length = {2: [2, 3], 3: [1, 2]}[self.count]
        self.threads = [[self.operation(t, 0) for _ in range(r.choice(length))] for t in range(self.count)]
        self.value, self.arrivals = r.choice([0, 0, 1]), r.choice([2, 2, self.count])
        self.writers_first = r.random() < 0.3
        self.optimize = r.choice(["-O0", "-O1", "-O2"])
        self.compiler = r.choice(["gcc", "clang"])

    def operation(self, me, depth):
        r = self.random
        kind = r.choice(self.kinds + ["atomic"])
        text = r.choice(KINDS[kind] if kind != "atomic" else ATOMICS)
        if depth and (kind == "cancel" or kind == "condition" and "wait" in text):
            text = ATOMICS[2]
        inside = self.operation(me, depth + 1) if "INSIDE" in text and depth < 1 and r.random() < 0.5 else ""
        text = text.replace("[X]", "[1]" if self.cond and "&m[X]" in text else "[%d]" % r.randrange(2))
        text = text.replace("[Z]", "[%d]" % r.randrange(2))
        text = text.replace("$K", str(r.randrange(2))).replace("INSIDE", inside)
        return text.replace("[Y]", "[%d]" % r.choice([t for t in range(self.count) if t != me]))

    def c(self):
        out = [HEAD, "static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;"]
        named = "join" in self.kinds or "cancel" in self.kinds
        for i, ops in enumerate(self.threads):
            out += ["static void *run%d(void *arg)" % i, "{", "    enum { me = %d };" % i, "    (void)me;"]
            if named: # wait until main has created all threads, so that t[] is set
                out += ["    pthread_mutex_lock(&gate);", "    pthread_mutex_unlock(&gate);"]
            out += ["    " + op for op in ops] + ["    return arg;", "}"]
        n = range(self.count)
        out += ["int main(void)", "{", "    enum { me = 3 };", "    sem_init(&s, 0, %d);" % self.value,
                "    pthread_barrier_init(&b, NULL, %d);" % self.arrivals, "    pthread_spin_init(&sl, 0);",
                "    pthread_key_create(&key, NULL);"]
        if self.writers_first:
            out += ["    pthread_rwlockattr_t a;", "    pthread_rwlockattr_init(&a);",
                    "    pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);",
                    "    pthread_rwlock_init(&l, &a);"]
        if named:
            out += ["    pthread_mutex_lock(&gate);"]
        out += ["    pthread_create(&t[%d], 0, run%d, 0);" % (i, i) for i in n]
        if named:
            out += ["    pthread_mutex_unlock(&gate);"]
        out += ["    pthread_join(t[%d], 0);" % i for i in n]
        out += ["    NOTE(atomic_load(&x[0]) * 7 + atomic_load(&x[1]));",
                "    unsigned outcome = (h[0] * 7919 + h[1] * 104729 + h[2] * 1299709 + h[3]) %% %du;" % OUTCOMES]
        out += ["    assert(outcome != %d);" % i for i in range(OUTCOMES)]
        return "\n".join(out + ["    return 0;", "}"]) + "\n"


def check(mazurka, words, directory):
    """Verdict, set of errors, executions, blocked ones, states."""
    out = subprocess.run([mazurka, "check", "--strategy=exhaustive", "--json", "--quiet", "--keep-going", "--time-limit=20",
                          "--max-steps=200"] + words +
                         ["--trace=" + os.path.join(directory, "fuzz.trace"), os.path.join(directory, "fuzz.c")],
                         capture_output=True, text=True, 
                         env=dict(os.environ, XDG_CACHE_HOME=directory, MAZURKA_CHECK_FORESEEN="1"))
    try:
        result = json.loads(out.stdout)
    except ValueError:
        return "no result: " + out.stderr.strip(), set(), 0, 0, 0
    unsure = [e["message"] for e in result["errors"] if not e["replayed"]]
    if unsure:
        return "not replayed: " + unsure[0], set(), 0, 0, 0
    errors = set(e["message"] if e["kind"] == "assertion" else e["kind"] for e in result["errors"])
    verdict = "incomplete" if not result["complete"] else "vacuous" if result["verdict"] == "vacuous" else "complete"
    return verdict, errors, result["executions"], result["blocked"], result.get("states", 0)


def compare_ways(options, algorithm, words, got, directory):
    """Other ways to come to the next branch, and to tell states apart."""
    ways = [["--backtrack=" + w] for w in WAYS]
    if algorithm in STATEFUL:
        ways = [["--state-match=exact"], ["--backtrack=checkpoint", "--state-match=exact"]]
    for way in ways:
        other = check(options.mazurka, words + ["--algorithm=" + algorithm] + way, directory)
        # checkpoint compares all memory, undo what the hooks see: the numbers of states may differ by memory that is never read
        if other[:2] != got[:2] or (other[2:] != got[2:] and way[0] != "--backtrack=checkpoint"):
            yield "%s: %s, with %s %s" % (algorithm, got, " ".join(way), other)
        elif algorithm not in STATEFUL and other[2:] != got[2:]:
            yield "%s: %s, with %s %s" % (algorithm, got, " ".join(way), other)


def compare(options, optimize, directory):
    """Differences between the algorithms, as text; None if brute force did not come to an end."""
    brute = check(options.mazurka, [optimize, "--algorithm=none", "--no-sleep-sets"], directory)
    if brute[0] not in ("complete", "vacuous"):
        return None if brute[0] == "incomplete" or "not supported" in brute[0] else ["none: " + brute[0]]
    misuse = "api-misuse" in brute[1] # operations that are not events decide which thread makes the mistake: counts may differ
    differences, counts = [], set()
    for algorithm in options.algorithms.split(","):
        got = check(options.mazurka, [optimize, "--algorithm=" + algorithm], directory)
        if algorithm not in STATEFUL:
            counts.add(0 if misuse else got[2])
        if got[:2] != brute[:2] or len(counts) > 1 or (algorithm == "optimal" and got[3]):
            missed, invented = sorted(brute[1] - got[1]), sorted(got[1] - brute[1])
            differences.append("%s: none %s %d, got %s %d, %d blocked; missed %s, invented %s" % (
                (algorithm, brute[0], brute[2], got[0]) + got[2:4] + (missed, invented)))
        if options.ways:
            differences += compare_ways(options, algorithm, [optimize], got, directory)
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--kinds", default=",".join(sorted(KINDS)), help="of objects to choose from")
    parser.add_argument("--algorithms", default="optimal,source,dpor,sleep")
    parser.add_argument("--ways", action="store_true", help="compare the ways to go back and to tell states apart, too")
    parser.add_argument("--compilers", action="store_true", help="gcc or clang, at random; else $CC")
    parser.add_argument("--keep", default="build", help="where programs go that differ")
    parser.add_argument("--mazurka", default=os.path.join(os.path.dirname(__file__), "..", "mazurka"))
    options = parser.parse_args()
    different, compared, left_out = 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(options.seed, options.seed + options.count):
            program = Program(seed, options.kinds.split(","))
            with open(os.path.join(directory, "fuzz.c"), "w") as f:
                f.write(program.c())
            if options.compilers:
                os.environ["CC"] = program.compiler
            differences = compare(options, program.optimize, directory)
            compared += differences is not None
            left_out += differences is None
            if not differences:
                continue
            different += 1
            name = os.path.join(options.keep, "fuzz-sync-%d.c" % seed)
            with open(name, "w") as f:
                f.write(program.c())
            for line in differences:
                print("%s (%s, %s %s): %s" % (name, " ".join(program.kinds), os.environ.get("CC", ""),
                                              program.optimize, line), flush=True)
    print("seed %d: %d programs compared, %d left out, %d different" % (options.seed, compared, left_out, different))
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
