/* An error-checking mutex tells who locks it twice, or unlocks what it does not hold. A recursive one has
 * to be unlocked as often as it was locked.
 * EXPECT every verified 2
 * EXPECT -DLOST all error kind=deadlock
 * EXPECT -DNORMAL_TWICE all error kind=deadlock thread=0.1
 * EXPECT -DNORMAL_UNLOCK optimal error kind=api-misuse line=32
 * EXPECT -DBEHIND_SECOND all error kind=assertion line=39
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t check = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, normal = PTHREAD_MUTEX_INITIALIZER,
                       again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int x;

static void *work(void *arg)
{
    assert(pthread_mutex_unlock(&check) == EPERM);
    assert(pthread_mutex_lock(&check) == 0);
    assert(pthread_mutex_lock(&check) == EDEADLK);
    x++;
#ifndef LOST
    assert(pthread_mutex_unlock(&check) == 0);
#endif
    assert(pthread_mutex_unlock(&again) == EPERM);
#ifdef NORMAL_TWICE
    pthread_mutex_lock(&normal);
    pthread_mutex_lock(&normal);
#elif defined NORMAL_UNLOCK
    pthread_mutex_unlock(&normal);
#elif defined BEHIND_SECOND
    pthread_mutex_lock(&check);
    int first = x == 1;
    pthread_mutex_unlock(&check);
    pthread_mutex_lock(&again);
    pthread_mutex_lock(&again);
    assert(first); /* not for the second one of both */
    pthread_mutex_unlock(&again);
    pthread_mutex_unlock(&again);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)normal, (void)again;
    return 0;
}
