/* Named semaphores, within the process: the same name is the same semaphore, until it is unlinked. Two
 * threads open it (2 orders: opening is ordered) and use it as a mutex (2 orders).
 * EXPECT every verified 4
 * EXPECT -DOTHER_NAME all error kind=data-race
 * EXPECT -DTHREADS_CREATE all error kind=assertion
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

static int x;

static void *work(void *name)
{
#ifdef THREADS_CREATE
    sem_t *s = sem_open("/own", O_CREAT | O_EXCL, 0600, 1);
    assert(s != SEM_FAILED); /* only the first one makes it */
#else
    sem_t *s = sem_open(name, 0);
    sem_wait(s);
    x++;
    sem_post(s);
#endif
    sem_close(s);
    return name;
}

int main(void)
{
    pthread_t a, b;
    assert(sem_open("/m", 0) == SEM_FAILED && errno == ENOENT);
    sem_t *s = sem_open("/m", O_CREAT | O_EXCL, 0600, 1);
    assert(s != SEM_FAILED && s == sem_open("/m", O_CREAT, 0600, 5));
    assert(sem_open("/m", O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
    sem_t *other = sem_open("/n", O_CREAT, 0600, 1);
    assert(other != s);
    pthread_create(&a, NULL, work, "/m");
#ifdef OTHER_NAME
    pthread_create(&b, NULL, work, "/n");
#else
    pthread_create(&b, NULL, work, "/m");
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(sem_unlink("/m") == 0 && sem_unlink("/m") == -1 && errno == ENOENT);
    assert(sem_wait(s) == 0); /* what is open stays */
    assert(sem_open("/m", 0) == SEM_FAILED && errno == ENOENT);
    sem_t *again = sem_open("/m", O_CREAT | O_EXCL, 0600, 0);
    assert(again != s && sem_trywait(again) == -1);
    return 0;
}
