#!/bin/sh
# Tests of the command: what a user types, sees and gets back. Takes ./mazurka from the root of the checkout.
# Prints a line for each test, at the end "N passed, M failed". Arguments: names of tests to run (default: all).
#
# Every test runs in a directory of its own under a new HOME, so that nothing depends on an old cache and
# whatever is left behind is seen.
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
mazurka=$root/mazurka
work=$(mktemp -d "${TMPDIR:-/tmp}/mazurka-cli-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

HOME=$work/home
TMPDIR=$work/tmp
export HOME TMPDIR
export MAZURKA_MUST_REPLAY=1 # a finding that does not replay is a failure
unset XDG_CACHE_HOME MAZURKA_CC MAZURKA_OPTIONS NO_COLOR CC CFLAGS
mkdir "$HOME" "$TMPDIR"
PATH=$root:$PATH
passed=0
failed=0

# ---- helpers: each says what was wrong on $work/why and returns 1 ----

complain() { printf '%s\n' "$*" >> "$work/why"; return 1; }

# run EXPECTED_STATUS COMMAND...: output to ./out, ./err
run() {
    want=$1
    shift
    "$@" > out 2> err < /dev/null
    got=$?
    [ "$got" -eq "$want" ] && return 0
    complain "status $got instead of $want: $*"
    head -n 5 out err >> "$work/why"
    return 1
}

has() { # FILE TEXT: a line contains the text
    grep -qF -- "$2" "$1" && return 0
    complain "$1 does not say: $2"
    head -n 8 "$1" >> "$work/why"
    return 1
}

hasnt() {
    grep -qF -- "$2" "$1" || return 0
    complain "$1 says: $2"
}

first_line() { # FILE TEXT: the first line begins so
    case $(head -n 1 "$1") in
    "$2"*) return 0 ;;
    esac
    complain "$1 begins with: $(head -n 1 "$1")"
}

empty() { [ ! -s "$1" ] || complain "$1 is not empty: $(head -n 1 "$1")"; }

# Three threads: more executions than anybody waits for. Goes behind what includes pthread.h.
long_search() {
    cat << 'END'
static _Atomic int x[2];
static void *w(void *a)
{
    for (int i = 0; i < 9; i++) x[i % 2]++;
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, w, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
END
}

# refuses TEXT COMMAND...: status 2, nothing on stdout, one line "mazurka: ...TEXT..." on stderr
refuses() {
    text=$1
    shift
    run 2 "$@" && empty out && first_line err "mazurka: " && has err "$text" || return 1
    [ "$(wc -l < err)" -eq 1 ] || complain "more than one line: $(cat err)"
}

no_leftovers() {
    set -- "$TMPDIR"/*
    [ ! -e "$1" ] || complain "left behind: $*"
}

no_wide_lines() { # FILE: but the verdict is always one line
    awk 'NR > 1 && length > 80 { bad = 1 } END { exit bad }' "$1" && return 0
    complain "lines over 80 columns: $(awk 'NR > 1 && length > 80' "$1" | head -n 3)"
}

json_valid() { # FILE
    if command -v python3 > /dev/null 2>&1; then
        python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$1" 2> json_error ||
            complain "not JSON: $(tail -n 1 json_error)"
    elif command -v jq > /dev/null 2>&1; then
        jq . "$1" > /dev/null 2>&1 || complain "not JSON"
    fi
}

json_is() { # FILE PYTHON-EXPRESSION over d
    command -v python3 > /dev/null 2>&1 || return 0
    python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
        complain "JSON: not so: $2"
}

compilers() {
    for c in gcc clang; do
        command -v $c > /dev/null 2>&1 && echo $c
    done
}

# How many times longer than its processor time work takes just now: 1 on a quiet machine. For upper limits of times.
slowness() {
    python3 -c '
import math, time
wall, cpu = time.perf_counter(), time.process_time()
while time.process_time() - cpu < 0.1: pass
print(math.ceil((time.perf_counter() - wall) / (time.process_time() - cpu) + 0.2))' 2> /dev/null || echo 10
}

# No test may depend on the speed of the machine:
#   a search that must not end within its limit is $endless (8.9e9 executions: half a day on a fast machine), or long.c;
#   before a signal, wait_until the event is there (searching FILE), do not sleep;
#   the limit of what must end is generous: it only tells late from never.
endless="-DN=30 $root/tests/papers/lastzero.c"

# wait_until COMMAND...: try it every 0.1 s, for two minutes
wait_until() {
    for _ in $(seq 1200); do
        "$@" && return 0
        sleep 0.1
    done
    complain "two minutes passed without: $*"
}
searching() { grep -q '"executions": [1-9]' "$1" 2> /dev/null; } # FILE: what --progress=json has written
is_gone() { case $(ps -o stat= -p "$1" 2> /dev/null) in '' | Z*) ;; *) false ;; esac; } # PID

# What depends on time may have met a busy moment: one good run of three is enough.
one_of_three() { # COMMAND...
    for attempt in 1 2 3; do
        "$@" && return 0
        [ $attempt = 3 ] || : > "$work/why"
    done
    return 1
}

# ---- programs ----

programs() {
    cat > ok.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *worker(void *arg) { atomic_fetch_add(&counter, 1); return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
END
    cat > lost.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct queue { atomic_int head; atomic_uint tail[3]; };
struct queue queue;
static void *worker(void *arg)
{
    int v = atomic_load(&queue.head);
    atomic_store(&queue.tail[1], 4000000000u);
    atomic_store(&queue.head, v - 1);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(queue.head == -2);
    return 0;
}
END
    cat > race.c << 'END'
#include <pthread.h>
int counter;
static void bump(void) { counter++; }
static void *worker(void *arg)
{
    bump();
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
END
    cat > abba.c << 'END'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}
static void *two(void *arg)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}
int main(void)
{
    pthread_t x, y;
    pthread_create(&x, 0, one, 0);
    pthread_create(&y, 0, two, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
END
    cat > crash.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static int value = 3;
static _Atomic(int *) shared = &value;
static void *clear(void *arg) { atomic_store(&shared, NULL); return arg; }
static void *use(void *arg)
{
    int *p = atomic_load(&shared);
    *(volatile int *)p;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, clear, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
END
    cat > exitcode.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static void *worker(void *arg) { atomic_store(&n, 1); return arg; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    int early = atomic_load(&n);
    pthread_join(t, 0);
    return early ? 3 : 0;
}
END
    cat > spin.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *waiter(void *arg)
{
    while (atomic_fetch_add(&flag, 1) >= 0)
        ;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_join(t, 0);
    return 0;
}
END
    cat > single.c << 'END'
int x;
int main(void) { x++; return 0; }
END
    cat > many.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef N
#define N 5
#endif
static atomic_int a_counter_with_a_rather_long_name_for_one_column;
static void *worker_of_the_many_threads_test(void *arg)
{
    int old = atomic_fetch_add(&a_counter_with_a_rather_long_name_for_one_column, 1);
    for (int i = 0; i < 3; i++) atomic_load(&a_counter_with_a_rather_long_name_for_one_column);
    assert(old < N - 1);
    return arg;
}
int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], 0, worker_of_the_many_threads_test, 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
END
    cat > long.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *worker(void *arg)
{
    for (int i = 0; i < 10; i++) atomic_fetch_add(&x, 1);
    return arg;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
END
}

# ---- tests ----

test_version() { run 0 mazurka --version && first_line out "mazurka $(cat "$root/VERSION")"; }

test_help() {
    run 0 mazurka help && has out "mazurka check" && no_wide_lines out &&
        run 0 mazurka help check && has out "--algorithm=A" && no_wide_lines out &&
        run 0 mazurka check --help && has out "--max-steps=N" && run 0 mazurka --help &&
        run 0 mazurka help cc && run 0 mazurka help replay && run 0 mazurka help show && run 0 mazurka help bench &&
        run 2 mazurka && refuses "did you mean check" mazurka help chek
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
        refuses "goes with" mazurka check --no-sleep-sets ok.c &&
        refuses "goes with a stateful" mazurka check --order=random ok.c &&
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

test_verified() {
    programs
    run 0 mazurka check ok.c && first_line out "verified: " && has out "2 executions" && has out "Search: complete" &&
        empty err && no_wide_lines out
}

test_algorithms() {
    programs
    for a in optimal source dpor sleep none; do
        run 0 mazurka check --algorithm=$a --json=$a.json ok.c && json_is $a.json "d['algorithm'] == '$a'" &&
            json_is $a.json "d['verdict'] == 'verified' and d['executions'] >= 2" &&
            run 1 mazurka check --algorithm=$a -q lost.c || return 1
    done
    run 0 mazurka check --algorithm=none --no-sleep-sets ok.c && run 0 mazurka check --algorithm=dpor --no-sleep-sets ok.c
}

test_assertion() {
    programs
    run 1 mazurka check lost.c && first_line out "error: assertion failed: queue.head == -2, at lost.c:20 in thread 0 (main)" &&
        has out "assert(queue.head == -2);" && has out "load queue.head: 0" && has out "store queue.head: -1" &&
        has out "store queue.tail[1]: 4000000000" && has out "lost.c:8" && has out "Replayed: same outcome" &&
        has out "mazurka replay mazurka-lost-1.trace" && has out "stopped at the first error" &&
        has out "0.1 (worker)  finished" && no_wide_lines out && [ -f mazurka-lost-1.trace ] && empty err
}

test_race() {
    programs
    run 1 mazurka check race.c && first_line out "error: data race on counter, at race.c:3 in thread 0." &&
        has out "before that, thread 0." && has out "bump, race.c:3" && has out "worker, race.c:6" &&
        has out "<- race" && has out "Replayed: same outcome" && no_wide_lines out &&
        [ "$(grep -c '<- race' out)" -eq 2 ] || complain "not two accesses marked"
}

test_deadlock() {
    programs
    run 1 mazurka check abba.c && first_line out "error: deadlock: threads 0.1 and 0.2 wait for each other, at abba.c:" &&
        has out "waits for mutex b, held by 0.2, abba.c:6" && has out "waits for mutex a, held by 0.1, abba.c:14" &&
        has out "waits for thread 0.1 to end" && has out "lock b: waits" && no_wide_lines out
}

test_crash() {
    programs
    run 1 mazurka check crash.c && first_line out "error: crash: " && has out "SIGSEGV" && has out "crash.c:" &&
        has out "load shared: NULL" && has out "Replayed: same outcome" && run 1 mazurka replay mazurka-crash-1.trace
}

test_process_ends_itself() {
    cat > end.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int n;
static void *w(void *a) { if (atomic_fetch_add(&n, 1) == 1) syscall(SYS_exit_group, 7); return a; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
END
    run 1 mazurka check end.c && first_line out "error: the program ended with exit status 7" &&
        has out "rmw n: 1 -> 2" &&
        has out "Replayed: same outcome" && run 1 mazurka replay mazurka-end-1.trace
}

test_input_again() {
    cat > input.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int n;
static void *w(void *a) { atomic_fetch_add(&n, 1); return a; }
int main(void)
{
    pthread_t t;
    int number;
    assert(scanf("%d", &number) == 1 && number == 42);
    pthread_create(&t, 0, w, 0);
    atomic_fetch_add(&n, 1);
    pthread_join(t, 0);
    return 0;
}
END
    echo 42 > numbers
    run 0 sh -c "mazurka check input.c < numbers" && first_line out "verified: " && has out "2 executions"
}

test_library_with_thread_local() {
    cat > plug.c << 'END'
static __thread int mine;
int next(void) { return ++mine; }
END
    cat > load.c << 'END'
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static int (*next)(void);
static void *w(void *a) { assert(next() == 1); atomic_fetch_add(&n, 1); assert(next() == 2); return a; }
int main(void)
{
    pthread_t t;
    void *library = dlopen("./plug.so", RTLD_NOW);
    assert(library);
    next = (int (*)(void))dlsym(library, "next");
    assert(next() == 1);
    pthread_create(&t, 0, w, 0);
    atomic_fetch_add(&n, 1);
    pthread_join(t, 0);
    return 0;
}
END
    run 0 mazurka cc -shared -fPIC -o plug.so plug.c && run 0 mazurka check load.c &&
        first_line out "verified: " && has out "2 executions"
}

test_inline_assembly() {
    cat > asm.c << 'END'
#include <pthread.h>
static int n;
static void *w(void *a) { __asm__ volatile("lock incl %0" : "+m"(n)); return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    return 0;
}
END
    sed 's/"lock incl %0" : "+m"(n)/"lock incl (%0)" : : "r"(\&n) : "memory"/' asm.c > pointer.c
    run 0 mazurka check asm.c && first_line out "verified" && run 0 mazurka check pointer.c &&
        { has out "pointer.c:3: inline assembly changes memory atomically" ||
            has out "atomic instructions that are not seen"; } && run 3 mazurka check --strict pointer.c
}

# Objects and archives that another compiler made: what they do is not seen, and that is said. What only computes, or
# uses only its own stack, is not named, nor what comes with every program.
test_uninstrumented_objects() {
    cat > other.c << 'END'
int shared;
int twice(int a) { return 2 * a; }
int sum(int n) { int a[10], s = 0; for (int i = 0; i < 10; i++) a[i] = n + i; for (int i = 0; i < 10; i++) s += a[i]; return s; }
void count(void) { shared++; }
int look(const int *p) { return *p; }
END
    cat > use.c << 'END'
#include <pthread.h>
#include <stdlib.h>
void count(void);
int sum(int), twice(int);
static void *w(void *a) { count(); return (char *)a + sum(1) * 0 + twice(0); }
static void bye(void) {}
int main(void)
{
    pthread_t t[2];
    atexit(bye);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, w, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
END
    printf '.globl count\n.type count,@function\ncount: incl shared(%%rip)\nret\n.comm shared,4\n.size count,.-count\n.section .note.GNU-stack\n' > asm.s
    printf 'int sum(int a) { return a; } int twice(int a) { return a; }\n' > rest.c
    cc -O1 -g -c other.c -o other.o && cc -O1 -c other.c -o bare.o && ar rc libother.a other.o || return 1
    for object in other.o libother.a "-L. -lother"; do
        # shellcheck disable=SC2086
        run 0 mazurka check --json=j use.c $object && first_line out "verified, except: " && has out "2 functions in other.c" &&
            has out "(other.c:4)" && has out "look (other.c:5)" && json_is j "any('other.c:4' in u for u in d['unseen'])" || return 1
    done
    run 3 mazurka check --strict use.c other.o &&
        run 0 mazurka check use.c bare.o && has out "2 functions without debug information are not" &&
        run 0 mazurka check use.c rest.c asm.s && has out "1 function in asm.s is not instrumented: count" &&
        run 1 mazurka check use.c other.c && first_line out "error: data race on shared" &&
        run 0 mazurka cc -o program use.c other.o && run 0 mazurka check ./program && has out "not instrumented"
}

# gcc warns of fences that its own runtime does not know.
test_fence_is_no_warning() {
    cat > fence.cpp << 'END'
#include <atomic>
#include <thread>
std::atomic<int> a;
int main()
{
    std::thread t([] { std::atomic_thread_fence(std::memory_order_seq_cst); a.store(1, std::memory_order_relaxed); });
    t.join();
    return a.load() - 1;
}
END
    run 0 mazurka c++ -Wall -Wextra -Werror -O2 -c fence.cpp && run 0 mazurka check -Werror fence.cpp && first_line out "verified"
}

test_exit_code() {
    programs
    run 1 mazurka check exitcode.c && first_line out "error: the program ended with exit status 3" && has out "exit 3"
}

test_step_limit() {
    programs
    run 3 mazurka check --max-steps=500 spin.c && first_line out "incomplete: " && has out "3 rounds" &&
        has out "thread 0.1, spin.c:6" &&
        run 3 mazurka check --max-steps=20 --algorithm=stateful long.c && has out "20 steps"
}

test_execution_limit() {
    programs
    run 3 mazurka check --max-executions=50 long.c && first_line out "incomplete: " && has out "50 executions" &&
        has out "Search: not complete"
}

test_time_limit() {
    programs
    run 3 mazurka check --time-limit=0.3 long.c && first_line out "incomplete: " && has out "time limit of 0.3 s"
}

# Also within one execution, with workers, and of each run that goes on from a checkpoint: for all of them together,
# well below the two seconds that an interrupted program gets.
test_time_limit_exact() { one_of_three time_limit_exact; }
time_limit_exact() {
    rm -f c j first
    slow=$(slowness)
    cat > slow.c << 'END'
#include <pthread.h>
static void *w(void *a)
{
    for (volatile long k = 0; k < 4000000000000; k++) { }
    return a;
}
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }
END
    run 3 mazurka check --time-limit=0.3 --json=j slow.c && json_is j "0.3 <= d['seconds'] < 0.3 + $slow" &&
        run 3 mazurka check -j 2 --time-limit=0.3 --json=j slow.c && json_is j "0.3 <= d['seconds'] < 0.3 + $slow" &&
        run 3 mazurka check --time-limit=0.3 --checkpoint=c --json=j $endless &&
        json_is j "0.3 <= d['seconds'] < 0.3 + 1.2 * $slow and 0 < d['share'] < 1" && cp j first &&
        run 3 mazurka check --time-limit=$slow.4 --resume=c --json=j $endless &&
        json_is j "$slow.4 <= d['seconds'] < 0.4 + 2.2 * $slow and d['executions'] > $(executions first)"
}

# Workers that have given back what they had, for a checkpoint, and take long to leave (their memory is in very many
# pages): they are ended, and the search is not complete.
test_time_limit_slow_end() {
    cat > slow.c << 'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define SIZE  ((size_t)32 << 20)
#define TIMES 200
__attribute__((constructor)) static void map_again_and_again(void)
{
    int fd = memfd_create("large", 0);
    char *place = mmap(NULL, SIZE * TIMES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ftruncate(fd, SIZE) != 0) abort();
    for (size_t i = 0; i < TIMES; i++)
        mmap(place + i * SIZE, SIZE, PROT_READ, MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd, 0);
    close(fd);
}
END
    long_search >> slow.c
    # How long it takes to come to main depends on the machine: the limit is three times that.
    run 0 mazurka cc -o slow slow.c && began=$(date +%s) && run 3 mazurka check --max-executions=1 ./slow &&
        limit=$((3 * ($(date +%s) - began) + 3)) &&
        run 3 mazurka check -j 2 --time-limit=$limit --checkpoint=c ./slow && first_line out "incomplete: " && [ -s c ] &&
        run 2 mazurka check --time-limit=0.01 ./slow && has err "time limit of 0.01 s was reached before main"
}

# The check that tests switch on: an event has the access that the wakeup tree foresaw. Here it has not, as what the
# program does depends on the processor's counter.
test_foreseen_access_is_checked() {
    cat > ticks.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int x, y;
static int odd(void)
{
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return low >> 6 & 1;
}
static void *run(void *arg)
{
    for (int i = 0; i < 4; i++) {
        int e = odd() ? 77 : 0;
        atomic_compare_exchange_strong(&x, &e, 0); /* a write, or only a read */
        atomic_load(&y);
    }
    return arg;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
END
    for i in 1 2 3 4 5 6 7 8; do # it may do the same twice by chance
        MAZURKA_CHECK_FORESEEN=1 mazurka check ticks.c > out 2> err < /dev/null
        ! grep -q "internal error: .*access that the wakeup tree foresaw" err || return 0
    done
    complain "nothing was noticed: $(head -n 1 out) $(head -n 1 err)"
}

# What is too large for the memory that there is: optimal goes on as source, with the same executions; stateful
# searches forget states, or stop; workers become one.
test_memory_limit() {
    programs
    lastzero=$root/tests/papers/lastzero.c
    run 0 mazurka check --memory-limit=25K --json=j -DN=9 "$lastzero" &&
        has out "memory limit made it go on with \`source\` after" &&
        json_is j "d['executions'] == 1536 and d['blocked'] > 0 and 0 < d['fell_back_after'] < 1536" &&
        run 0 mazurka check --memory-limit=50K --json=j -DN=9 "$lastzero" &&
        json_is j "d['executions'] == 1536 and d['blocked'] == 0 and 'fell_back_after' not in d" &&
        run 3 mazurka check --memory-limit=1K -DN=9 "$lastzero" && has out "memory limit" &&
        run 3 mazurka check --memory-limit=1K -j 2 -DN=9 "$lastzero" && has out "memory limit" &&
        run 0 mazurka check --memory-limit=50K -j 3 --json=j -DN=12 "$lastzero" && has out "it started over" &&
        json_is j "d['executions'] == 15360" &&
        run 1 mazurka check --memory-limit=10K -q lost.c &&
        run 0 mazurka check --algorithm=sdpor --memory-limit=90K --json=j -DN=6 "$lastzero" &&
        has out "made it forget states" && json_is j "0 < d['forgot_after'] < d['states']" &&
        run 3 mazurka check --algorithm=dl-s-por --memory-limit=90K -DN=6 "$lastzero" && has out "memory limit" &&
        run 3 mazurka check --algorithm=source --memory-limit=1K -DN=6 "$lastzero" && has out "memory limit" &&
        run 3 mazurka check --memory-limit=32M --checkpoint=c --json=j -DN=20 "$root/tests/papers/readers.c" &&
        has out "To go on from here" && json_is j "d['peak_memory_bytes'] < 40 << 20 and d['executions'] > 4000"
}

# Where each execution is handed out by itself one worker is faster; but not if executions take long. What is faster is
# measured, and a machine that stumbles just then shows something else: it may, but not every time.
test_small_parts() {
    readers=$root/tests/papers/readers.c
    one=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
    for try in 1 2 3 4; do
        run 0 taskset -c "$one" mazurka check -j 2 --progress=json --json=j -DN=17 "$readers" &&
            json_is j "d['executions'] == 131072 and d['complete']" || return 1
        grep -q "it started over" out && break
        [ $try -lt 4 ] || complain "two workers on one processor are said to be faster than one: $(cat out)" || return 1
    done
    json_is j "'sharing' not in d and d['seconds'] > 0.3" || return 1
    [ "$(grep -c '"final": true' err)" = 1 ] || { complain "$(grep -c '"final": true' err) last objects"; return 1; }
    sed 's/(void)atomic_load((_Atomic int/for (volatile int i = 0; i < 1000000; i = i + 1) ;\n    &/' "$readers" > long.c
    for try in 1 2 3 4; do
        run 0 mazurka check -j 2 --json=j -DN=11 long.c && empty err && json_is j "d['executions'] == 2048" || return 1
        grep -q "it started over" out || break
        [ $try -lt 4 ] || complain "one worker is said to be faster than two: $(cat out)" || return 1
    done
    json_is j "d['workers'] == 2 and d['sharing']['parts'] > 1000" || return 1
    run 3 mazurka check -j 2 --time-limit=0.4 -DN=40 "$readers" && has out "time limit of 0.4 s" &&
        run 3 mazurka check -j 2 --time-limit=1.6 -DN=40 "$readers" && has out "time limit of 1.6 s" || return 1
    # A program that needs long to start is not slow because of that; nor is one with an error, that goes on, at its end.
    cat > start.c << 'END'
#include <time.h>
__attribute__((constructor)) static void begin(void)
{
    struct timespec t = {0, 250000000};
    nanosleep(&t, NULL);
}
END
    run 0 mazurka check -j 2 -DN=16 start.c "$readers" && has out "65536 executions" || return 1
    sed 's/    return 0;/    int seen = 0;\n    for (int i = 0; i < N; i++) seen += own[i];\n    if (seen == 12) abort();\n&/;
         s/(void)atomic_load(&x);/*(_Atomic int *)arg = atomic_load(\&x) == 42;/; s/#include <stdatomic.h>/&\n#include <stdlib.h>/' "$readers" > twelve.c
    run 1 mazurka check -j 2 --keep-going --json=j -DN=16 twelve.c && json_is j "d['complete'] and d['executions'] == 65536"
}

lines_fit() { # FILE COLUMNS
    awk -v most="$2" 'length > most { print; exit 1 }' "$1" > wide || complain "too wide: $(cat wide)"
}

# A line for a log, objects for programs, with workers and after --resume.
test_progress() {
    lastzero=$root/tests/papers/lastzero.c
    run 3 mazurka check --progress=always --time-limit=5 $endless && grep -qE "^[0-9]+ executions in [2-5] s, " err &&
        has err " %" && has err "/s, depth" && lines_fit err 80 && run 3 mazurka check --time-limit=0.7 $endless &&
        empty err || return 1
    run 3 mazurka check --progress=json --time-limit=4 -j 2 --checkpoint=c $endless || return 1
    ! grep -q '"share": 1,' err || { complain "all is done, and there is more: $(cat err)"; return 1; }
    tail -n 1 err > last && head -n 2 err | tail -n 1 > early && json_valid last && json_is last \
        "d['final'] and d['workers'] == 2 and d['executions'] > 0 and 0 < d['share'] < 1 and d['errors'] == 0" &&
        json_is early "not d['final'] and {'rate', 'depth', 'blocked', 'cut', 'states', 'seconds_left'} < set(d)" ||
        return 1
    run 3 mazurka check --progress=json --time-limit=0.7 --resume=c $endless && tail -n 1 err > again &&
        json_is again "d['executions'] >= $(executions last) and d['share'] > 0" &&
        run 0 mazurka check --progress=json -DN=9 "$lastzero" && tail -n 1 err > last &&
        json_is last "d['final'] and d['share'] == 1 and d['executions'] == 1536" &&
        run 0 mazurka check --progress=json --algorithm=stateful -DN=7 "$lastzero" && tail -n 1 err > last &&
        json_is last "d['states'] > 0 and d['share'] == 1" &&
        run 0 mazurka check --progress=json --algorithm=portfolio -DN=8 "$lastzero" && tail -n 1 err > last &&
        json_is last "d['final'] and d['algorithm'] == 'portfolio'" &&
        refuses "--progress=xml" mazurka check --progress=xml "$lastzero"
}

# Estimates of a search of 235,584 executions whose first branches are its smallest: when a quarter and when half of it
# is explored, or a moment before: estimates are made ten times a second. With workers it depends on who was where.
test_progress_estimate() {
    estimate() { # EXECUTIONS PYTHON OPTION...
        most=$1
        what=$2
        shift 2
        run 3 mazurka check -q --max-executions="$most" --json=j "$@" -DP=4 -DC=3 "$root/tests/papers/bbuf.c" && json_is j "$what"
    }
    estimate 58896 "0.1 < d['share'] < 0.4" && estimate 117792 "0.3 < d['share'] < 0.68" &&
        estimate 117792 "0.3 < d['share'] < 0.68" -j 2
}

# One line on a terminal of any width, which is gone when the report comes.
test_progress_terminal() {
    command -v script > /dev/null 2>&1 || return 0
    for columns in 80 40; do
        script -qec "stty cols $columns; TERM=xterm mazurka check -j 2 --color=never --time-limit=4 $endless" \
            typescript < /dev/null > /dev/null
        tr '\r' '\n' < typescript | sed 's/\x1b\[K//g' | grep '^[0-9]* executions' > lines
        [ -s lines ] || { complain "nothing was shown"; return 1; }
        lines_fit lines $((columns - 1)) || return 1
        grep -qE "^[0-9]+ executions in [0-9]+ s, .*[~<][0-9]+ %" lines || { complain "no share: $(head -n 1 lines)"; return 1; }
        [ $columns = 40 ] || grep -qE "[0-9]k?/s, depth [0-9]+, 2 workers, " lines ||
            { complain "something is left out: $(head -n 1 lines)"; return 1; }
        # the last thing before the report: an empty line
        printf '\r\033[K' > erased
        tr -d '\n' < typescript | grep -qF "$(cat erased)incomplete" ||
            { complain "the line is not erased"; return 1; }
    done
}

# A disk that is full: the result is not lost, and it is said what is.
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

# What is no file is not replaced by one.
test_special_files() {
    programs
    mkfifo pipe
    cat pipe > got &
    run 1 mazurka check -q --json=pipe lost.c
    wait
    [ -p pipe ] || { complain "the pipe was replaced"; return 1; }
    json_valid got && refuses "no regular file" mazurka check --checkpoint=pipe ok.c &&
        refuses "cannot write the checkpoint nowhere/c" mazurka check --checkpoint=nowhere/c ok.c && [ -p pipe ]
}

# A worker that is not there yet when time is up does not take away what others have found; a program that cannot start
# is one line, not one for each worker.
test_before_main() {
    cat > late.c << 'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void second_is_late(void)
{
#ifdef BROKEN
    exit(3);
#endif
    int fd = open("first", O_CREAT | O_EXCL | O_WRONLY, 0600);
    for (volatile long k = 0; fd < 0 && k < 4000000000000; k++) { }
    close(fd);
}
END
    long_search >> late.c
    run 0 mazurka cc -o late late.c && run 3 mazurka check -j 2 --time-limit=5 ./late &&
        first_line out "incomplete: " && empty err && run 0 mazurka cc -DBROKEN -o broken late.c || return 1
    for j in 1 2 4; do
        refuses "ended before main (exit status 3)" mazurka check -j $j ./broken || return 1
    done
}

# A signal to the whole group, as from a terminal, also hits a program that is about to be one.
test_signal_at_the_start() {
    command -v setsid > /dev/null 2>&1 || return 0
    run 0 mazurka cc -o lz $endless || return 1
    for i in 0 1 2 3 4 5 6 7 8 9; do
        for j in 1 2 2 8; do
            setsid mazurka check -q -j $j ./lz > out 2> err < /dev/null &
            sleep 0.00$i
            until kill -TERM -$! 2> /dev/null; do :; done # there is no such group yet
            wait $! 2> /dev/null
            case $? in
            2) has err "interrupted before it started" || return 1 ;;
            3) empty err || return 1 ;;
            143) ;;
            *) complain "status $?: $(cat out err)"; return 1 ;;
            esac
        done
    done
}

# Without descriptors or processes: fewer workers, or one clear line. Which limit is too low depends on what
# whoever runs the tests has left open: all are tried from where the command itself starts.
test_few_descriptors() {
    run 0 mazurka cc -DN=12 -o lz "$root/tests/papers/lastzero.c" || return 1
    command -v prlimit > /dev/null 2>&1 || return 0
    for jobs in 1 4; do
        n=3
        until prlimit --nofile=$n "$mazurka" --version > /dev/null 2>&1 < /dev/null; do
            n=$((n + 1))
            [ $n -lt 200 ] || { complain "does not start with 200 descriptors"; return 1; }
        done
        refused=0
        until prlimit --nofile=$n "$mazurka" check -q -j $jobs ./lz > out 2> err < /dev/null; do
            status=$?
            [ $status = 2 ] || { complain "status $status with $n descriptors: $(cat out err)"; return 1; }
            [ "$(grep -c "^mazurka: [^n]" err)" = 1 ] && has err "ulimit -n" || return 1
            [ "$(grep -c "^mazurka: note" err)" -le 1 ] || { complain "notes: $(cat err)"; return 1; }
            refused=$((refused + 1))
            n=$((n + 1))
            [ $n -lt 200 ] || { complain "200 descriptors are not enough"; return 1; }
        done
        [ $refused -gt 0 ] || { complain "was never refused"; return 1; }
        for n in $n $((n + 1)) $((n + 2)) $((n + 4)); do
            run 0 prlimit --nofile=$n "$mazurka" check -q -j $jobs ./lz && has out "15360 executions" || return 1
        done
    done
    no_leftovers
}

# Addresses are reserved, far more than are used: a limit of them is not one of memory.
test_few_addresses() {
    programs
    command -v prlimit > /dev/null 2>&1 || return 0
    run 1 mazurka check -q lost.c || return 1
    for jobs in 1 2; do
        refuses "raise it (ulimit -v" prlimit --as=400000000 "$mazurka" check -j $jobs ok.c &&
            refuses "raise it (ulimit -v" prlimit --as=400000000 "$mazurka" check -j $jobs --resume=/dev/zero ok.c || return 1
    done
    refuses "raise it (ulimit -v" prlimit --as=400000000 "$mazurka" replay mazurka-lost-1.trace
}

test_few_processes() {
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups prlimit"
    $as_nobody --nproc=9 true 2> /dev/null || return 0
    run 0 mazurka cc -DN=14 -o lz "$root/tests/papers/lastzero.c" &&
        run 0 mazurka cc -o ts "$root/tests/programs/thread_storage.c" || return 1
    chmod -R a+rwx "$work" && chmod a+rx .
    for n in 2 4; do # threads with storage of their own are real ones for a moment
        HOME=$TMPDIR $as_nobody --nproc=$n "$mazurka" check -q ./ts > out 2> err < /dev/null
        case "$n $?" in
        "2 2") has err "ulimit -u" || return 1 ;;
        "4 0") has out "2 executions" || return 1 ;;
        *) complain "status $? with $n processes: $(cat out err)"; return 1 ;;
        esac
    done
    for n in 1 2 4 5 80; do
        HOME=$TMPDIR $as_nobody --nproc=$n "$mazurka" check -q -j 3 ./lz > out 2> err < /dev/null
        case "$n $?" in
        "2 0" | "4 0" | "5 0" | "80 0") has out "69632 executions" || return 1 ;;
        "1 2" | "2 2" | "4 2") has err "ulimit -u" || return 1 ;;
        *) complain "status $? with $n processes: $(cat out err)"; return 1 ;;
        esac
    done
    rm -rf "$TMPDIR/.cache"
    chmod -R go-w "$work" # a directory that others can write to is not trusted
}

test_no_temporary_directory() {
    programs
    TMPDIR=/proc
    refuses "cannot make a temporary directory /proc/" mazurka check ok.c
    status=$?
    TMPDIR=$work/tmp
    return $status
}

test_endless_local_loop() {
    cat > loop.c << 'END'
#include <pthread.h>
static void *w(void *a)
{
    volatile int k = 1;
    while (k)
        ;
    return a;
}
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }
END
    # Endless for certain: an error, however long it takes to find that. A loop that ends some day: the time limit.
    run 1 mazurka check --time-limit=300 loop.c && first_line out "error: livelock" || return 1
    sed 's/while (k)/while (k += 2)/; s/int k/long k/' loop.c > count.c
    run 3 mazurka check --time-limit=0.5 count.c && first_line out "incomplete: " && has out "time limit"
}

test_interrupt() {
    programs
    run 3 mazurka check --max-executions=1 long.c || return 1 # from now on in the cache
    for signal in INT TERM; do
        rm -f err
        mazurka check --progress=json long.c > out 2> err &
        pid=$!
        wait_until searching err
        kill -$signal $pid
        wait $pid
        status=$?
        [ $status -eq 3 ] || { complain "status $status after SIG$signal"; return 1; }
        first_line out "incomplete: " && has out "interrupted" || return 1
    done
}

# So is the compiler: asked what it is, preprocessing, compiling, and if it does not want to end.
test_interrupt_compiling() {
    programs
    cat > slow-cc << 'END'
#!/bin/sh
case " $* " in
*" $SLOW_AT "*)
    [ -z "$STUBBORN" ] || trap '' INT TERM
    : > begun
    sleep 623.5177
    ;;
esac
exec cc "$@"
END
    chmod +x slow-cc
    export MAZURKA_CC="$PWD/slow-cc" SLOW_AT STUBBORN
    for how in 'TERM --version' 'TERM -dM' 'TERM -Werror' 'none none' 'INT -E' 'TERM -o' 'TERM -E stubborn' 'cc -o'; do
        # shellcheck disable=SC2086
        set -- $how
        SLOW_AT=$2 STUBBORN=$3 began=$(date +%s)
        case $1 in
        none) run 3 mazurka check --max-executions=1 -DX long.c || return 1; continue ;; # now it is known
        cc) mazurka cc -o long long.c > out 2> err < /dev/null & interrupts TERM $! 143 && empty err || return 1 ;;
        *)
            mazurka check --json=j long.c > out 2> err < /dev/null &
            interrupts "$1" $! 2 || return 1
            printf 'mazurka: interrupted while compiling\n' | cmp -s - err || { complain "$how: $(cat err)"; return 1; }
            empty out && has j '"verdict": "failed"' && has j 'interrupted while compiling' || return 1
            ;;
        esac
        [ $(($(date +%s) - began)) -lt 120 ] || complain "$how: it took $(($(date +%s) - began)) s"
    done
    unset MAZURKA_CC SLOW_AT STUBBORN
}
interrupts() { # SIGNAL PID STATUS: once the compiler has begun; nothing is left of it
    wait_until [ -e begun ]
    kill "-$1" "$2"
    wait "$2" 2> /dev/null
    status=$?
    [ $status -eq "$3" ] || { complain "$how: status $status"; return 1; }
    [ -z "$(pgrep -f 'sleep 623\.5177')" ] || { complain "$how: the compiler still runs"; return 1; }
    left=$(ls "$TMPDIR")
    [ -z "$left" ] || complain "$how: left behind: $left"
    rm -f begun
}

test_killed_command_takes_target_along() {
    programs
    run 3 mazurka check --max-executions=1 long.c || return 1
    rm -f err
    mazurka check -q --progress=json long.c > out 2> err &
    pid=$!
    wait_until searching err
    child=$(ps -o pid= --ppid $pid 2> /dev/null | tr -d ' ')
    kill -KILL $pid
    wait $pid 2> /dev/null
    [ -z "$child" ] || wait_until is_gone "$child"
}

# Workers: the same verdict, executions and findings as one. What is small is shared at once, for the test.
test_jobs() {
    programs
    MAZURKA_SHARE_AT_ONCE=1
    export MAZURKA_SHARE_AT_ONCE
    for n in 12 13 14; do
        for j in 1 2 5; do
            run 0 mazurka check -j $j -DN=$n --json=$n-$j.json "$root/tests/papers/indexer.c" || return 1
        done
        json_is $n-2.json "d['executions'] == $(executions $n-1.json) and d['blocked'] == 0" &&
            json_is $n-5.json "d['executions'] == $(executions $n-1.json) and d['blocked'] == 0" || return 1
    done
    run 1 mazurka check -j 3 -q lost.c && run 1 mazurka check -j 2 --keep-going --json=k2.json lost.c &&
        run 1 mazurka check --keep-going --json=k1.json lost.c &&
        json_is k2.json "len(d['errors']) == $(python3 -c "import json;print(len(json.load(open('k1.json'))['errors']))")" &&
        run 3 mazurka check -j 2 --max-executions=50 -DN=16 "$root/tests/papers/indexer.c" &&
        run 3 mazurka check -j 2 --time-limit=1 long.c && has out "time limit" &&
        refuses "--jobs=0" mazurka check -j 0 ok.c && refuses "--jobs=99999" mazurka check -j 99999 ok.c &&
        run 0 mazurka check -j 2 --algorithm=stateful ok.c && has err "one worker"
}

# The same of the other algorithms that explore a tree. Blocked executions may be others; without sleep sets so
# may be complete ones, as what is added to a backtrack set depends on what is there already.
test_jobs_algorithms() {
    MAZURKA_SHARE_AT_ONCE=1
    export MAZURKA_SHARE_AT_ONCE
    file=$root/tests/papers/lastzero.c
    for how in "source 7" "dpor 6" "sleep 3" "none 2"; do
        set -- $how
        run 0 mazurka check --algorithm=$1 -DN=$2 --json=1.json "$file" &&
            run 0 mazurka check -j 3 --algorithm=$1 -DN=$2 --json=3.json "$file" &&
            json_is 3.json " d['redundant'] == 0 and d['lost'] == 0" &&
            json_is 3.json "d['executions'] == $(executions 1.json)" || return 1
    done
    run 0 mazurka check -j 3 --algorithm=dpor --no-sleep-sets -DN=5 --json=3.json "$file" &&
        json_is 3.json "d['executions'] >= 64" || return 1
    for jobs in 1 3; do # it starts over, once
        run 0 mazurka check -j $jobs -DN=16 --json=3.json "$root/tests/papers/filesystem.c" &&
            json_is 3.json "d['restarts'] == 1" || return 1
    done
}

executions() { python3 -c "import json,sys;print(json.load(open('$1'))['executions'])"; }

# A worker that is killed is replaced, and nothing is counted twice or lost.
test_jobs_killed_workers() {
    run 0 mazurka check -q -DN=14 "$root/tests/papers/lastzero.c" && cp out alone || return 1
    # Shared at once: a search that has started over with one worker (on a busy machine it may) cannot replace that one.
    MAZURKA_SHARE_AT_ONCE=1 mazurka check -q -j 2 -DN=14 "$root/tests/papers/lastzero.c" > out 2> err &
    pid=$!
    for _ in 1 2 3 4 5 6; do
        sleep 0.2
        worker=$(ps -o pid= --ppid $pid 2> /dev/null | head -n 1 | tr -d ' ')
        [ -z "$worker" ] || kill -KILL "$worker" 2> /dev/null
    done
    wait $pid || { complain "status $?"; return 1; }
    cmp -s out alone || complain "$(cat out) instead of $(cat alone)"
}

# Again and again: the search ends, but what was found and explored is reported.
test_jobs_killed_again_and_again() {
    mazurka check -j 2 --keep-going --json=1.json $endless > out 2> err &
    pid=$!
    for _ in $(seq 1200); do
        sleep 0.1
        [ -d /proc/$pid ] || break
        for child in $(cat /proc/$pid/task/$pid/children 2> /dev/null); do
            case $(cat "/proc/$child/comm" 2> /dev/null) in program-*) kill -9 "$child" && break ;; esac
        done
    done
    wait $pid
    [ $? = 3 ] || complain "status $?: $(head -n 3 out err)"
    first_line out "incomplete: " && has err "killed again and again" && json_is 1.json "d['verdict'] == 'incomplete'"
}

# nohup is heeded.
test_hangup() {
    programs
    for how in nohup env; do
        rm -f err
        $how mazurka check --progress=json --time-limit=5 long.c > out 2> err < /dev/null &
        pid=$!
        wait_until searching err
        kill -HUP $pid
        wait $pid
        [ $? = 3 ] || complain "status $?: $(head -n 3 out err)"
        case $how in nohup) has out "time limit" ;; *) has out "interrupted" ;; esac || return 1
    done
}

test_jobs_interrupted() {
    programs
    run 3 mazurka check --max-executions=1 long.c || return 1
    rm -f err
    mazurka check -j 2 --progress=json long.c > out 2> err &
    pid=$!
    wait_until searching err
    kill -INT $pid
    wait $pid
    status=$?
    [ $status -eq 3 ] || { complain "status $status"; return 1; }
    first_line out "incomplete: " && has out "interrupted" || return 1
    [ -z "$(ps -o pid= --ppid $pid 2> /dev/null)" ] || complain "workers still run"
}

# A run that is killed at any time goes on from its last checkpoint, one that is interrupted from where it was:
# the same executions in the end.
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

# The same program is the same in another directory.
test_checkpoint_elsewhere() {
    mkdir a b
    cp "$root/tests/papers/lastzero.c" a
    cp a/lastzero.c b
    run 0 mazurka check -q -DN=12 "$root/tests/papers/lastzero.c" && cp out alone || return 1
    (cd a && mazurka check -q --checkpoint=c --max-executions=4000 -DN=12 lastzero.c) > out 2> err
    (cd b && mazurka check -q -j 2 --resume=../a/c -DN=12 lastzero.c) > out 2> err || { complain "$(cat err)"; return 1; }
    cmp -s out alone || complain "$(cat out) instead of $(cat alone)"
}

# Two at a time would write over each other's.
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

# Each process that runs the program reads the file from where it was.
test_input() {
    cat > in.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
static atomic_int n;
static void *add(void *p)
{
    for (int i = 0; i < 3; i++) n++;
    return p;
}
int main(void)
{
    char line[64];
    pthread_t t[3];
    assert(fgets(line, sizeof line, stdin));
    assert(!strcmp(line, "second\n"));
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(n == SUM);
    return 0;
}
END
    printf 'first\nsecond\n' > text
    for jobs in 1 2; do
        { read -r _; mazurka check -q -j $jobs -DSUM=9 in.c; } < text > out 2> err
        first_line out "verified" || return 1
        { read -r _; mazurka check -j $jobs -DSUM=8 in.c; } < text > out 2> err
        first_line out "error: assertion failed: n == SUM" && has out "same outcome" || return 1
    done
}

# Who holds what is part of a deadlock: the same ones are found however the search is shared. What there is no room for is
# told.
test_different_errors() {
    cat > circle.c << 'END'
#include <pthread.h>
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *both(void *p)
{
    long i = (long)p;
    pthread_mutex_lock(&m[i % 3]);
    pthread_mutex_lock(&m[(i + 1) % 3]);
    pthread_mutex_unlock(&m[(i + 1) % 3]);
    pthread_mutex_unlock(&m[i % 3]);
    return 0;
}
int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, both, (void *)i);
    for (long i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
END
    for jobs in 1 4; do
        MAZURKA_SHARE_AT_ONCE=1 run 1 mazurka check -q --keep-going -j $jobs --json=$jobs.json circle.c || return 1
    done
    python3 - << 'END' || { complain "other deadlocks with workers"; return 1; }
import json
def of(name):
    return sorted([(t["thread"], t["state"], t["object"], t["holder"]) for t in e["threads"]].__str__()
                  for e in json.load(open(name))["errors"])
raise SystemExit(of("1.json") != of("4.json") or len(of("1.json")) < 2)
END
    {
        echo '#include <assert.h>'
        echo '#include <pthread.h>'
        echo '#include <stdatomic.h>'
        echo 'static atomic_int x;'
        echo 'static void *t(void *a) { for (int i = 0; i < 260; i++) x++; return a; }'
        echo 'int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); int v = x; switch (v) {'
        for i in $(seq 0 259); do echo "case $i: assert(v != $i); break;"; done
        echo '} pthread_join(a, 0); return 0; }'
    } > many.c
    run 1 mazurka check --keep-going --json=j many.c && has out "more than 256 different errors" && hasnt out "NOT reproduced" &&
        json_is j "len(d['errors']) == 256 and d['more_errors']"
}

# A limit is no reason to lose what has been explored; what was complete is so when it is resumed.
test_checkpoint_limits() {
    file="-DN=13 $root/tests/papers/lastzero.c"
    # shellcheck disable=SC2086
    for how in "--max-executions=15000" "--max-executions=5000 -j 3" "--memory-limit=300K" "--memory-limit=300K -j 2"; do
        rm -f c
        run 3 mazurka check $how --checkpoint=c --json=1.json $file &&
            run 3 mazurka check $how --checkpoint=c $file && has out "--resume=c" || return 1
        run 3 mazurka check $how --checkpoint=c --json=1.json $file &&
            run 0 mazurka check -q --resume=c --checkpoint=c --json=2.json $file && has out "(32768 executions" || return 1
        # It may end before the search starts over, as this one does once: then what was explored is void.
        json_is 2.json "d['resumed'] == $(executions 1.json) or (d['resumed'] == 0 and d['restarts'] == 1)" &&
            json_is 2.json "abs(d['executions_per_second'] * d['seconds'] - (32768 - d['resumed'])) < 2" || return 1
        run 0 mazurka check -q --resume=c --json=3.json $file && has out "(32768 executions" &&
            json_is 3.json "d['resumed'] == 32768 and d['share'] == 1" || return 1
    done
    programs
    run 1 mazurka check --keep-going --checkpoint=e --json=1.json lost.c && run 1 mazurka check --keep-going --resume=e --json=2.json lost.c &&
        json_is 2.json "[e['kind'] for e in d['errors']] == $(python3 -c "import json;print([e['kind'] for e in json.load(open('1.json'))['errors']])")"
}

# Whoever kills the only worker, it is not the program's fault.
test_killed_from_outside() {
    mazurka check --json=1.json $endless > out 2> err &
    pid=$!
    for _ in $(seq 600); do
        for child in $(cat /proc/$pid/task/$pid/children); do # the compiler may be one, before
            case $(cat "/proc/$child/comm" 2> /dev/null) in program-*) kill -9 "$child" && break 2 ;; esac
        done
        sleep 0.2
    done
    wait $pid
    [ $? = 3 ] || complain "status $?: $(head -n 3 out err)"
    first_line out "incomplete: " && has out "killed from outside" && json_is 1.json "d['errors'] == []"
}

test_checkpoint_refused() {
    file=$root/tests/papers/lastzero.c
    run 3 mazurka check -q --max-executions=1000 --checkpoint=c -DN=14 "$file" && [ -s c ] || return 1
    refuses "it is of another program (then -DN=14 $file, now -DN=13 $file)" mazurka check --resume=c -DN=13 "$file" &&
        refuses "other options: --max-steps (then 100000, now 99)" mazurka check --resume=c --max-steps=99 -DN=14 "$file" &&
        refuses "other options: --algorithm (then optimal, now source), --leaks (then no, now yes)" \
            mazurka check --resume=c --algorithm=source --leaks -DN=14 "$file" &&
        refuses "other options: --data-races (then error, now allow)" mazurka check --resume=c --data-races=allow -DN=14 "$file" &&
        refuses "other options: --nondet-range (then none, now 0..3)" mazurka check --resume=c --nondet-range=0..3 -DN=14 "$file" &&
        refuses "other arguments (then none, now a 'b c')" mazurka check --resume=c -DN=14 "$file" -- a 'b c' &&
        refuses "is not for stateful" mazurka check --resume=c --algorithm=stateful -DN=14 "$file" &&
        refuses "cannot read" mazurka check --resume=none -DN=14 "$file" || return 1
    head -c $(($(wc -c < c) - 9)) c > torn && refuses "damaged" mazurka check --resume=torn -DN=14 "$file" || return 1
    sed 's/^mazurka checkpoint [0-9]*/mazurka checkpoint 0/' c > old && refuses "no checkpoint" mazurka check --resume=old -DN=14 "$file" &&
        echo x > x && refuses "it is no checkpoint" mazurka check --resume=x -DN=14 "$file" &&
        cp "$file" changing.c &&
        run 3 mazurka check -q --max-executions=10 --checkpoint=d -DN=14 changing.c && echo "int more;" >> changing.c &&
        refuses "it is of another program: this one has been changed since" mazurka check --resume=d -DN=14 changing.c &&
        refuses "cannot write the checkpoint nowhere/d" mazurka check -q --resume=c --checkpoint=nowhere/d -DN=14 "$file" &&
        run 0 mazurka check -q --resume=c -DN=14 "$file"
}

# What is there is not overwritten, unless it is the one that was resumed from, or of a search that is finished; a link
# stays one.
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
    for try in 1 2; do # an error is an end, too
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

# Nothing that is read is waited for, nor read without end; nor is a reader that never comes.
test_no_regular_files() {
    programs
    mkfifo pipe
    for file in pipe /dev/zero; do
        for command in "check ok.c --resume=$file" "replay $file" "show $file" "check $file"; do
            refuses "no regular file" timeout 120 mazurka $command || return 1
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

# Whatever is changed or missing in a checkpoint, it is refused with a reason; and one of another version as that.
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
refused(bytes(len(whole)), "no checkpoint", "zeros")
head = whole.split(b"\n", 4)
refused(summed(b"\n".join([head[0], b"9.9.9"] + head[2:])[:-64]), "another version", "another version")
# A right sum does not make it right.
body = whole[:-64]
for cut in (len(body) - 1, len(body) // 2, len(body) - len(head[4]) + 64 + 1000):
    refused(summed(body[:cut]), "damaged", "short, with the right sum")
refused(summed(body + b"x"), "damaged", "long, with the right sum")
END
}

# A kill loses no more than what was done since the last checkpoint: it is written again and again, each time with more
# executions. Three times in two minutes: at the default interval of 60 s that would not happen.
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
saved_executions() { # in c, of which a copy is resumed
    cp c copy && mazurka check -q --algorithm=$algorithm --resume=copy --max-executions=1 --json=r.json $endless > resumed 2>&1
    executions r.json
}

# What a report says beside the verdict: within 80 columns, sizes in their units, one of something in the singular.
test_report_words() {
    { echo '#include <pthread.h>'; long_search; } > long.c
    lastzero=$root/tests/papers/lastzero.c
    run 3 mazurka check --time-limit=1 long.c && has out "Hint: " && no_wide_lines out &&
        run 3 mazurka check --max-executions=1 long.c && has out "the limit of 1 execution was reached" &&
        run 3 mazurka check --max-steps=1 long.c && has out "the limit of 1 step " &&
        run 3 mazurka check --memory-limit=1K -DN=9 "$lastzero" && has out "memory limit of 1 KiB was reached" &&
        run 3 mazurka check --algorithm=dl-s-por --memory-limit=90K -DN=6 "$lastzero" &&
        has out "memory limit of 90 KiB was reached" || return 1
    cat > notes.c << 'END'
#include <pthread.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <signal.h>
extern int __VERIFIER_nondet_int(void);
static _Atomic int x;
static void catch(int number) { (void)number; }
static void *w(void *a)
{
    x++;
    return a;
}
int main(void)
{
    pthread_t t;
    int fd = open("mapped", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) == 0) mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    signal(SIGSEGV, catch);
    pthread_create(&t, NULL, w, NULL);
    x += __VERIFIER_nondet_int();
    return 0;
}
END
    echo > mapped
    run 0 mazurka check --nondet-range=0..1 --json=j notes.c && first_line out "verified, except: a file is mapped" &&
        [ "$(grep -c 'except' out)" -eq 1 ] && no_wide_lines out && has out "Note: numbers of __VERIFIER_nondet_" &&
        [ "$(grep -c '^                  [^ ]' out)" -eq 1 ] && json_is j "len(d['unseen']) == 2" &&
        run 0 mazurka check -q --nondet-range=0..1 notes.c && first_line out "verified, except: a file is mapped" &&
        run 3 mazurka check -q --strict --nondet-range=0..1 --json=j notes.c && has out "(--strict)" &&
        has out "Not seen: a file is mapped" && json_is j "d['verdict'] == 'incomplete' and len(d['unseen']) == 2" &&
        MAZURKA_SHARE_AT_ONCE=1 run 3 mazurka check -j 2 -q --strict --nondet-range=0..1 notes.c &&
        printf '#include <pthread.h>\nvoid *f(void *a) { return a; }\nint main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }\n' > none.c &&
        run 0 mazurka check -q --strict --json=j none.c && first_line out "verified: " && json_is j "d['unseen'] == []"
}

# How many workers there were, and what is in the JSON of every search alike.
test_report_of_workers() {
    lastzero=$root/tests/papers/lastzero.c
    run 0 mazurka check -j 3 --json=3.json -DN=12 "$lastzero" && tr '\n' ' ' < out > line && has line "3 workers" &&
        hasnt out "explored again" && run 0 mazurka check --json=1.json -DN=12 "$lastzero" && hasnt out "worker" &&
        json_is 3.json "d['processor_seconds'] > 0 and d['processor_seconds'] == d['sharing']['processor_seconds']" &&
        json_is 1.json "d['processor_seconds'] > 0" && json_is 1.json "d['wakeup_nodes'] == 0" &&
        json_is 3.json "d['wakeup_nodes'] == 0"
}

# Every key of the JSON is in the manual.
test_json_is_documented() {
    programs
    lastzero=$root/tests/papers/lastzero.c
    run 3 mazurka check -j 2 --checkpoint=c --max-executions=100 --json=1.json -DN=12 "$lastzero" &&
        run 3 mazurka check --resume=c --max-executions=200 --json=2.json -DN=12 "$lastzero" &&
        run 3 mazurka check --algorithm=sdpor --time-limit=0.3 --json=3.json $endless &&
        run 1 mazurka check --json=4.json lost.c && run 1 mazurka check --json=5.json abba.c &&
        run 1 mazurka check --json=6.json race.c || return 1
    run 1 mazurka check --leaks --json=7.json -DLOST "$root/tests/programs/leak_lost_node.c" || return 1
    command -v python3 > /dev/null 2>&1 || return 0
    python3 - "$root/man/mazurka.1" *.json > why 2>&1 << 'END' || complain "$(cat why)"
import json, re, sys
def keys(x):
    if isinstance(x, dict):
        for k, v in x.items(): yield k; yield from keys(v)
    elif isinstance(x, list):
        for v in x: yield from keys(v)
section = open(sys.argv[1]).read().split(".SH REPORT")[1].split(".SH PROGRESS")[0]
known = set(re.findall(r"[a-z_]+", section))
missing = {k for name in sys.argv[2:] for k in keys(json.load(open(name)))} - known
sys.exit("not in the manual: %s" % sorted(missing) if missing else 0)
END
}

# Two algorithms at once are asked for by the name of both.
test_portfolio() {
    programs
    refuses "--checkpoint is not for portfolio" mazurka check --algorithm=portfolio --checkpoint=c ok.c &&
        refuses "--resume is not for portfolio" mazurka check --algorithm=portfolio --resume=c ok.c &&
        run 0 mazurka check -q --algorithm=portfolio --json=a.json ok.c && empty err && json_valid a.json && [ "$(ls a.*)" = a.json ] &&
        mazurka check -q --algorithm=portfolio -j 2 --json=/dev/stdout ok.c > all 2>&1 &&
        first_line all "mazurka: note: portfolio explores with one worker for each algorithm: -j is not" &&
        [ "$(grep -c 'note:' all)" -eq 1 ] && has all '"verdict": "verified"' && [ -L /dev/stdout ]
}

test_vacuous() {
    programs
    run 4 mazurka check single.c && first_line out "vacuous: NOTHING WAS CHECKED" && has out "second thread" || return 1
    # linked with the library, but not one file compiled for checking
    cc -c -o plain.o ok.c && run 0 mazurka cc -o plain plain.o && run 4 mazurka check ./plain &&
        first_line out "vacuous: " && has out "mazurka cc" && run 4 mazurka check --json ./plain && json_valid out &&
        json_is out "d['verdict'] == 'vacuous'"
}

test_unsupported_call() {
    cat > fork.c << 'END'
#include <pthread.h>
#include <unistd.h>
static void *w(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    fork();
    pthread_join(t, 0);
    return 0;
}
END
    refuses "fork" mazurka check fork.c && has err "fork.c:8" && run 2 mazurka check --json fork.c && json_valid out &&
        json_is out "d['verdict'] == 'failed'"
}

test_does_not_compile() {
    rm -rf "$HOME/.cache"
    echo 'int main(void) { return x; }' > bad.c
    echo '#include "nope.h"' > bad2.c
    echo 'int f(void); int main(void) { return f(); }' > bad3.c
    run 2 mazurka check bad.c && has err "mazurka: bad.c does not compile" && empty out &&
        run 2 mazurka check bad2.c && has err "mazurka: bad2.c does not compile" &&
        run 2 mazurka check bad3.c && has err "mazurka: bad3 does not link" && no_leftovers &&
        [ -z "$(ls "$HOME/.cache/mazurka" 2> /dev/null | grep -v '^compiler-')" ] || complain "something left in the cache"
    run 2 mazurka check --json bad.c && json_valid out && json_is out "d['verdict'] == 'failed' and d['reason']"
}

test_bad_inputs() {
    programs
    refuses "No such file" mazurka check nothere.c && refuses "No such file" mazurka check ./nothere &&
        refuses "directory" mazurka check . && refuses "not a file" mazurka check "$(mkdir d.c && echo d.c)" &&
        refuses "nothing to check" mazurka check && refuses "no ELF" mazurka check "$root/VERSION" &&
        refuses "not built for checking" mazurka check /bin/ls && refuses "makes no sense" mazurka check -c ok.c &&
        refuses "makes no sense" mazurka check -o x ok.c && refuses "is no source file" mazurka check ok.c /bin/ls &&
        refuses "compiler flags make no sense" mazurka check -DX /bin/ls || return 1
    cc -pthread -c -o plain.o ok.c && refuses "object file" mazurka check plain.o || return 1
    cc -pthread -fPIC -shared -o lib.so ok.c && refuses "not a program" mazurka check lib.so || return 1
    if cc -pthread -static -o static ok.c 2> /dev/null; then
        refuses "static executable" mazurka check ./static || return 1
    fi
    cp ok.c ok.mm && refuses "neither C nor" mazurka check ok.mm
    run 0 mazurka cc -o prog ok.c && chmod -x prog && { [ -x prog ] || refuses "ermission denied" mazurka check ./prog; }
}

test_missing_compiler() {
    programs
    MAZURKA_CC=no-such-compiler
    export MAZURKA_CC
    refuses "compiler \`no-such-compiler\` not found" mazurka check ok.c &&
        refuses "compiler \`no-such-compiler\` not found" mazurka cc -c ok.c &&
        MAZURKA_CC=false && refuses "-fsanitize=thread" mazurka check ok.c
}

test_options_from_environment() {
    programs
    MAZURKA_OPTIONS="--algorithm='source' --quiet"
    export MAZURKA_OPTIONS
    run 1 mazurka check --json=r.json lost.c && [ "$(wc -l < out)" -eq 1 ] && json_is r.json "d['algorithm'] == 'source'" &&
        run 1 mazurka check --algorithm=dpor --json=r.json lost.c && json_is r.json "d['algorithm'] == 'dpor'" &&
        run 1 mazurka replay mazurka-lost-1.trace || return 1
    MAZURKA_OPTIONS="--algoritm=source" && refuses "did you mean --algorithm" mazurka check ok.c &&
        MAZURKA_OPTIONS="--trace='x" && refuses "quote" mazurka check ok.c &&
        MAZURKA_OPTIONS="ok.c" && refuses "not an option" mazurka check ok.c
}

test_quiet_and_verbose() {
    cat > talk.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    n++;
    pthread_join(t, 0);
    puts("hello from the program");
    return 0;
}
END
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

test_json() {
    programs
    run 1 mazurka check --json lost.c && json_valid out && empty err || return 1
    json_is out "all(k in d for k in 'version verdict algorithm executions blocked transitions states revisited \
max_depth threads seconds executions_per_second peak_memory_bytes errors'.split())" &&
        json_is out "d['verdict'] == 'error' and d['threads'] == 3 and d['blocked'] == 0" || return 1
    json_is out "d['errors'][0]['kind'] == 'assertion' and d['errors'][0]['file'] == 'lost.c'" &&
        json_is out "d['errors'][0]['line'] == 20 and d['errors'][0]['thread'] == '0'" &&
        json_is out "d['errors'][0]['trace'] == 'mazurka-lost-1.trace'" &&
        json_is out "{'thread', 'op', 'object', 'file', 'line'} <= set(d['errors'][0]['steps'][0])" &&
        json_is out "any(s['op'] == 'store' and s['object'] == 'queue.head' for s in d['errors'][0]['steps'])" || return 1
    run 1 mazurka check --json=r.json race.c && first_line out "error: " && json_is r.json "d['errors'][0]['kind'] == 'data-race'" &&
        run 1 mazurka check --json=r.json abba.c && json_is r.json "d['errors'][0]['kind'] == 'deadlock'" &&
        run 1 mazurka check --json=r.json crash.c && json_is r.json "d['errors'][0]['kind'] == 'crash'" &&
        run 1 mazurka check --json=r.json exitcode.c && json_is r.json "d['errors'][0]['kind'] == 'exit-code'" &&
        run 2 mazurka check --json=no/such/dir.json ok.c
}

test_json_escapes() {
    programs
    name='a "quoted" \ name.c'
    cp lost.c "$name"
    run 1 mazurka check --json "$name" && json_valid out && json_is out "d['errors'][0]['file'] == 'a \"quoted\" \\\\ name.c'"
}

test_trace_round_trip() {
    programs
    for p in lost race abba exitcode; do
        run 1 mazurka check $p.c && cp out checked && run 1 mazurka replay mazurka-$p-1.trace &&
            first_line out "$(head -n 1 checked)" && has out "Replayed: same outcome" && run 0 mazurka show mazurka-$p-1.trace &&
            first_line out "$(head -n 1 checked)" || return 1
        sed -n '/^Schedule/,/^$/p' checked > a
        sed -n '/^Schedule/,/^$/p' out > b
        cmp -s a b || { complain "$p: show differs from check"; return 1; }
    done
    for i in 1 2 3 4 5; do run 1 mazurka replay -q mazurka-lost-1.trace || return 1; done
}

test_trace_name() {
    programs
    run 1 mazurka check --trace=here.tr lost.c && has out "mazurka replay here.tr" && [ -f here.tr ] &&
        [ ! -e mazurka-lost-1.trace ] && mkdir sub && cd sub && run 1 mazurka replay ../here.tr && has out "lost.c:20"
}

test_trace_of_a_program() {
    programs
    run 0 mazurka cc -o prog lost.c && run 1 mazurka check ./prog && run 1 mazurka replay mazurka-prog-1.trace &&
        run 0 mazurka cc -O2 -o prog lost.c && refuses "has changed" mazurka replay mazurka-prog-1.trace &&
        rm prog && refuses "No such file" mazurka replay mazurka-prog-1.trace
}

test_trace_refused() {
    programs
    run 1 mazurka check lost.c || return 1
    t=mazurka-lost-1.trace
    sed 's/queue.head/queue.heaD/' $t > damaged.trace && refuses "damaged" mazurka replay damaged.trace &&
        refuses "damaged" mazurka show damaged.trace &&
        head -c 700 $t > short.trace && refuses "short.trace is" mazurka replay short.trace &&
        refuses "not a mazurka trace" mazurka replay lost.c && : > empty.trace &&
        refuses "not a mazurka trace" mazurka show empty.trace && refuses "No such file" mazurka replay gone.trace &&
        refuses "newer" mazurka show "$(printf 'mazurka-trace\t99\n' > new.trace && echo new.trace)" &&
        refuses "one trace file" mazurka replay && refuses "one trace file" mazurka show a b || return 1
    sed 's/v - 1/v - 2/' lost.c > changed.c && cp changed.c lost.c && refuses "has changed" mazurka replay $t
}

test_trace_not_writable() {
    programs
    run 1 mazurka check --trace=no/such/dir/t lost.c && has err "cannot write the trace file" &&
        first_line out "error: " && hasnt out "mazurka replay"
}

test_arguments() {
    cat > args.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    n++;
    pthread_join(t, 0);
    assert(argc == 3 && !strcmp(argv[1], "-x y") && !strcmp(argv[2], "--json"));
    assert(N == 4);
    return 0;
}
END
    run 0 mazurka check -DN=4 args.c -- "-x y" --json && run 0 mazurka check -D N=4 args.c -- "-x y" --json &&
        run 1 mazurka check -DN=5 args.c -- "-x y" --json && run 1 mazurka replay mazurka-args-1.trace &&
        has out "N == 4" && run 1 mazurka check -DN=4 args.c
}

test_several_files() {
    programs
    mkdir include
    echo 'extern _Atomic int shared; void *worker(void *);' > include/part.h
    cat > part.c << 'END'
#include "part.h"
_Atomic int shared;
void *worker(void *a) { int v = shared; shared = v + 1; return a; }
END
    cat > whole.c << 'END'
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include "part.h"
int main(int argc, char **argv)
{
    pthread_t t, u;
    (void)argv;
    pthread_create(&t, 0, worker, 0);
    pthread_create(&u, 0, worker, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(shared == 2 || sin(argc) > 2);
    return 0;
}
END
    run 1 mazurka check -Iinclude whole.c part.c -lm && has out "part.c:3" && has out "whole.c:9" &&
        run 1 mazurka check -std=c11 -O2 -Wall -Iinclude part.c whole.c -lm
}

test_cache() {
    programs
    echo 'int answer = 1;' > h.h
    cat > inc.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include "h.h"
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    n++;
    pthread_join(t, 0);
    assert(answer == 1);
    return 0;
}
END
    rm -rf "$HOME/.cache"
    run 0 mazurka check inc.c && [ "$(ls "$HOME/.cache/mazurka" | grep -c '^program-')" -eq 1 ] &&
        run 0 mazurka check inc.c && [ "$(ls "$HOME/.cache/mazurka" | grep -c '^program-')" -eq 1 ] || { complain "cache not used"; return 1; }
    echo 'int answer = 2;' > h.h
    run 1 mazurka check inc.c && echo 'int answer = 1;' > h.h && run 0 mazurka check inc.c || return 1
    run 0 env XDG_CACHE_HOME="$PWD/xdg" mazurka check inc.c && [ -d xdg/mazurka ] || { complain "XDG_CACHE_HOME"; return 1; }
    run 0 env HOME="$PWD/nowhere" mazurka check inc.c && [ ! -e nowhere ] && run 0 env -u HOME mazurka check inc.c &&
        run 0 env HOME=/dev/null mazurka check inc.c && no_leftovers
    [ -z "$(ls "$HOME/.cache/mazurka" | grep unfinished)" ] || complain "unfinished files in the cache"
}

test_wide_table() {
    programs
    run 1 mazurka check -DN=5 many.c && no_wide_lines out && has out "0.5" || return 1
    run 1 mazurka check -DN=12 many.c && no_wide_lines out && has out "thread"
}

test_long_schedule_is_cut() {
    cat > deep.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n, m;
static void *w(void *a) { m++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    for (int i = 0; i < 300; i++) n++;
    pthread_join(t, 0);
    assert(n == 0);
    return 0;
}
END
    run 1 mazurka check deep.c && has out "operations left out" && [ "$(wc -l < out)" -lt 130 ] &&
        run 0 mazurka show mazurka-deep-1.trace && hasnt out "left out" && [ "$(wc -l < out)" -gt 300 ] &&
        run 1 mazurka check --verbose deep.c && hasnt out "left out"
}

test_keep_going() {
    cat > two.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
int x, y;
static atomic_int n;
static void *w(void *a)
{
    n++;
    x++;
    y++;
    return a;
}
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
END
    run 1 mazurka check --json=one.json two.c && run 1 mazurka check --keep-going --json=all.json two.c &&
        json_is one.json "len(d['errors']) == 1" && json_is all.json "len(d['errors']) >= 2" && json_is all.json "d['complete']" &&
        json_is all.json "len({e['trace'] for e in d['errors']}) == len(d['errors'])" && no_wide_lines out
}

test_cc_stages() {
    programs
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        run 0 mazurka cc -c ok.c && [ -f ok.o ] && run 0 mazurka cc -c -o other.o ok.c && [ -f other.o ] &&
            run 0 mazurka cc -o linked ok.o && run 0 ./linked && run 0 mazurka check ./linked &&
            run 0 mazurka cc -O2 ok.c && [ -x a.out ] && run 0 mazurka check a.out &&
            run 0 mazurka cc -S ok.c && has ok.s tsan && run 0 mazurka cc -E ok.c && has out "worker" &&
            run 0 mazurka cc -M ok.c && has out "ok.o:" && run 0 mazurka cc -fsyntax-only ok.c &&
            run 0 mazurka cc --version && has out "clang" || [ "$MAZURKA_CC" = gcc ] || return 1
        run 0 mazurka cc -MMD -o withdeps ok.c && has withdeps.d "withdeps: ok.c" &&
            run 0 mazurka cc -MD -MF here.d -c ok.c && has here.d "ok.o:" &&
            run 0 mazurka cc -xc -o lang ok.c && run 0 mazurka check ./lang || return 1
        printf '%s\n' '-O1 -o "at file"' "ok.c" > words
        run 0 mazurka cc @words && run 0 mazurka check "./at file" || return 1
        mazurka cc -x c -o stdin - < ok.c && run 0 mazurka check ./stdin || return 1
        run 0 mazurka cc -c bad.c 2> /dev/null && return 1
        : > "$work/why"
        rm -f ./*.o ./*.d a.out linked withdeps lang stdin "at file" ok.s
    done
    no_leftovers
}

test_cc_keeps_search_order() {
    programs
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        run 0 mazurka cc -o prog ok.c -lm -Wl,--as-needed && run 0 readelf -d prog || return 1
        grep NEEDED out | head -n 1 | grep -q libmazurka || { complain "libmazurka is not first"; return 1; }
        grep -q libtsan out && { complain "libtsan is linked"; return 1; }
        run 0 mazurka cc -fPIC -shared -o libpart.so lost.c && run 0 mazurka cc -r -o part.o ok.c || return 1
    done
    return 0
}

test_cc_flags() {
    programs
    refuses "-static" mazurka cc -static ok.c && refuses "-fsanitize=address" mazurka cc -fsanitize=address ok.c &&
        refuses "address" mazurka cc -fsanitize=undefined,address ok.c && refuses "-m32" mazurka cc -m32 -c ok.c &&
        refuses "argument is missing" mazurka cc ok.c -o && refuses "no arguments" mazurka cc &&
        run 0 mazurka cc -fsanitize=thread -o prog ok.c && has err "note: -fsanitize=thread left out" &&
        run 0 mazurka check prog && run 0 mazurka cc -flto -o prog ok.c && has err "-flto left out" &&
        run 0 mazurka cc -DNDEBUG -o prog lost.c && has err "NDEBUG" && run 0 mazurka check prog &&
        run 1 mazurka cc -c nothere.c && run 1 mazurka cc -Wall -Werror -Wunused-variable -c "$(
            echo 'void f(void) { int x; }' > warn.c && echo warn.c)" && no_leftovers
}

test_cc_by_another_name() {
    programs
    ln -s "$mazurka" mazurka-cc
    run 0 ./mazurka-cc -o prog ok.c && run 0 mazurka check ./prog
}

test_cxx() {
    cat > part.c << 'EOF'
int part(int x);
int part(int x) { int class = x; return class + 1; } /* a word of C++: this must stay C */
EOF
    cat > whole.cpp << 'EOF'
#include <cassert>
#include <mutex>
#include <thread>
extern "C" int part(int);
namespace bank {
struct account {
    int money = 0;
    void deposit(int x) { money = part(money) + x - 1; }
};
}
static bank::account a;
int main()
{
    std::thread t([] { a.deposit(1); });
    a.deposit(1);
    t.join();
    return 0;
}
EOF
    run 1 mazurka check -std=c++17 -std=c11 whole.cpp part.c && has out "data race on a.money" &&
        has out "bank::account::deposit" && has out "lambda, whole.cpp:14" && hasnt out "/usr/include" || return 1
    run 1 mazurka replay mazurka-whole-1.trace || return 1
    run 0 mazurka cc -c part.c && run 0 mazurka c++ -std=c++17 -o whole whole.cpp part.o && run 1 mazurka check ./whole &&
        has out "data race on a.money" || return 1
    for name in c++ cxx; do
        ln -sf "$mazurka" mazurka-$name
        run 0 ./mazurka-$name -o whole whole.cpp part.o && run 1 mazurka check ./whole || return 1
    done
    MAZURKA_CXX=no-such-compiler
    export MAZURKA_CXX
    refuses "C++ compiler \`no-such-compiler\` not found" mazurka check whole.cpp part.c &&
        refuses "no arguments" mazurka c++
}

test_cc_public_header() {
    cat > header.c << 'END'
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef __MAZURKA__
#error not defined
#endif
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    int v = (int)mz_choose(3);
    n += v;
    pthread_join(t, 0);
    mz_assert(n < 3);
    return 0;
}
END
    run 1 mazurka check header.c && has out "choose 2" && has out "assertion failed: n < 3"
}

test_make() {
    programs
    cat > Makefile << 'END'
CFLAGS = -O2 -Wall -MMD
prog: ok.o
	$(CC) $(CFLAGS) -o $@ $^ -lm
END
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        rm -f prog ok.o
        run 0 make CC="mazurka cc" && run 0 mazurka check ./prog && has out "2 executions" && run 0 ./prog || return 1
    done
}

test_cmake() {
    command -v cmake > /dev/null 2>&1 || return 0
    programs
    ln -s "$mazurka" mazurka-cc
    cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.10)
project(example C)
find_package(Threads REQUIRED)
add_library(part STATIC part.c)
add_executable(prog ok.c)
target_link_libraries(prog part m Threads::Threads)
END
    echo 'int part(void); int part(void) { return 1; }' > part.c
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        rm -rf build
        run 0 cmake -S . -B build -DCMAKE_C_COMPILER="$PWD/mazurka-cc" -DCMAKE_BUILD_TYPE=Debug &&
            run 0 cmake --build build && run 0 mazurka check build/prog && has out "2 executions" || return 1
    done
    rm -rf build
    run 0 cmake -S . -B build -DCMAKE_C_COMPILER="$mazurka" -DCMAKE_C_COMPILER_ARG1=cc &&
        run 0 cmake --build build && run 0 mazurka check build/prog
}

test_symbols_of_both_compilers() {
    programs
    for MAZURKA_CC in $(compilers); do
        export MAZURKA_CC
        for o in -O0 -O1 -O2; do
            run 1 mazurka check $o lost.c && has out "store queue.tail[1]: 4000000000" && has out "at lost.c:20" &&
                has out "0.1 (worker)" && run 1 mazurka check $o race.c && has out "data race on counter, at race.c:3" &&
                has out "bump, race.c:3" && has out "worker, race.c:6" || { complain "$MAZURKA_CC $o"; return 1; }
        done
    done
}

test_program_built_elsewhere_runs_here() {
    programs
    mkdir sub && cp lost.c sub && (cd sub && mazurka cc -o prog lost.c) && run 1 mazurka check sub/prog &&
        has out "at sub/lost.c:20"
}

test_closed_descriptors() {
    programs
    mazurka check -q ok.c 2> err <&- >&-
    [ $? -eq 2 ] || mazurka check -q ok.c <&- > out 2>&- || complain "status $? with closed descriptors"
}

# As many states, however they are compared.
test_state_match() {
    for how in hash exact; do
        run 0 mazurka check -q -O0 --algorithm=stateful --state-match=$how --json=$how "$root/tests/programs/state_below_stack.c" || return 1
    done
    json_is hash "d['states'] == $(sed -n 's/^ *"states": \([0-9]*\),$/\1/p' exact) and d['states'] > 100"
}

test_full_disk() {
    programs
    [ -e /dev/full ] || return 0
    mazurka check -q ok.c > /dev/full 2> err
    [ $? -eq 2 ] && has err "cannot write to standard output"
}

test_broken_pipe() {
    programs
    mazurka check lost.c 2> err | head -n 1 > out
    first_line out "error: " && empty err && no_leftovers
}

test_bench_is_found_or_explained() {
    [ -f "$root/bench/run.sh" ] && return 0
    refuses "bench/run.sh" mazurka bench
}

# ---- running them ----

. "$root/tests/cli/inputs.sh"
. "$root/tests/cli/trust.sh"
. "$root/tests/cli/unseen.sh"
tests=$(cat "$root"/tests/cli/*.sh | sed -n 's/^test_\([a-z_0-9]*\)().*/\1/p')
for name in ${*:-$tests}; do
    mkdir "$work/$name"
    : > "$work/why"
    if (cd "$work/$name" && "test_$name") && [ ! -s "$work/why" ] && (: && no_leftovers); then
        echo "ok   cli: $name"
        passed=$((passed + 1))
    else
        echo "FAIL cli: $name"
        sed 's/^/       /' "$work/why"
        failed=$((failed + 1))
    fi
    rm -rf "$TMPDIR"/* "${work:?}/$name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
