#!/usr/bin/env python3
"""Checks that everything that the runtime keeps for a program is part of the state, with one program for each thing.

    tools/fuzz_state.py [--seed N] [--count N | --all] [--kinds LIST] [--algorithms LIST] [--check] [--keep DIR]

Each program loads a value of 0 or 1 from an atomic variable that another thread sets, and stores it where only the
runtime keeps it: as the result of a thread, a signal mask, a name, a lock that is held. Then come visible operations
and the end of the other thread, so that the memory is the same for both values. At last the program reads the value
back; the value selects the assertion that fails. With --keep-going, the set of errors must be the same under `optimal`
and under the stateful algorithms: if the value is not part of the state, these see only one of the two errors.

Chosen at random by the seed: kinds, algorithm, --state-match, --state-capture, --backtrack, compiler, -O0 or -O2.
--all: every kind with every algorithm and all of these. --check: with MAZURKA_CHECK_STATES, too (CONTRIBUTING.md).
If results differ, the exit status is 1 and the program is in DIR.
"""
import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

STATEFUL = ("stateful", "s-por", "de-s-por", "dl-s-por", "sdpor")

HEAD = r"""#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *dso);
static atomic_int flag, other;
static pthread_t setter, subject;
#define QUIET __attribute__((noinline)) static

QUIET void step(void) { atomic_load(&other); }
QUIET void seen(int value)
{
    if (value == 0) assert(!"zero");
    if (value == 1) assert(!"one");
    assert(!"neither");
}
static void *set_flag(void *unused)
{
    atomic_store(&flag, 1);
    return unused;
}
QUIET void settle(void) /* from here on the flag is the same both ways */
{
    step();
    pthread_join(setter, NULL);
    step();
}
"""

TAIL = r"""
static void *run_subject(void *unused)
{
    before();
    set(atomic_load(&flag));
    settle();
    observe();
    return unused;
}
int main(void)
{
    first();
    pthread_create(&setter, NULL, set_flag, NULL);
    pthread_create(&subject, NULL, run_subject, NULL);
    pthread_join(subject, NULL);
    last();
    return 0;
}
"""

CHILD = "static pthread_t child; static sem_t gate;\n"

# kind: what stands before the subject; before(), set(v), observe() of the subject; first(), last() of main
KINDS = {}


def kind(name, top="", set="", observe="", before="", first="", last="", whole=None):
    KINDS[name] = (top, set, observe, before, first, last, whole)


def with_child(name, body, top=""):
    """A thread loads the value as its own result; what runs at its end settles, then the subject joins it."""
    kind(name, top + "static pthread_t child;\nstatic void *work(void *a) { " + body + " (void)a; }\n",
         whole="void *r; pthread_create(&child, NULL, work, NULL); pthread_join(child, &r); step();"
               "seen((int)(intptr_t)r);")


LOADED = "(void *)(intptr_t)atomic_load(&flag)"
GONE = "static void gone(void *p) { (void)p; settle(); }\n"
kind("result_cancel", "static pthread_t child; static void *work(void *a) { (void)a; return " + LOADED + "; }\n"
     "void never(pthread_t t) { pthread_cancel(t); }\n",
     before="pthread_create(&child, NULL, work, NULL);",
     observe="void *r; pthread_join(child, &r); seen((int)(intptr_t)r);")
kind("result_tryjoin", "static pthread_t child; static void *work(void *a) { (void)a; return " + LOADED + "; }\n",
     before="pthread_create(&child, NULL, work, NULL);",
     observe="void *r; if (pthread_tryjoin_np(child, &r)) pthread_join(child, &r); seen((int)(intptr_t)r);")
with_child("result_key", "pthread_setspecific(key, &key); return " + LOADED + ";",
           top="static pthread_key_t key; " + GONE +
               "__attribute__((constructor)) static void make(void) { pthread_key_create(&key, gone); }\n")
with_child("result_cleanup", "pthread_cleanup_push(gone, a); pthread_exit(" + LOADED + "); pthread_cleanup_pop(0);", GONE)
with_child("result_thread_local", "__cxa_thread_atexit_impl(gone, NULL, NULL); return " + LOADED + ";", GONE)
kind("result_c11", "static thrd_t child; static int work(void *a) { (void)a; return atomic_load(&flag); }\n"
     "void never(pthread_t t) { pthread_cancel(t); }\n",
     before="thrd_create(&child, work, NULL);", observe="int r; thrd_join(child, &r); seen(r);")
kind("detached", CHILD + "static void *work(void *a) { sem_wait(&gate); return a; }\n",
     first="sem_init(&gate, 0, 0);", before="pthread_create(&child, NULL, work, NULL);",
     set="if (v) pthread_detach(child);",
     observe="pthread_attr_t a; int d; pthread_getattr_np(child, &a); pthread_attr_getdetachstate(&a, &d);"
             "sem_post(&gate); seen(d == PTHREAD_CREATE_DETACHED);")
kind("detached_attribute", CHILD + "static void *work(void *a) { sem_wait(&gate); return a; }\n",
     first="sem_init(&gate, 0, 0);",
     set="pthread_attr_t a; pthread_attr_init(&a); if (v) pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);"
         "pthread_create(&child, &a, work, NULL);",
     observe="pthread_attr_t a; int d; pthread_getattr_np(child, &a); pthread_attr_getdetachstate(&a, &d);"
             "sem_post(&gate); seen(d == PTHREAD_CREATE_DETACHED);")
kind("stack_size", CHILD + "static void *work(void *a) { sem_wait(&gate); return a; }\n",
     first="sem_init(&gate, 0, 0);",
     set="pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, v ? (size_t)1 << 30 : 1 << 16);"
         "pthread_create(&child, &a, work, NULL);",
     observe="pthread_attr_t a; size_t n; pthread_getattr_np(child, &a); pthread_attr_getstacksize(&a, &n);"
             "sem_post(&gate); seen(n >= (size_t)1 << 30);")
kind("argument", CHILD + "static void *work(void *a) { sem_wait(&gate); return a; }\n",
     first="sem_init(&gate, 0, 0);", set="pthread_create(&child, NULL, work, (void *)(intptr_t)v);",
     observe="void *r; sem_post(&gate); pthread_join(child, &r); seen((int)(intptr_t)r);")
kind("cancel_state", "void never(pthread_t t) { pthread_cancel(t); }\n",
     set="pthread_setcancelstate(v ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE, NULL);",
     observe="int old; pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); seen(old == PTHREAD_CANCEL_DISABLE);")
kind("cancelled", CHILD + "static void gone(void *a) { (void)a; seen(1); }\n"
     "static void *work(void *a) { pthread_cleanup_push(gone, a); pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);"
     "sem_wait(&gate); pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); pthread_testcancel(); seen(0);"
     "pthread_cleanup_pop(0); return a; }\n",
     first="sem_init(&gate, 0, 0);", before="pthread_create(&child, NULL, work, NULL);",
     set="if (v) pthread_cancel(child);", observe="sem_post(&gate); pthread_join(child, NULL);")
kind("cleanup_argument", "static void gone(void *a) { seen((int)(intptr_t)a); }\n",
     whole="pthread_cleanup_push(gone, " + LOADED + "); settle(); pthread_exit(NULL); pthread_cleanup_pop(0);")
kind("key_value", "static pthread_key_t key;\n", first="pthread_key_create(&key, NULL);",
     set="pthread_setspecific(key, v ? &key : NULL);", observe="seen(pthread_getspecific(key) != NULL);")
kind("key_destructor_value", "static pthread_key_t key; static char two[2];"
     "static void gone(void *p) { seen((int)((char *)p - two)); }\n",
     first="pthread_key_create(&key, gone);", set="pthread_setspecific(key, &two[v]);", observe="step();")
kind("key_destructor", "static pthread_key_t key; static void zero(void *p) { (void)p; seen(0); }"
     "static void one(void *p) { (void)p; seen(1); }\n",
     set="pthread_key_create(&key, v ? one : zero); pthread_setspecific(key, &key);", observe="step();")
kind("key_round", "static pthread_key_t key; static atomic_int rounds; static void gone(void *p) { int r = rounds++;"
     "step(); if (r == 0 && *(int *)p) pthread_setspecific(key, p); if (r == 0) *(int *)p = 0; step(); }\n"
     "static int again;\n",
     first="pthread_key_create(&key, gone);", set="again = v; pthread_setspecific(key, &again);", observe="",
     last="seen(rounds - 1);")
kind("key_number", "static pthread_key_t key[2];\n", set="if (v) pthread_key_create(&key[0], NULL); key[0] = 0;",
     observe="pthread_key_create(&key[1], NULL); static pthread_key_t base; pthread_key_create(&base, NULL);"
             "seen((int)key[1] % 8);")
kind("thread_local_destructor", "static void zero(void *p) { (void)p; seen(0); }"
     "static void one(void *p) { (void)p; seen(1); }\n",
     set="__cxa_thread_atexit_impl(v ? one : zero, NULL, NULL);", observe="step();")
kind("atexit", "static void zero(void) { seen(0); } static void one(void) { seen(1); }\n",
     set="atexit(v ? one : zero);", observe="step();")
kind("on_exit", "static void end(int status, void *p) { (void)status; seen((int)(intptr_t)p); }\n",
     set="on_exit(end, (void *)(intptr_t)v);", observe="step();")
kind("at_quick_exit", "static void zero(void) { seen(0); } static void one(void) { seen(1); }\n",
     set="at_quick_exit(v ? one : zero);", observe="step(); quick_exit(0);")
kind("exit_status", "static void end(int status, void *p) { (void)p; step(); seen(status); }\n",
     first="on_exit(end, NULL);", whole="step(); exit(atomic_load(&flag));")
kind("name", set='pthread_setname_np(pthread_self(), v ? "one" : "zero");',
     observe="char n[16]; pthread_getname_np(pthread_self(), n, sizeof n); seen(n[0] == 'o');")
kind("name_prctl", set='prctl(PR_SET_NAME, v ? "one" : "zero");',
     observe="char n[16]; prctl(PR_GET_NAME, n); seen(n[0] == 'o');")
kind("name_of_other", "static pthread_t mainly;\n", first="mainly = pthread_self();",
     set='pthread_setname_np(mainly, v ? "one" : "zero");',
     observe="char n[16]; pthread_getname_np(mainly, n, sizeof n); seen(n[0] == 'o');")
kind("named_semaphore", set='sem_open("/s", O_CREAT, 0600, v);',
     observe='int n; sem_getvalue(sem_open("/s", 0), &n); seen(n);')
kind("named_semaphore_gone", first='sem_open("/s", O_CREAT, 0600, 0);', set='if (v) sem_unlink("/s");',
     observe='seen(sem_open("/s", 0) == SEM_FAILED);')
kind("named_semaphore_posted", "static sem_t *s;\n", first='s = sem_open("/s", O_CREAT, 0600, 0);',
     set="if (v) sem_post(s);", observe="int n; sem_getvalue(s, &n); seen(n);")
kind("semaphore", "static sem_t s;\n", set="sem_init(&s, 0, v);", observe="int n; sem_getvalue(&s, &n); seen(n);")
kind("mutex_held", "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n", set="if (v) pthread_mutex_lock(&m);",
     observe="seen(pthread_mutex_trylock(&m) != 0);")
kind("mutex_depth", "static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;\n",
     set="pthread_mutex_lock(&m); if (v) pthread_mutex_lock(&m);",
     observe="pthread_mutex_unlock(&m); seen(pthread_mutex_unlock(&m) == 0);")
kind("mutex_kind", "static pthread_mutex_t m;\n",
     set="pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, v ?"
         "PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK); pthread_mutex_init(&m, &a);",
     observe="pthread_mutex_lock(&m); seen(pthread_mutex_lock(&m) == 0);")
kind("mutex_owner_died", "static pthread_mutex_t m; static pthread_t child;"
     "static void *work(void *a) { if (atomic_load(&flag)) pthread_mutex_lock(&m); return a; }\n",
     first="pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);"
           "pthread_mutex_init(&m, &a);",
     before="pthread_create(&child, NULL, work, NULL); pthread_join(child, NULL);",
     observe="seen(pthread_mutex_lock(&m) == EOWNERDEAD);")
kind("robust_order", "static pthread_mutex_t m[2]; static pthread_t child;"
     "QUIET void lock_both(int v) { pthread_mutex_lock(&m[v]); pthread_mutex_lock(&m[!v]); }\n"
     "static void *work(void *a) { lock_both(atomic_load(&flag)); settle(); return a; }\n",
     first="pthread_mutexattr_t a; pthread_mutexattr_init(&a);"
           "pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);"
           "pthread_mutex_init(&m[0], &a); pthread_mutex_init(&m[1], &a);",
     whole="pthread_create(&child, NULL, work, NULL); int zero = pthread_mutex_trylock(&m[0]), one = pthread_mutex_trylock(&m[1]);"
             "if ((zero == EBUSY) != (one == EBUSY)) seen(zero == EBUSY);")
kind("read_lock_depth", "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;\n",
     set="pthread_rwlock_rdlock(&l); if (v) pthread_rwlock_rdlock(&l);",
     observe="pthread_rwlock_unlock(&l); seen(pthread_rwlock_trywrlock(&l) != 0);")
kind("read_lock_which", "static pthread_rwlock_t l[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};\n",
     set="pthread_rwlock_rdlock(&l[0]); pthread_rwlock_rdlock(&l[1]); pthread_rwlock_rdlock(&l[v]);",
     observe="pthread_rwlock_unlock(&l[0]); pthread_rwlock_unlock(&l[1]); seen(pthread_rwlock_trywrlock(&l[0]) == 0);")
kind("spin_lock", "static pthread_spinlock_t l;\n", first="pthread_spin_init(&l, 0);", set="if (v) pthread_spin_lock(&l);",
     observe="seen(pthread_spin_trylock(&l) != 0);")
kind("once", "static pthread_once_t o = PTHREAD_ONCE_INIT; static int ran; static void run(void) { ran = 1; }\n",
     set="if (v) pthread_once(&o, run); ran = 0;", observe="pthread_once(&o, run); seen(!ran);")
kind("once_within", "static pthread_once_t o[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT}; static int ran;"
     "static void two(void) { settle(); } static void again(void) { ran = 1; }\n"
     "static pthread_t child; static void *work(void *a) { pthread_once(&o[atomic_load(&flag)], two); return a; }\n",
     whole="pthread_create(&child, NULL, work, NULL); pthread_join(child, NULL); pthread_once(&o[1], again); seen(ran);")
kind("waiters", "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;"
     "static pthread_t child; static int woken;"
     "static void *work(void *a) { pthread_mutex_lock(&m); if (atomic_load(&flag)) { pthread_cond_wait(&c, &m); woken = 1; }"
     "pthread_mutex_unlock(&m); return a; }\n",
     before="pthread_create(&child, NULL, work, NULL);",
     observe="pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m); pthread_join(child, NULL); seen(woken);")
kind("clock", set="if (v) { struct timespec t = {5, 0}; nanosleep(&t, NULL); }", first="time_t t = time(NULL); base = t;",
     top="static time_t base;\n", observe="seen(time(NULL) >= base + 5);")
NOW = ("int dummy; QUIET long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);"
       "return t.tv_sec * 100 + t.tv_nsec / 10000000; }\nQUIET void put(int v) { %s }\n")
# pthread_join is a change: here the end of the other thread is not waited for
COUNT = ("put(atomic_load(&flag)); while (!atomic_load(&flag)); long first = now(); int n = 0;"
         "while (now() == first && n < 30) n++; seen(n < MOST);")
kind("clock_polls", NOW % "for (int i = 0; i < 3; i++) { if (v) dummy = 0; now(); }", whole=COUNT.replace("MOST", "1"))
kind("clock_idle", NOW % "now(); if (v) dummy = 0;", whole=COUNT.replace("MOST", "2"))
kind("errno", set="errno = v;", observe="seen(errno);")
kind("rounding", set="if (v) fesetround(FE_UPWARD);", observe="seen(fegetround() == FE_UPWARD);")
kind("signal_mask", set="sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); if (v) pthread_sigmask(SIG_BLOCK, &s, NULL);",
     observe="sigset_t s; pthread_sigmask(SIG_BLOCK, NULL, &s); seen(sigismember(&s, SIGUSR1));")
kind("signal_inherited", CHILD + "static void *work(void *a) { (void)a; sigset_t s; sem_wait(&gate);"
     "pthread_sigmask(SIG_BLOCK, NULL, &s); return (void *)(intptr_t)sigismember(&s, SIGUSR1); }\n",
     first="sem_init(&gate, 0, 0);",
     set="sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); if (v) pthread_sigmask(SIG_BLOCK, &s, NULL);"
         "pthread_create(&child, NULL, work, NULL); pthread_sigmask(SIG_UNBLOCK, &s, NULL);",
     observe="void *r; sem_post(&gate); pthread_join(child, &r); seen((int)(intptr_t)r);")
kind("signal_handler", "static void zero(int n) { (void)n; seen(0); } static void one(int n) { (void)n; seen(1); }\n",
     set="signal(SIGUSR1, v ? one : zero);", observe="raise(SIGUSR1);")
kind("signal_pending", first="sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, NULL);",
     set="if (v) raise(SIGUSR1);", observe="sigset_t s; sigpending(&s); seen(sigismember(&s, SIGUSR1));")
kind("signal_abort", "static jmp_buf out; static void leave(int n) { (void)n; longjmp(out, 1); }\n",
     first="signal(SIGABRT, leave);", set="if (!setjmp(out) && v) abort();",
     observe="sigset_t s; pthread_sigmask(SIG_BLOCK, NULL, &s); seen(sigismember(&s, SIGABRT));")
kind("signal_stack", "static char area[1 << 16];\n",
     set="stack_t s = {.ss_sp = area, .ss_size = sizeof area, .ss_flags = v ? 0 : SS_DISABLE}; sigaltstack(&s, NULL);",
     observe="stack_t s; sigaltstack(NULL, &s); seen(!(s.ss_flags & SS_DISABLE));")
kind("umask", set="umask(v ? 077 : 022);", observe="seen(umask(022) == 077);")
kind("directory", set='if (chdir(v ? "/" : "/dev")) seen(2);', observe="char n[64]; seen(getcwd(n, 64) && !n[1]);")
kind("descriptor", set='if (v) open("/dev/null", O_RDONLY);', observe='seen(fcntl(3, F_GETFD) >= 0);')
kind("limit", set="struct rlimit l; getrlimit(RLIMIT_STACK, &l); l.rlim_cur = (1u << 20) + v; setrlimit(RLIMIT_STACK, &l);",
     observe="struct rlimit l; getrlimit(RLIMIT_STACK, &l); seen(l.rlim_cur & 1);")
kind("random", set="srand((unsigned)v + 1);", observe="int r = rand(); srand(2); seen(r == rand());")
kind("strtok", "static char text[2][8] = {\"a 0\", \"a 1\"};\n", set='strtok(text[v], " "); text[v][1] = \' \';',
     observe='seen(*strtok(NULL, " ") - \'0\');')
kind("heap", set="void *volatile p = malloc(v ? 8192 : 16); free(p);", first="base = malloc(1);", top="static char *base, *mine;\n",
     before="mine = malloc(1);", observe="char *p = malloc(1); seen(p - mine > 4096);")
kind("thread_variable", "static __thread int own;\n", set="own = v;", observe="seen(own);")
kind("thread_variable_of_other", "static __thread int own; static int *there;\n", before="there = &own; own = 0;",
     set="*there = v;", observe="seen(own);")
kind("ungetc", set="ungetc(v ? '1' : '0', stdin);", observe="seen(getc(stdin) - '0');")
kind("environment", set='setenv("X", v ? "1" : "0", 1);', observe="seen(*getenv(\"X\") - '0');")
kind("stream_buffer", "static char text[8]; static FILE *f;\n", first='f = fmemopen(text, 8, "w"); setvbuf(f, NULL, _IOFBF, 8);',
     set="fputc(v ? '1' : '0', f);", observe="fflush(f); seen(text[0] - '0');")
kind("exit_leak", whole="void *volatile p = malloc(8); p = NULL; step(); if (atomic_load(&flag)) _exit(0); else exit(0); (void)p;")


def program(name):
    top, put, observe, before, first, last, whole = KINDS[name]
    body = top
    if whole is None:
        for function, text in (("before", before), ("observe", observe), ("first", first), ("last", last)):
            body += "QUIET void %s(void) { %s }\n" % (function, text)
        return HEAD + body + "QUIET void set(int v) { (void)v; %s }\n" % put + TAIL
    body += "static void *run_subject(void *unused) { %s return unused; }\n" % whole
    return HEAD + body + TAIL.split("int main")[0].split("static void *run_subject")[0] + \
        "int main" + TAIL.split("int main")[1].replace("first();", first).replace("last();", last)


def errors(options, directory, arguments, check=0):
    """The set of errors, as (kind, text); or a text: why there is none."""
    result = os.path.join(directory, "result.json")
    environment = dict(os.environ)
    if check:
        environment["MAZURKA_CHECK_STATES"] = str(check)
    run = subprocess.run([options.mazurka, "check", "--strategy=exhaustive", "--keep-going", "--quiet", "--progress=never", "--json=" + result,
                          "--time-limit=100", "--trace=" + os.path.join(directory, "state.trace")] + arguments + [os.path.join(directory, "state.c"), "-lm"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment,
                         check=False)
    if run.returncode not in (0, 1):
        return run.stdout.decode(errors="replace").split("\n")[0]
    with open(result) as f:
        report = json.load(f)
    if not report["complete"]:
        return report.get("reason", "incomplete")
    return frozenset((e["kind"], e.get("message", "")) for e in report["errors"])


def ways():
    for compiler, optimize in itertools.product([c for c in ("gcc", "clang") if shutil.which(c)], ("-O0", "-O2")):
        for algorithm in STATEFUL:
            for extra in ((), ("--state-match=exact",), ("--state-capture=delta",), ("--backtrack=checkpoint",)):
                yield compiler, optimize, algorithm, extra


def compare(options, name, way, directory, oracle):
    compiler, optimize, algorithm, extra = way
    os.environ["CC"] = compiler
    leaks = ["--leaks"] if name.endswith("leak") else []
    if (compiler, optimize) not in oracle:
        oracle[compiler, optimize] = errors(options, directory, [optimize, "--algorithm=optimal"] + leaks)
    wanted = oracle[compiler, optimize]
    if isinstance(wanted, str):
        return "optimal: " + wanted
    if len(wanted) < 2 and not leaks:
        return "optimal sees %s only: the program is wrong" % sorted(wanted)
    got = errors(options, directory, [optimize, "--algorithm=" + algorithm, *extra] + leaks)
    if not isinstance(got, str) and got != wanted:
        return "%s, not %s" % (sorted(got), sorted(wanted))
    if options.check and not isinstance(got, str):
        got = errors(options, directory, [optimize, "--algorithm=" + algorithm, *extra] + leaks, 2)
        if got != wanted:
            return "with MAZURKA_CHECK_STATES=2: %s" % (got if isinstance(got, str) else sorted(got))
    return None if not isinstance(got, str) or "not supported" in got else got


def tasks(options):
    names = [n for n in options.kinds.split(",")] if options.kinds else sorted(KINDS)
    if options.all:
        for name in names:
            for way in ways():
                yield name, way
        return
    generator = random.Random(options.seed)
    every = list(ways())
    for name in generator.sample(names, min(options.count, len(names))):
        yield name, generator.choice(every)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=len(KINDS))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--algorithms", default=",".join(STATEFUL))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", default="build")
    parser.add_argument("--mazurka", default=os.path.join(os.path.dirname(__file__), "..", "mazurka"))
    options = parser.parse_args()
    different, compared, oracle, last = 0, 0, {}, None
    with tempfile.TemporaryDirectory() as directory:
        for name, way in tasks(options):
            if way[2] not in options.algorithms.split(","):
                continue
            if name != last:
                with open(os.path.join(directory, "state.c"), "w") as f:
                    f.write(program(name))
                oracle, last = {}, name
            difference = compare(options, name, way, directory, oracle)
            compared += 1
            if not difference:
                continue
            if "--state-capture=delta" in way[3] and "reached the limit" in difference:
                print("%s: deltas do not tell that a loop comes back to the same state: left out" % name, flush=True)
                continue
            different += 1
            kept = os.path.join(options.keep, "fuzz-state-%s.c" % name)
            with open(kept, "w") as f:
                f.write(program(name))
            print("%s (%s %s %s): %s" % (kept, way[0], way[1], " ".join((way[2],) + way[3]), difference), flush=True)
    print("seed %d: %d programs compared, %d different" % (options.seed, compared, different))
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
