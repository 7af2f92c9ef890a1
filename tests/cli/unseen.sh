# What the search does not see: writes without a hook, findings that no replay shows, system calls without a filter.
# Sourced by run.sh.

# A schedule does not decide what this program does: in turns there is a file, or not. So nothing that is found in one
# run is found in the next.
in_turns() {
    cat << 'END'
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *f(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_join(t, 0);
    int fd = open("sign", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd < 0) unlink("sign");
    assert(fd < 0);
    return 0;
}
END
}

# A finding that cannot be replayed is neither an error nor is anything verified then.
test_finding_that_no_replay_shows() {
    unset MAZURKA_MUST_REPLAY
    in_turns > turns.c
    run 3 mazurka check turns.c || return 1
    first_line out "incomplete: no error so far, but a finding could not be replayed: assertion failed: fd < 0"
    rm -f sign
    run 3 mazurka check -j 2 --json turns.c || return 1
    has out '"verdict": "incomplete"' && has out '"errors": []'
    rm -f sign
    run 3 mazurka check --algorithm=stateful -q turns.c || return 1
    rm -f sign
    ls | grep -q trace && complain "a trace of what cannot be replayed"
    return 0
}

# The same, once: then the search is run again, and says so.
test_finding_of_the_first_search_only() {
    unset MAZURKA_MUST_REPLAY
    in_turns | sed 's/if (fd < 0) unlink("sign");//' > once.c
    run 0 mazurka check -q once.c || return 1
    first_line out 'verified, except: a first search came to "assertion failed: fd < 0"'
    rm -f sign
    run 3 mazurka check -q --strict once.c
}

# Going back keeps a write that no hook shows, and comes to an error that is none: no verdict.
test_unseen_write_is_no_error() {
    unset MAZURKA_MUST_REPLAY
    export MAZURKA_TRUST_HOOKS=1 # or the assembly would be known before the search begins
    for how in "" "-j 2" "--checkpoint=saved"; do # perhaps nothing is gone back on: then nothing is wrong, either
        # shellcheck disable=SC2086
        run 0 mazurka check -q $how -DCHECK "$root/tests/programs/unseen_rarely.c" || return 1
        first_line out "verified, except: " || return 1
    done
    for how in "-DCHECK" "-DCHECK --algorithm=source" ""; do
        # shellcheck disable=SC2086
        run 0 mazurka check -q --backtrack=undo $how "$root/tests/programs/unseen_rarely.c" || return 1
        has out "marks is written without a hook" || return 1
    done
    for how in "-DSILENT" "-DSILENT -j 2" "-DASM -O0 --backtrack=undo" "-DSILENT -O2 --algorithm=stateful" "-DASM -DHEAP"; do
        # shellcheck disable=SC2086
        run 0 mazurka check -q $how "$root/tests/programs/unseen_writes.c" || return 1
        has out "is written without a hook" || return 1
        # shellcheck disable=SC2086
        run 1 mazurka check -q $how -DFAIL "$root/tests/programs/unseen_writes.c" || return 1
    done
}

# An object that mazurka cc did not compile.
test_object_without_hooks() {
    cat > plain.c << 'END'
long shared;
void add(void) { shared++; }
END
    cat > user.c << 'END'
#include <assert.h>
#include <pthread.h>
extern long shared;
void add(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *a)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        add();
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(shared == 4);
    return 0;
}
END
    cc -g -c plain.c || return 1
    for algorithm in optimal source stateful; do
        run 0 mazurka check -q --algorithm=$algorithm user.c plain.o || return 1
        first_line out "verified, except: " || return 1
        run 3 mazurka check -q --strict --algorithm=$algorithm user.c plain.o || return 1
    done
    run 0 mazurka check -q user.c plain.o && has out "shared is written without a hook"
}

# Code that only reads leaves no trace in memory: its functions are named, whatever symbols there are.
test_code_without_hooks_that_reads() {
    cat > user.c << 'END'
#include <pthread.h>
int g, look(int *);
static void *f(void *a)
{
    if (a) g = 1;
    else look(&g);
    return a;
}
#ifdef OUTSIDE
__asm__(".text\n.globl look\nlook: movl (%rdi), %eax\n\tret");
#endif
#ifdef SECTION
__asm__(".pushsection .mine, \"ax\"\n.globl look\nlook: movl (%rdi), %eax\n\tret\n.popsection");
#endif
#ifdef NO_CODE
__asm__(".symver look, look@ONE\n.pushsection .data\nblob: .long 1\n.popsection");
int look(int *p) { return 0; }
#endif
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, f, 0);
    pthread_create(&t[1], 0, f, &g);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
END
    printf '\t.globl look\nlook: movl (%%rdi), %%eax\n\tret\n\t.section .note.GNU-stack\n' > untyped.s
    cat > plain.c << 'END'
static __attribute__((noinline)) int inner(volatile int *p) { return *p; }
int look(int *p) { return inner(p) + 1; }
END
    cc -O1 -c plain.c && cc -c untyped.s && cp plain.o stripped.o && strip -x stripped.o || return 1
    for c in $(compilers); do
        export MAZURKA_CC="$c"
        for what in plain.o untyped.s untyped.o stripped.o -DOUTSIDE -DSECTION; do
            run 0 mazurka check -q user.c "$what" && first_line out "verified, except: " || return 1
            run 3 mazurka check -q --strict user.c "$what" || return 1
        done
        run 0 mazurka check -q -DNO_CODE user.c && first_line out "verified: " || return 1
    done
}

# A command that is refused seccomp filters, as in some containers.
refused() {
    cat > refused.c << 'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return 125;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0) return 125;
    execvp(argv[1], argv + 1);
    return 127;
}
END
    cc -o refused refused.c
}

test_without_seccomp() {
    refused || return 1
    cat > reads.c << 'END'
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int n;
static char buffer[10000];
static void *f(void *a)
{
    n++;
    return a;
}
int main(void)
{
    pthread_t t;
    int fd = open("/dev/zero", O_RDONLY);
    assert(fd >= 0 && read(fd, buffer, sizeof buffer) == sizeof buffer);
    pthread_create(&t, 0, f, 0);
    n++;
    pthread_join(t, 0);
    assert(n == 2);
    return 0;
}
END
    run 0 mazurka check -q reads.c && first_line out "verified: " || return 1
    run 0 ./refused mazurka check -q reads.c || return 1
    first_line out "verified, except: the kernel refused the seccomp filter" || return 1
    run 3 ./refused mazurka check -q --strict reads.c || return 1
    run 0 ./refused mazurka check -j 2 --json reads.c && has out "the kernel refused the seccomp filter"
}

# Two threads whose memory orders allow more than is explored.
weak_orders() {
    cat << 'EOF'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, r;
static void *a(void *v)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    r = atomic_load_explicit(&y, memory_order_relaxed);
    return v;
}
static void *b(void *v)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    r = atomic_load_explicit(&x, memory_order_relaxed);
    return v;
}
int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, a, 0);
    pthread_create(&t, 0, b, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
EOF
}

# same_verdict COMMAND...: the verdict of the search that was saved, line by line
same_verdict() {
    run "${status:-0}" "$@" || return 1
    sed '/^No error in/,$d' out > now && cmp -s now before && return 0
    complain "another verdict after --resume: $(head -n 3 now)"
}

# What was not seen before a checkpoint is still not seen when the search is resumed.
test_unseen_is_saved() {
    weak_orders > weak.c
    for jobs in 1 2; do
        run 0 mazurka check -j $jobs --checkpoint=c weak.c && first_line out "verified, except: weak memory" || return 1
        sed '/^No error in/,$d' out > before
        same_verdict mazurka check --resume=c weak.c && same_verdict mazurka check -j 2 --resume=c --checkpoint=d weak.c &&
            same_verdict mazurka check --resume=d weak.c && run 0 mazurka check --resume=d --json weak.c &&
            has out '"weak memory is not explored' && run 3 mazurka check --resume=d --strict weak.c || return 1
    done
    # Interrupted, before it saw all of that or after it.
    run 3 mazurka check --max-executions=1 --checkpoint=e weak.c && run 0 mazurka check --resume=e weak.c &&
        first_line out "verified, except: weak memory" || return 1
    # The search that noticed an unseen write was thrown away; the one that was saved is the second.
    unset MAZURKA_MUST_REPLAY
    export MAZURKA_TRUST_HOOKS=1
    run 0 mazurka check -j 2 --checkpoint=f -DCHECK "$root/tests/programs/unseen_rarely.c" &&
        first_line out "verified, except: " || return 1
    sed '/^No error in/,$d' out > before
    same_verdict mazurka check --resume=f -DCHECK "$root/tests/programs/unseen_rarely.c" || return 1
    # Of ranks elsewhere, too.
    command -v mpirun.mpich > /dev/null && [ -e "$root/build/libmazurka-mpich.so" ] || return 0
    unset MAZURKA_TRUST_HOOKS
    MAZURKA_SHARE_AT_ONCE=1 MAZURKA_FAR=1 run 0 mpirun.mpich -n 3 "$mazurka" check --checkpoint=g weak.c &&
        first_line out "verified, except: weak memory" || return 1
    run 0 mazurka check --resume=g weak.c && first_line out "verified, except: weak memory"
}

# A file of the form before has no such lines: it is refused.
test_old_checkpoint_is_refused() {
    weak_orders > weak.c
    run 0 mazurka check --checkpoint=c weak.c && sed '1s/5$/4/' c > old && refuses "no checkpoint of this version" mazurka check --resume=old weak.c
}
