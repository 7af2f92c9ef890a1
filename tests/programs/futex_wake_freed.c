/* FUTEX_WAKE does not touch memory: it may come after the word was freed by the thread that it would have
 * woken (so do std::latch, std::binary_semaphore, std::stop_callback). FUTEX_WAIT reads the word, as an atomic
 * load does: a plain read beside it is fine (-DPLAIN_READ), a wait on freed memory (-DWAITS) and a plain write
 * beside it (-DRACE) are errors.
 * Stateful algorithms may come to the use of freed memory before the race (-DWAITS): search=stateless.
 * EXPECT every verified
 * EXPECT stateful verified
 * EXPECT s-por verified
 * EXPECT --heap=reuse optimal verified
 * EXPECT -DPLAIN_READ every verified
 * EXPECT -DWAITS all error kind=data-race search=stateless
 * EXPECT -DRACE all error kind=data-race
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *poster(void *word)
{
    _Atomic int *w = word;
#ifdef WAITS
    atomic_store(w, 1);
    syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0); /* returns at once, if there is a word */
#elif defined PLAIN_READ
    syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
#elif defined RACE
    syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
#else
    atomic_store(w, 1);
    syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
    syscall(SYS_futex, w, FUTEX_REQUEUE_PRIVATE, 1, 1, w + 1, 0);
#endif
    return NULL;
}

int main(void)
{
    pthread_t t;
    _Atomic int *w = malloc(2 * sizeof *w);
    atomic_init(w, 0);
    atomic_init(w + 1, 0);
#ifdef PLAIN_READ
    pthread_create(&t, NULL, poster, w);
    if (*(int *)w == 2) return 1;
    pthread_join(t, NULL);
#elif defined RACE
    pthread_create(&t, NULL, poster, w);
    *(int *)w = 5;
    pthread_join(t, NULL);
#else
    pthread_create(&t, NULL, poster, w);
    while (!atomic_load(w)) syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
#endif
    free((void *)w);
#if !defined PLAIN_READ && !defined RACE
    pthread_join(t, NULL);
#endif
    return 0;
}
