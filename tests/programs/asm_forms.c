/* Forms of inline assembly: what two threads do to g without a lock is a data race, or named beside the verdict
 * ("inline assembly ..."); with a lock g counts right, whatever the way back.
 * EXPECT -DFORM=1 all error kind=data-race
 * EXPECT -DFORM=2 all error kind=data-race
 * EXPECT -DFORM=3 all error kind=data-race
 * EXPECT -DFORM=4 all verified says=assembly
 * EXPECT -DFORM=5 all verified says=assembly
 * EXPECT -DFORM=6 all verified says=assembly
 * EXPECT -DFORM=7 all verified says=assembly
 * EXPECT -DFORM=8 all verified says=assembly
 * EXPECT -DFORM=9 all verified says=assembly
 * EXPECT -DFORM=10 all error kind=data-race
 * EXPECT -DFORM=11 all verified 2
 * EXPECT -DFORM=12 all error kind=data-race
 * EXPECT -DFORM=13 all verified says=assembly
 * EXPECT -DFORM=14 all verified says=assembly
 * EXPECT -DFORM=15 all error kind=data-race
 * EXPECT -DFORM=16 all verified says=assembly
 * EXPECT -DFORM=17 all verified 2
 * EXPECT -DLOCK -DFORM=1 all verified
 * EXPECT -DLOCK -DFORM=2 all verified
 * EXPECT -DLOCK -DFORM=3 all verified
 * EXPECT -DLOCK -DFORM=4 all verified
 * EXPECT -DLOCK -DFORM=5 all verified
 * EXPECT -DLOCK -DFORM=9 all verified
 * EXPECT -DLOCK -DFORM=10 all verified
 * EXPECT -DLOCK -DFORM=11 all verified
 * EXPECT -DLOCK -DFORM=12 all verified
 * EXPECT -DLOCK -DFORM=13 all verified
 * EXPECT -DLOCK -DFORM=14 all verified
 * EXPECT -DLOCK -DFORM=15 all verified
 */
#include <assert.h>
#include <pthread.h>

int g __attribute__((aligned(64)));
static int more[15] __attribute__((used));
static long bits[4] __attribute__((used));
static int *volatile p = &g;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

#if FORM == 9
__attribute__((naked, noinline)) static void naked(int *where)
{
    __asm__("mfence\n\tincl (%rdi)\n\tlock; orl $0, (%rsp)\n\tret");
}
#endif

static __attribute__((noinline)) void add(void)
{
    long n = 1;
    void *at = p;
    (void)n, (void)at;
#if FORM == 1 /* a register that is stored in a variable behind the instruction */
    __asm__ volatile("incl %0" : "+r"(g));
#elif FORM == 2 /* through a pointer */
    __asm__ volatile("incl %0" : "+r"(*p));
#elif FORM == 3 /* an operand that is said to be read only */
    __asm__ volatile("incl %0" : : "m"(g) : "memory");
#elif FORM == 4 /* the operand is an address */
    __asm__ volatile("incl %a0" : : "r"(&g) : "memory");
#elif FORM == 5 /* incl (%rax) in bytes */
    __asm__ volatile(".byte 0xff, 0x00" : : "a"(&g) : "memory");
#elif FORM == 6 /* string instructions that read */
    __asm__ volatile("lodsb" : "+S"(at), "+a"(n) : : "memory");
#elif FORM == 7
    __asm__ volatile("repne scasb" : "+D"(at), "+c"(n) : "a"(1) : "memory", "cc");
#elif FORM == 8
    __asm__ volatile("repe; cmpsb" : "+S"(at), "+c"(n) : "D"(more) : "memory", "cc");
#elif FORM == 9 /* there is no room for a hook */
    naked(&g);
#elif FORM == 10
    __asm__ goto("incl %0; jmp %l[out]" : : "m"(g) : "memory", "cc" : out);
out:;
#elif FORM == 11
    __asm__ goto("1:lock; incl %0; jmp %l[out]" : : "m"(g) : "memory", "cc" : out);
out:;
#elif FORM == 12
    __asm__ volatile("/* one; two */ {incl %0|inc %0} # three (%%rax)" : "+m"(g));
#elif FORM == 13 /* a macro that nobody knows here */
    __asm__ volatile(".macro bump\n\tincl (%%rax)\n.endm\n\tbump\n.purgem bump" : : "a"(&g) : "memory");
#elif FORM == 14 /* another stack */
    n = g + 1;
    __asm__ volatile("movq %%rsp, %%rcx; movq %0, %%rsp; movl %1, (%%rsp); movq %%rcx, %%rsp"
                     :
                     : "r"(&g), "r"((int)n)
                     : "memory", "rcx");
#elif FORM == 15 /* the lock is of another instruction */
    __asm__ volatile("lock; orl $0, (%%rsp)\n\tincl %0" : "+m"(g) : : "memory", "cc");
#elif FORM == 16 /* bit 130 is not in bits[0] */
    __asm__ volatile("lock; btsq %1, %0" : "+m"(bits[0]) : "r"(n + 129) : "memory", "cc");
#elif FORM == 17
    __asm__ volatile("lock; btsl %1, %0" : "+m"(g) : "Ir"(3) : "memory", "cc");
#endif
}

static void *thread(void *a)
{
#ifdef LOCK
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        add();
        pthread_mutex_unlock(&m);
    }
#elif FORM >= 6 && FORM <= 8
    if (a)
        add();
    else
        g = 0;
#else
    add();
#endif
    return a;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, thread, 0);
    pthread_create(&t[1], 0, thread, &g);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
#ifdef LOCK
    assert(g == 4);
#endif
    return 0;
}
