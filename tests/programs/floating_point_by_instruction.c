/* A thread sets its floating-point environment without a call of libc: by fldcw (the macros of fpu_control.h), or by
 * vldmxcsr (_mm_setcsr with -mavx). Another thread does not see that, and it belongs to the state.
 *
 * EXPECT all verified
 * EXPECT -DAVX all verified
 * EXPECT -DBROKEN all error kind=assertion
 * EXPECT -DBROKEN -DAVX all error kind=assertion
 */
#include <assert.h>
#include <fpu_control.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag, other;

static void set(void)
{
#ifdef AVX
    unsigned word = 0x9f80; /* flush to zero */
    __asm__ volatile("vldmxcsr %0" : : "m"(word));
#else
    fpu_control_t word = 0x0f7f; /* round towards zero */
    _FPU_SETCW(word);
#endif
}

static int is_set(void)
{
#ifdef AVX
    volatile float tiny = 1e-38f;
    return tiny / 4 == 0;
#else
    fpu_control_t word;
    _FPU_GETCW(word);
    return word == 0x0f7f;
#endif
}

static void *set_flag(void *unused)
{
    atomic_store(&flag, 1);
    assert(!is_set());
    return unused;
}

__attribute__((noinline)) static void perhaps(void)
{
    if (!atomic_load(&flag)) set();
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set_flag, NULL);
    perhaps();
    atomic_load(&other);
    pthread_join(thread, NULL);
    atomic_load(&other);
#ifdef BROKEN /* in one of the two orders */
    assert(!is_set());
#endif
    return 0;
}
