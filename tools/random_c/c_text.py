"""Random programs as C. A program's outcome, made of what every thread noted and of all memory in the end, selects the
assertion that fails at its end: with --keep-going, the set of errors is the set of outcomes."""
from generate import MAIN, statements, uses

OUTCOMES = 128
TYPES = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}

HEAD = """#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
"""
SHARED = """struct object { unsigned v[%(words)d]; };
struct node { unsigned v; };
struct shared {
    %(x0)s x0;
    %(x1)s x1;
    %(p0)s p0;
    %(p1)s p1;
    void *result[5];
    pthread_t t[5];
    struct object o0, o1;
    _Atomic(struct node *) ptr;
    pthread_mutex_t m0, m1;
    pthread_cond_t c;
    pthread_rwlock_t rw;
    pthread_barrier_t b;
    sem_t sem;
    unsigned h[5];
};
struct arg { struct shared *s; _Atomic unsigned *y; };
static struct shared *G;
static pthread_once_t once_control = PTHREAD_ONCE_INIT;
static pthread_key_t key[2];
static const struct timespec later = {2000000000, 0};
#define NOTE(v) (S->h[me] = S->h[me] * 31 + (unsigned)(v) + 1)
"""
HELPERS = {
    "mk": """KIND struct object mk(unsigned k)
{
    struct object s;
    for (unsigned i = 0; i < WORDS; i++) s.v[i] = k + i;
    return s;
}
""",
    "next": """KIND struct object next(struct object s)
{
    for (unsigned i = 0; i < WORDS; i++) s.v[i] = s.v[i] * 3 + i;
    return s;
}
""",
    "bytes": "static __attribute__((noinline)) size_t bytes(size_t n) { __asm__ volatile(\"\" : \"+r\"(n)); return n; }\n",
    "cleanup": """static void handler0(void *k) { atomic_fetch_add(&G->x0, (unsigned)(intptr_t)k); }
static void handler1(void *k) { atomic_fetch_add(&G->x1, (unsigned)(intptr_t)k); }
""",
    "set_key": """static void destroy0(void *k) { atomic_fetch_add(&G->x0, (unsigned)(intptr_t)k); }
static void destroy1(void *k) { atomic_fetch_xor(&G->x1, (unsigned)(intptr_t)k); }
""",
    "once": "static void init_once(void) { atomic_fetch_add(&G->x0, 3); }\n",
    "raise": "static void on_signal(int n) { (void)n; atomic_fetch_add(&G->x1, 1); }\n",
}
SUM = """KIND unsigned sum(struct object s)
{
    unsigned t = 0;
    for (unsigned i = 0; i < WORDS; i++) t = t * 5 + s.v[i];
    return t;
}
"""


def value(e):
    register, k = e
    return "%du" % k if register is None else "(r%d + %du)" % (register, k)


class Writer:
    def __init__(self, program, atomic_twin=False):
        self.program, self.twin = program, program.mode == "twin" and not atomic_twin
        self.me = None

    def cell(self, x):
        if x < 2:
            return "S->x%d" % x
        return "y" if self.me == MAIN or self.program.children(self.me) else "(*A->y)"

    def block(self, block, depth):
        out = []
        for s in block:
            out += self.statement(s, "    " * depth, depth)
        return out

    def around(self, pad, depth, before, body, after):
        return [pad + before] + self.block(body, depth + 1) + [pad + after]

    def statement(self, s, pad, depth):
        word, rest = s[0], s[1:]
        special = getattr(self, "do_" + word, None)
        if special:
            return special(pad, depth, *rest)
        text = getattr(self, "on_" + word)(*rest)
        return [pad + text]

    # ---- those with a block inside ----

    def do_lock(self, pad, depth, m, body):
        return self.around(pad, depth, "pthread_mutex_lock(&S->m%d);" % m, body, "pthread_mutex_unlock(&S->m%d);" % m)

    def attempt(self, pad, depth, call, body, undo):
        return ([pad + "if (%s) {" % call, pad + "    NOTE(1);", pad + "} else {"] + self.block(body, depth + 1) +
                [pad + "    " + undo, pad + "}"])

    def do_try(self, pad, depth, m, body):
        return self.attempt(pad, depth, "pthread_mutex_trylock(&S->m%d)" % m, body, "pthread_mutex_unlock(&S->m%d);" % m)

    def do_timed(self, pad, depth, m, body):
        return self.attempt(pad, depth, "pthread_mutex_timedlock(&S->m%d, &later)" % m, body,
                            "pthread_mutex_unlock(&S->m%d);" % m)

    def do_rd(self, pad, depth, body):
        return self.around(pad, depth, "pthread_rwlock_rdlock(&S->rw);", body, "pthread_rwlock_unlock(&S->rw);")

    def do_wr(self, pad, depth, body):
        return self.around(pad, depth, "pthread_rwlock_wrlock(&S->rw);", body, "pthread_rwlock_unlock(&S->rw);")

    def do_tryrd(self, pad, depth, body):
        return self.attempt(pad, depth, "pthread_rwlock_tryrdlock(&S->rw)", body, "pthread_rwlock_unlock(&S->rw);")

    def do_trywr(self, pad, depth, body):
        return self.attempt(pad, depth, "pthread_rwlock_trywrlock(&S->rw)", body, "pthread_rwlock_unlock(&S->rw);")

    def do_cleanup(self, pad, depth, x, k, execute, body):
        return self.around(pad, depth, "pthread_cleanup_push(handler%d, (void *)%dL);" % (x, k), body,
                           "pthread_cleanup_pop(%d);" % execute)

    def do_if(self, pad, depth, register, k, body):
        return self.around(pad, depth, "if (r%d == %du) {" % (register, k), body, "}")

    def do_loop(self, pad, depth, x, body):
        return self.around(pad, depth, "while (!%s) {" % self.load(x, "seq_cst"), body, "}")

    # ---- the others, one line each ----

    def load(self, x, order):
        if self.twin:
            return self.cell(x)
        return "atomic_load_explicit(&%s, memory_order_%s)" % (self.cell(x), order)

    def on_load(self, register, x, order):
        return "r%d = (unsigned)%s; NOTE(r%d);" % (register, self.load(x, order), register)

    def on_store(self, x, e, order):
        if self.twin:
            return "%s = %s;" % (self.cell(x), value(e))
        return "atomic_store_explicit(&%s, %s, memory_order_%s);" % (self.cell(x), value(e), order)

    def on_inc(self, x, k):
        if self.twin:
            return "%s += %du;" % (self.cell(x), k)
        return "{ unsigned v = atomic_load(&%s); atomic_store(&%s, v + %du); }" % (self.cell(x), self.cell(x), k)

    def on_rmw(self, what, register, x, k, order):
        name = "atomic_exchange" if what == "exchange" else "atomic_fetch_" + what
        return "r%d = (unsigned)%s_explicit(&%s, %du, memory_order_%s); NOTE(r%d);" % (
            register, name, self.cell(x), k, order, register)

    def type(self, x):
        return TYPES[self.program.widths[x]] if x < 2 else "unsigned"

    def on_cas(self, register, x, old, new, order, fail):
        return ("{ %s e = %d; r%d = atomic_compare_exchange_strong_explicit(&%s, &e, %d, memory_order_%s, "
                "memory_order_%s); NOTE(r%d * 16 + e); }" % (self.type(x), old, register, self.cell(x), new, order, fail,
                                                             register))

    def on_cas_loop(self, x, k, order):
        return ("{ %s e = atomic_load_explicit(&%s, memory_order_relaxed); while (!atomic_compare_exchange_weak_explicit("
                "&%s, &e, (%s)(e + %d), memory_order_%s, memory_order_relaxed)) {} NOTE(e); }" % (
                    self.type(x), self.cell(x), self.cell(x), self.type(x), k, order))

    def on_cas_p(self, x, new):
        return "NOTE(atomic_compare_exchange_strong(&S->x%d, &S->p%d, %d));" % (x, x, new)

    def on_p_load(self, register, p):
        return "r%d = (unsigned)S->p%d; NOTE(r%d);" % (register, p, register)

    def on_p_store(self, p, e):
        return "S->p%d = (%s)%s;" % (p, self.type(p), value(e))

    def on_p_add(self, p, k):
        return "S->p%d = (%s)(S->p%d + %d);" % (p, self.type(p), p, k)

    def on_mk(self, o, e):
        return "S->o%d = mk(%s);" % (o, value(e))

    def on_next(self, o):
        return "S->o%d = next(S->o%d);" % (o, o)

    def on_sum(self, register, o):
        return "r%d = sum(S->o%d); NOTE(r%d);" % (register, o, register)

    def on_copy(self, o):
        return "S->o%d = S->o%d;" % (o, 1 - o)

    @staticmethod
    def size(n, variable):
        return "bytes(%d)" % (4 * n) if variable else "%d" % (4 * n)

    def on_memset(self, o, byte, n, variable):
        return "memset(&S->o%d, %d, %s);" % (o, byte, self.size(n, variable))

    def on_memcpy(self, o, n, variable):
        return "memcpy(&S->o%d, &S->o%d, %s);" % (o, 1 - o, self.size(n, variable))

    def on_memmove(self, o, to, source, n, variable):
        return "memmove(&S->o%d.v[%d], &S->o%d.v[%d], %s);" % (o, to, o, source, self.size(n, variable))

    on_sem_wait = lambda self: "sem_wait(&S->sem);"
    on_sem_post = lambda self: "sem_post(&S->sem);"
    on_sem_try = lambda self: "NOTE(sem_trywait(&S->sem) != 0);"
    on_sem_timed = lambda self: "NOTE(sem_timedwait(&S->sem, &later) != 0);"
    on_sem_get = lambda self: "{ int v; sem_getvalue(&S->sem, &v); NOTE(v); }"
    on_cond_signal = lambda self: "pthread_cond_signal(&S->c);"
    on_cond_broadcast = lambda self: "pthread_cond_broadcast(&S->c);"
    on_barrier = lambda self: "pthread_barrier_wait(&S->b);"
    on_once = lambda self: "pthread_once(&once_control, init_once);"
    on_raise = lambda self: "raise(SIGUSR1);"
    on_test_cancel = lambda self: "pthread_testcancel();"
    on_yield = lambda self: "sched_yield();"

    def on_cond_wait(self, x):
        return "pthread_mutex_lock(&S->m0); pthread_cond_wait(&S->c, &S->m0); pthread_mutex_unlock(&S->m0);"

    def on_cond_timed(self, x):
        return ("pthread_mutex_lock(&S->m0); NOTE(pthread_cond_timedwait(&S->c, &S->m0, &later) != 0); "
                "pthread_mutex_unlock(&S->m0);")

    def on_cond_for(self, x):
        return ("pthread_mutex_lock(&S->m0); while (!%s) pthread_cond_wait(&S->c, &S->m0); pthread_mutex_unlock(&S->m0);"
                % self.load(x, "seq_cst"))

    def on_set_key(self, k, v):
        return "pthread_setspecific(key[%d], (void *)%dL);" % (k, v)

    def on_cancel(self, t):
        return "pthread_cancel(S->t[%d]);" % t

    def on_cancel_state(self, on):
        return "pthread_setcancelstate(%s, NULL);" % ("PTHREAD_CANCEL_ENABLE" if on else "PTHREAD_CANCEL_DISABLE")

    def on_exit(self, e):
        return "pthread_exit((void *)(intptr_t)%s);" % value(e)

    def on_create(self, t):
        y = "&y" if self.me == MAIN or self.program.children(self.me) else "A->y"
        return "struct arg a%d = {S, %s}; pthread_create(&S->t[%d], NULL, run%d, &a%d);" % (t, y, t, t, t)

    def on_join(self, t, to_cell):
        if to_cell:
            return "pthread_join(S->t[%d], &S->result[%d]); NOTE((intptr_t)S->result[%d]);" % (t, t, t)
        return "{ void *e; pthread_join(S->t[%d], &e); NOTE((intptr_t)e); }" % t

    def on_publish(self, k):
        return ("{ struct node *n = malloc(sizeof *n); n->v = %d; n = atomic_exchange_explicit(&S->ptr, n, "
                "memory_order_acq_rel); if (n) { NOTE(n->v + 5); free(n); } }" % k)

    def on_take(self):
        return ("{ struct node *n = atomic_exchange_explicit(&S->ptr, NULL, memory_order_acq_rel); NOTE(n ? n->v : 0); "
                "free(n); }")

    def on_spin(self, x, v):
        return "while (%s == %d) {}" % (self.load(x, "seq_cst"), v)

    def on_bounded(self, x, n):
        return "{ int i = 0; while (i < %d && !%s) i++; NOTE(i); }" % (n, self.load(x, "seq_cst"))

    # ---- the whole ----

    def function(self, thread):
        self.me = thread.number
        shared = "A->s" if self.program.by_argument else "G"
        out = ["static void *run%d(void *arg)" % self.me, "{", "    enum { me = %d };" % self.me,
               "    struct arg *A = arg;", "    struct shared *S = %s;" % shared,
               "    unsigned r0 = 0, r1 = 0;"]
        if self.program.children(self.me):
            out += ["    _Atomic unsigned y = 0;"]
        out += self.block(thread.block, 1)
        return out + ["    (void)A, (void)S, (void)r0, (void)r1;", "    return (void *)%dL;" % thread.result, "}"]

    def main(self):
        p, self.me = self.program, MAIN
        where = {"static": "static struct shared whole;", "stack": "struct shared whole; memset(&whole, 0, sizeof whole);",
                 "heap": ""}[p.place]
        take = "calloc(1, sizeof *S)" if p.place == "heap" else "&whole"
        out = ["int main(void)", "{", "    enum { me = 0 };", "    " + where, "    struct shared *S = %s;" % take,
               "    unsigned r0 = 0, r1 = 0;", "    _Atomic unsigned y = 0;", "    G = S;"]
        out += ["    " + line for line in self.inits()]
        out += self.block(p.threads[MAIN].block, 1) + ["    (void)r0, (void)r1;"]
        out += ["    unsigned all = (unsigned)(S->x0 * 7 + S->x1 * 11 + y * 17 + S->p0 * 3 + S->p1 * 5);"]
        if uses(p, ("mk", "next", "sum", "copy", "memset", "memcpy", "memmove")):
            out += ["    all += sum(S->o0) * 13 + sum(S->o1) * 19;"]
        out += ["    for (int i = 0; i < %d; i++) all = all * 7919 + S->h[i];" % len(p.threads)]
        if uses(p, ("publish", "take")):
            out += ["    free(S->ptr);"]
        if p.place == "heap":
            out += ["    free(S);"]
        out += ["    switch ((all ^ all >> 16) %% %d) {" % OUTCOMES]
        out += ["    case %d: assert(!\"outcome %d\"); break;" % (i, i) for i in range(OUTCOMES)]
        return out + ["    }", "    return 0;", "}"]

    def inits(self):
        p = self.program
        for words, text in (
                (("lock", "try", "timed", "cond_wait", "cond_for", "cond_timed"),
                 "pthread_mutex_init(&S->m0, NULL); pthread_mutex_init(&S->m1, NULL);"),
                (("cond_wait", "cond_for", "cond_timed", "cond_signal", "cond_broadcast"), "pthread_cond_init(&S->c, NULL);"),
                (("rd", "wr", "tryrd", "trywr"), "pthread_rwlock_init(&S->rw, NULL);"),
                (("barrier",), "pthread_barrier_init(&S->b, NULL, %d);" % p.arrivals),
                (("sem_wait", "sem_post", "sem_try", "sem_timed", "sem_get"), "sem_init(&S->sem, 0, %d);" % p.sem),
                (("set_key",), "pthread_key_create(&key[0], destroy0); pthread_key_create(&key[1], destroy1);"),
                (("raise",), "signal(SIGUSR1, on_signal);")):
            if uses(p, words):
                yield text

    def helpers(self):
        p = self.program
        kind = "static __attribute__((noinline, unused))" if p.noinline else "static inline __attribute__((unused))"
        text = "".join(HELPERS[w] for w in ("mk", "next", "cleanup", "set_key", "once", "raise") if uses(p, (w,)))
        if uses(p, ("mk", "next", "sum", "copy", "memset", "memcpy", "memmove")):
            text += SUM
        if any(s[0] in ("memset", "memcpy", "memmove") and s[-1] for t in p.threads for s in statements(t.block)):
            text += HELPERS["bytes"]
        return text.replace("KIND", kind).replace("WORDS", str(p.words))

    def text(self):
        p = self.program
        types = [TYPES[w] for w in p.widths]
        cell = ("volatile %s" if p.volatile else "%s") if self.twin else "_Atomic %s"
        names = {"words": p.words, "x0": cell % types[0], "x1": cell % types[1], "p0": types[0], "p1": types[1]}
        out = [HEAD + SHARED % names + self.helpers()]
        for t in reversed(p.threads[1:]):
            out += self.function(t)
        return "\n".join(out + self.main()) + "\n"


def c_text(program, atomic_twin=False):
    return Writer(program, atomic_twin).text()
