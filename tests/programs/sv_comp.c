/* The names of SV-COMP. A nondeterministic number stands for all of a range, which must be given; two threads
 * that choose and do nothing else that others see make one execution for each pair of numbers.
 * EXPECT --nondet-range=0..2 every verified 9
 * EXPECT --nondet-range=-1..1 every verified 9
 * EXPECT --nondet-range=-5..-5 every verified 1
 * EXPECT --nondet-range=-5..-4 optimal verified 4 says=outside
 * EXPECT -DTYPE=long --nondet-range=9223372036854775806..9223372036854775807 every verified 4 says=outside
 * EXPECT -DTYPE=long --nondet-range=-9223372036854775808..-9223372036854775807 every verified 4
 * EXPECT -DTYPE=longlong --nondet-range=-9223372036854775808..9223372036854775807 all failed says=smaller
 * EXPECT -DTYPE=ulong --nondet-range=-1..1 every verified 4 says=outside
 * EXPECT --nondet-range=0..99 optimal verified 10000
 * EXPECT all failed says=nondet-range
 * EXPECT -DTYPE=uint --nondet-range=-1..1 every verified 4
 * EXPECT -DTYPE=uchar --nondet-range=250..300 optimal verified 36
 * EXPECT -DTYPE=uint --nondet-range=-2..-1 all failed says=type
 * EXPECT -DTYPE=bool every verified 4
 * EXPECT -DTYPE=double --nondet-range=0..1 all failed says=mz_choose
 * EXPECT -DASSUME --nondet-range=0..2 all verified
 * EXPECT -DATOMIC --nondet-range=0..0 every verified 2
 * EXPECT -DTORN --nondet-range=0..0 all error kind=assertion
 * EXPECT -DERROR --nondet-range=0..3 all error kind=assertion line=70
 * EXPECT -DERROR -DOWN_ERROR --nondet-range=0..3 all error kind=crash
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef TYPE
#define TYPE int
#endif
#define NAME2(type) __VERIFIER_nondet_##type
#define NAME(type)  NAME2(type)

extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern long __VERIFIER_nondet_long(void);
extern long long __VERIFIER_nondet_longlong(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern double __VERIFIER_nondet_double(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
extern void reach_error(void);

#ifdef OWN_ERROR
void reach_error(void) { abort(); }
#endif

static _Atomic int x;

static void *work(void *arg)
{
    long n = (long)NAME(TYPE)();
#ifdef ASSUME
    __VERIFIER_assume(n != 1);
    assert(n != 1);
#endif
#if defined ATOMIC || defined TORN
#ifdef ATOMIC
    __VERIFIER_atomic_begin();
#endif
    x = x + 1;
#ifdef ATOMIC
    __VERIFIER_atomic_end();
#endif
#endif
#ifdef ERROR
    if (n == 3) reach_error();
#endif
    *(long *)arg = n;
    return arg;
}

int main(void)
{
    pthread_t t[2];
    long n[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &n[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
#if defined ATOMIC || defined TORN
    assert(x == 2);
#endif
    return 0;
}
