#!/usr/bin/env python3
"""Random C programs with data races: the stateful algorithms must find what `optimal` finds.

    tools/fuzz_races.py [--seed N] [--count N] [--algorithms LIST] [--ways] [--allow] [--compilers] [--keep DIR]

Besides main, a program has two or three threads that access plain variables (of all sizes, on the heap, on main's
stack). They synchronize, or not, with mutexes (also recursive and robust ones), spin locks, read-write locks,
semaphores, condition variables, barriers, pthread_once, atomics of all memory orders and sizes, fences, and by creating
and joining threads. A stateful search does not take all paths to a state, so it finds a race only if the part of the
past that decides about the race belongs to the state. The script compares the verdict and, if there is only one race,
checks that it is found. (After the first race of an execution, the order of the accesses decides which other races are
noticed.) With --allow (--data-races=allow) it compares the outcomes of the program: each is an assertion that fails.
With --ways, exact comparison of states and another --backtrack mode must have the same result. If results differ, the
exit status is 1 and the program is in DIR.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

OUTCOMES = 64
STATEFUL = ("stateful", "s-por", "de-s-por", "dl-s-por", "sdpor")
LOADS = ("relaxed", "relaxed", "acquire", "seq_cst")
STORES = ("relaxed", "relaxed", "release", "seq_cst")
UPDATES = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")

SYNCHRONIZES = ("spin", "wait", "robust", "recursive", "wide", "trylock", "upgrade")

HEAD = """#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; _Atomic int flag; };
static union { int i[3]; char c[12]; long l; } d;
static _Atomic int a[3];
static _Atomic(struct node *) box;
static struct node *n1, *n2, *n3;
static _Atomic int told[4];
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t cm = PTHREAD_MUTEX_INITIALIZER;
static int woken;
static sem_t s;
static pthread_t t[4];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t pair; /* of two threads of which each waits there once */
static pthread_mutex_t robust, again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static union { _Atomic long l; _Atomic int i[2]; _Atomic char c[8]; } wide;
static int *_Atomic shown; /* a variable on the stack of a thread that may have ended */
static int *out;
static volatile int lent;
static unsigned h[5];
#ifdef OUTCOME
#define NOTE(v) (h[me] = h[me] * 31 + (unsigned)(v) + 1)
#else /* the less is kept, the more states are equal */
#define NOTE(v) do { __typeof__(v) v_ = (v); (void)me; __asm__ volatile("" : : "r"(v_)); } while (0)
#endif
"""


class Program:
    def __init__(self, seed, compilers):
        r = self.random = random.Random(seed)
        self.threads = r.choice((2, 2, 2, 3))
        self.length = r.choice((2, 3, 3, 4)) if self.threads == 2 else r.choice((1, 2, 2))
        self.variables = r.choice((1, 1, 2, 3))
        self.depth = 0
        self.compiler = r.choice(("gcc", "clang")) if compilers else os.environ.get("CC", "gcc")
        self.optimize = r.choice(("-O0", "-O1", "-O2"))
        kinds = ["plain", "atomic", "test"]
        kinds += r.sample(["mutex", "rwlock", "semaphore", "fence", "box", "condition", "mixed", "size", "stack",
                            "once", "spin", "wait", "robust", "recursive", "wide", "shown", "trylock", "copy", "upgrade"],
                          r.choice((1, 2, 3)))
        self.kinds = kinds + (["pair"] if r.random() < 0.15 else [])
        self.careful = r.random() < 0.8
        self.nested = self.threads > 2 and r.random() < 0.3
        self.early = r.random() < 0.5
        self.text = self.c()

    def body(self, n):
        self.depth += 1
        lines = []
        for _ in range(n):
            lines += self.operation()
        self.depth -= 1
        return ["    " + line for line in lines]

    def operation(self):
        kind = self.random.choice([k for k in self.kinds if k != "pair"] + ["plain"])
        if self.depth > 2 and kind in ("test", "mutex", "rwlock"):
            kind = "plain"
        return getattr(self, kind)()

    def synchronize(self, most):
        """What may order this thread with others, or not."""
        i, r, lines = self.random.randrange(2), self.random, []
        for _ in range(r.randrange(most + 1)):
            lines += r.choice((
                ["pthread_mutex_lock(&m[%d]);" % i, "pthread_mutex_unlock(&m[%d]);" % i],
                ["atomic_fetch_add_explicit(&a[2], 1, memory_order_%s);" % r.choice(UPDATES)],
                ["pthread_rwlock_%slock(&l);" % r.choice(("rd", "wr")), "pthread_rwlock_unlock(&l);"],
                ["sem_post(&s);"], ["(void)sem_trywait(&s);"],
                ["atomic_store_explicit(&a[2], 1, memory_order_%s);" % r.choice(STORES)],
                ["NOTE(atomic_load_explicit(&a[2], memory_order_%s));" % r.choice(LOADS)],
                *([self.fence()] + [getattr(self, k)() for k in self.kinds if k in SYNCHRONIZES])))
        return lines

    def access(self, owner):
        """One of the owner's variables."""
        i, r = owner - 1, self.random
        choices = ["d.i[%d] = %d;" % (i, r.randrange(3)), "NOTE(d.i[%d]);" % i]
        if "size" in self.kinds:
            choices += ["d.c[%d] = 1;" % (4 * i + r.randrange(4)), "NOTE(d.c[%d]);" % (4 * i + r.randrange(4))]
        if "mixed" in self.kinds:
            choices += ["atomic_store_explicit((_Atomic int *)&d.i[%d], 1, memory_order_relaxed);" % i,
                        "NOTE(atomic_load_explicit((_Atomic int *)&d.i[%d], memory_order_acquire));" % i]
        if "box" in self.kinds:
            choices += ["NOTE(n%d->value);" % owner, "n%d->value = 1;" % owner, "atomic_store(&n%d->flag, 1);" % owner]
        return r.choice(choices)

    def handing_on(self, me):
        """Accesses its own variables, sets told[], and accesses the variables of another thread that has set told[]. The
        synchronization of the two threads before decides whether this is a race."""
        r = self.random
        other = r.choice([n for n in range(1, self.threads + 1) if n != me])
        lines = [self.access(me) for _ in range(r.choice((1, 1, 2)))] + self.synchronize(2)
        lines.append("atomic_store_explicit(&told[%d], 1, memory_order_%s);" % (me, r.choice(STORES + ("release",) * 3)))
        inner = ["    " + line for line in self.synchronize(1) + [self.access(other)]]
        if "box" in self.kinds and r.random() < 0.5:
            inner.append("    free(n%d); n%d = NULL;" % (other, other))
        lines += self.synchronize(2)
        lines += ["if (atomic_load_explicit(&told[%d], memory_order_%s)) {" % (other, r.choice(LOADS + ("acquire",) * 5))] + inner + ["}"]
        return ["    " + line for line in lines]

    def plain(self):
        i = self.random.randrange(self.variables)
        if self.random.random() < 0.5:
            return ["d.i[%d] = %d;" % (i, self.random.randrange(3))]
        return ["NOTE(d.i[%d]);" % i]

    def size(self):
        return [self.random.choice(("d.c[%d] = 1;" % self.random.randrange(8), "NOTE(d.c[%d]);" % self.random.randrange(8),
                                    "d.l = 5;", "NOTE(d.l);"))]

    def stack(self):
        return [self.random.choice(("*out = 1;", "NOTE(*out);"))]

    def atomic(self):
        i, r = self.random.randrange(2), self.random
        return [r.choice((
            "atomic_store_explicit(&a[%d], %d, memory_order_%s);" % (i, r.randrange(1, 3), r.choice(STORES)),
            "atomic_store_explicit(&a[%d], %d, memory_order_%s);" % (i, r.randrange(1, 3), r.choice(STORES)),
            "NOTE(atomic_load_explicit(&a[%d], memory_order_%s));" % (i, r.choice(LOADS)),
            "atomic_fetch_add_explicit(&a[%d], 1, memory_order_%s);" % (i, r.choice(UPDATES))))]

    def mixed(self):
        i = self.random.randrange(2)
        return [self.random.choice(("*(int *)&a[%d] = 1;" % i, "NOTE(*(int *)&a[%d]);" % i))]

    def test(self):
        i, r = self.random.randrange(2), self.random
        condition = r.choice((
            "atomic_load_explicit(&a[%d], memory_order_%s) == %d" % (i, r.choice(LOADS), r.randrange(3)),
            "atomic_exchange_explicit(&a[%d], 2, memory_order_%s) == 1" % (i, r.choice(UPDATES)),
            "atomic_load_explicit(&a[%d], memory_order_%s)" % (i, r.choice(LOADS))))
        return ["if (%s) {" % condition] + self.body(r.choice((1, 1, 2))) + ["}"]

    def fence(self):
        return ["atomic_thread_fence(memory_order_%s);" % self.random.choice(UPDATES[1:])]

    def mutex(self):
        i = self.random.randrange(2)
        return (["pthread_mutex_lock(&m[%d]);" % i] + self.body(self.random.choice((0, 0, 1, 1, 2))) +
                ["pthread_mutex_unlock(&m[%d]);" % i])

    def rwlock(self):
        how = self.random.choice(("rd", "wr"))
        return ["pthread_rwlock_%slock(&l);" % how] + self.body(self.random.choice((0, 1, 1))) + ["pthread_rwlock_unlock(&l);"]

    def semaphore(self):
        if self.random.random() < 0.5:
            return ["sem_post(&s);"]
        return ["if (!sem_trywait(&s)) {"] + self.body(1) + ["}"]

    def box(self):
        r = self.random
        order = r.choice(UPDATES)
        if r.random() < 0.5:
            return ["{ struct node *n = malloc(sizeof *n); n->value = 3; atomic_init(&n->flag, 0);",
                    "  n = atomic_exchange_explicit(&box, n, memory_order_%s);" % order,
                    "  if (n) { NOTE(n->value); free(n); } }"]
        if r.random() < 0.5:
            return ["{ struct node *n = atomic_load_explicit(&box, memory_order_%s);" % r.choice(LOADS),
                    "  if (n) %s; }" % r.choice(("NOTE(n->value)", "atomic_store(&n->flag, 1)", "n->value = 7"))]
        return ["{ struct node *n = atomic_exchange_explicit(&box, NULL, memory_order_%s);" % order,
                "  if (n) { n->value++; %sfree(n); } }" % r.choice(("", "atomic_fetch_add(&n->flag, 1); "))]

    def condition(self):
        if self.random.random() < 0.5:
            return ["pthread_mutex_lock(&cm); woken = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&cm);"]
        return (["pthread_mutex_lock(&cm);", "if (woken) {"] + self.body(1) +
                ["}", "pthread_mutex_unlock(&cm);"])

    def inner(self, n):
        """Accesses between taking a lock and giving it back."""
        self.depth += 1
        lines = [line for _ in range(n) for line in self.plain()]
        self.depth -= 1
        return lines

    def once(self):
        return ["pthread_once(&once, run_once);"]

    def spin(self):
        return ["pthread_spin_lock(&spin);"] + self.inner(self.random.choice((0, 1, 1))) + ["pthread_spin_unlock(&spin);"]

    def recursive(self):
        more = self.random.choice(([], ["pthread_mutex_lock(&again);", "pthread_mutex_unlock(&again);"]))
        return (["pthread_mutex_lock(&again);"] + more + self.inner(self.random.choice((0, 1))) + ["pthread_mutex_unlock(&again);"])

    def robust(self):
        lines = ["if (pthread_mutex_lock(&robust)) pthread_mutex_consistent(&robust);"] + self.inner(self.random.choice((0, 1, 1)))
        return lines + (["pthread_mutex_unlock(&robust);"] if self.random.random() < 0.7 else ["return NULL;"] if self.depth and
                        self.in_thread else ["pthread_mutex_unlock(&robust);"])

    def trylock(self):
        return self.random.choice((
            ["if (!pthread_mutex_trylock(&m[0])) {"] + self.inner(1) + ["pthread_mutex_unlock(&m[0]); }"],
            ["if (!pthread_rwlock_tryrdlock(&l)) {"] + self.inner(1) + ["pthread_rwlock_unlock(&l); }"],
            ["if (!pthread_rwlock_trywrlock(&l)) {"] + self.inner(1) + ["pthread_rwlock_unlock(&l); }"],
            ["if (pthread_mutex_trylock(&m[0])) {"] + self.inner(1) + ["} else pthread_mutex_unlock(&m[0]);"]))

    def upgrade(self):
        r = self.random
        first, second = r.choice((("rd", "wr"), ("wr", "rd"), ("rd", "rd")))
        return (["pthread_rwlock_%slock(&l);" % first] + self.inner(1) + ["pthread_rwlock_unlock(&l);"] +
                ["pthread_rwlock_%slock(&l);" % second] + self.inner(r.choice((0, 1))) + ["pthread_rwlock_unlock(&l);"])

    def wait(self):
        r = self.random
        if r.random() < 0.5:
            return ["pthread_mutex_lock(&cm); woken++; pthread_cond_%s(&c); pthread_mutex_unlock(&cm);" % r.choice(("signal", "broadcast"))]
        lines = ["pthread_mutex_lock(&cm);", "{ struct timespec soon = {1, 0};",
                 "if (!woken && !pthread_cond_timedwait(&c, &cm, &soon)) {"] + self.inner(1) + ["} }"]
        return lines + self.inner(r.choice((0, 1))) + ["pthread_mutex_unlock(&cm);"]

    def wide(self):
        r = self.random
        what = r.choice(("l", "i[%d]" % r.randrange(2), "c[%d]" % r.randrange(8)))
        return [r.choice(("atomic_store_explicit(&wide.%s, 1, memory_order_%s);" % (what, r.choice(STORES)),
                          "NOTE(atomic_load_explicit(&wide.%s, memory_order_%s));" % (what, r.choice(LOADS)),
                          "atomic_fetch_add_explicit(&wide.%s, 1, memory_order_%s);" % (what, r.choice(UPDATES))))]

    def shown(self):
        r = self.random
        if r.random() < 0.5:
            return ["atomic_store_explicit(&shown, (int *)&own, memory_order_%s);" % r.choice(STORES)]
        return ["{ int *p = atomic_exchange_explicit(&shown, NULL, memory_order_%s);" % r.choice(UPDATES),
                "  if (p) %s; }" % r.choice(("NOTE(*p)", "*p = 3"))]

    def copy(self):
        r = self.random
        return [r.choice(("memcpy(&d, n, %d);" % r.randrange(1, 13), "memset((char *)&d + %d, 1, %d);" % (r.randrange(5), r.randrange(1, 8)),
                          "memcpy(n, &d, %d);" % r.randrange(1, 13)))]

    def c(self):
        out = ["static void run_once(void)", "{", "    const int me = 0;"] + ["    " + line for line in self.inner(2)] + ["}"]
        pair = "pair" in self.kinds
        self.in_thread = True
        for n in range(self.threads, 0, -1):
            out += ["static void *f%d(void *arg)" % n, "{", "    const int me = %d;" % n, "    volatile int own = 0;", "    char n[16] = {0};",
                    "    (void)arg, (void)n, (void)own;"]
            inner = self.handing_on(n) if self.careful else self.body(self.length)
            if pair and n < 3:
                inner[self.random.choice((0, len(inner))):0] = ["    pthread_barrier_wait(&pair);"]
            if self.nested and n == 1:
                inner.append("    pthread_create(&t[%d], NULL, f%d, NULL);" % (self.threads, self.threads))
            out += inner + ["    return NULL;", "}"]
        self.in_thread = False
        out += ["int main(void)", "{", "    const int me = 0;", "    volatile int own = 0; char n[16] = {0}; (void)own, (void)n;", "    static int place; int local = 0;", "    (void)place;",
                "    out = &local;", "    sem_init(&s, 0, 0);"]
        if "spin" in self.kinds:
            out.append("    pthread_spin_init(&spin, 0);")
        if pair:
            out.append("    pthread_barrier_init(&pair, NULL, 2);")
        if "robust" in self.kinds:
            out += ["    pthread_mutexattr_t attr; pthread_mutexattr_init(&attr);",
                    "    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&robust, &attr);"]
        if "box" in self.kinds:
            out += ["    n%d = malloc(sizeof *n%d); n%d->value = 0; atomic_init(&n%d->flag, 0);" % (n, n, n, n) for n in (1, 2, 3)]
        mine = [n for n in range(1, self.threads + 1) if not (self.nested and n == self.threads)]
        for n in mine:
            out.append("    pthread_create(&t[%d], NULL, f%d, NULL);" % (n, n))
            if self.random.random() < 0.4 and not self.careful:
                out += self.body(1)
        self.random.shuffle(mine)
        for n in mine:
            out.append("    pthread_join(t[%d], NULL);" % n)
            if self.early and not self.careful and self.random.random() < 0.5:
                out += self.body(1)
        if self.nested:
            out.append("    pthread_join(t[%d], NULL);" % self.threads)
        out += ["    NOTE(local);", "    free(box);", "    free(n1); free(n2); free(n3);"]
        out += ["#ifdef OUTCOME", "    unsigned outcome = (h[0] * 7919 + h[1] * 104729 + h[2] * 1299709 + h[3] * 31 + h[4] +"
                " (unsigned)d.i[0]) %% %du;" % OUTCOMES]
        out += ["    assert(outcome != %d);" % i for i in range(OUTCOMES)] + ["#endif"]
        return HEAD + "\n".join(out + ["    return 0;", "}"]) + "\n"


def lines_of(error):
    if error["kind"] == "assertion":
        return error["message"]
    if error["kind"] == "double-free":
        return "use-after-free" # with --allow, the schedule decides whether a second free is a double free or a use after free
    if error["kind"] != "data-race":
        return error["kind"]
    return tuple(sorted((a["stack"] or [{"line": 0}])[0].get("line", 0) for a in error["accesses"]))


def check(options, program, words, directory):
    """Verdict and set of errors."""
    out = subprocess.run([options.mazurka, "check", "--strategy=exhaustive", "--json", "--quiet", "--time-limit=20", "--max-steps=300"] + words +
                         ["--trace=" + os.path.join(directory, "fuzz.trace"), program],
                         capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME=directory))
    try:
        result = json.loads(out.stdout)
    except ValueError:
        return "no result: " + out.stderr.strip(), set(), False
    if not all(e["replayed"] for e in result["errors"]):
        return "not replayed", set(), False
    verdict = result["verdict"] if result["complete"] or result["verdict"] == "error" else "incomplete"
    return verdict, set(lines_of(e) for e in result["errors"]), result["complete"] # not after a crash


def build(options, program, directory, name, flags):
    source, target = os.path.join(directory, "fuzz.c"), os.path.join(directory, name)
    with open(source, "w") as f:
        f.write(program.text)
    out = subprocess.run([options.mazurka, "cc", "-g", "-w", program.optimize] + flags + ["-o", target, source],
                         capture_output=True, text=True, env=dict(os.environ, CC=program.compiler, XDG_CACHE_HOME=directory))
    if out.returncode:
        raise SystemExit("cannot compile: " + out.stderr)
    return target


def ways_of(options):
    yield []
    if options.ways:
        yield ["--state-match=exact"]
        yield ["--backtrack=checkpoint"]


def compare(options, program, directory):
    """Differences between the algorithms, as text; None if `optimal` did not come to an end."""
    words = ["--keep-going"]
    target = build(options, program, directory, "fuzz", ["-DOUTCOME"] if options.allow else [])
    if options.allow:
        words.append("--data-races=allow")
    differences = []
    oracle = check(options, target, words + ["--algorithm=optimal"], directory)
    if oracle[0] == "incomplete":
        return None
    for algorithm in options.algorithms.split(","):
        for way in ways_of(options):
            got = check(options, target, words + way + ["--algorithm=" + algorithm], directory)
            missed, invented = sorted(map(str, oracle[1] - got[1])), sorted(map(str, got[1] - oracle[1]))
            complete = oracle[2] and got[2]
            other = (missed or invented) if options.allow else len(oracle[1]) == 1 and missed and not invented
            if got[0] != oracle[0] or (complete and other):
                differences.append("%s: optimal %s, got %s; missed %s, invented %s" % (
                    " ".join([algorithm] + way), oracle[0], got[0], missed, invented))
    return differences, oracle[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--algorithms", default=",".join(STATEFUL))
    parser.add_argument("--ways", action="store_true", help="exact comparison of states, and another way to go back, too")
    parser.add_argument("--allow", action="store_true", help="outcomes with --data-races=allow")
    parser.add_argument("--compilers", action="store_true", help="gcc or clang, at random; else $CC")
    parser.add_argument("--keep", default="build", help="where programs go that differ")
    parser.add_argument("--mazurka", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mazurka"))
    options = parser.parse_args()
    different, compared, left_out, errors = 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(options.seed, options.seed + options.count):
            program = Program(seed, options.compilers)
            result = compare(options, program, directory)
            compared += result is not None
            left_out += result is None
            if not result:
                continue
            errors += result[1] == "error"
            if not result[0]:
                continue
            different += 1
            name = os.path.join(options.keep, "fuzz-races-%d.c" % seed)
            with open(name, "w") as f:
                f.write(program.text)
            for line in result[0]:
                print("%s (%s, %s %s): %s" % (name, " ".join(program.kinds), program.compiler, program.optimize, line),
                      flush=True)
    print("seed %d: %d programs compared, %d with errors, %d left out, %d different" % (
        options.seed, compared, errors, left_out, different))
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
