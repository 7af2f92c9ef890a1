/* N readers and a writer. Readers commute; each comes before or after the writer: 2^N classes. A writer
 * that only holds the lock for reading, or a reader without it, is a data race.
 * EXPECT -DN=1 every verified 2
 * EXPECT -DN=2 every verified 4
 * EXPECT -DN=4 all verified 16
 * EXPECT -DN=3 -DNO_WRITER every verified 1
 * EXPECT -DN=1 --no-sleep-sets none verified 2
 * EXPECT -DN=2 --no-sleep-sets none verified 14
 * EXPECT -DN=2 -DNO_WRITER --no-sleep-sets none verified 6
 * EXPECT -DN=1 -DWRITER_READS all error kind=data-race
 * EXPECT -DN=1 -DREADER_FREE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int a, b;

static void *reader(void *arg)
{
#ifndef READER_FREE
    pthread_rwlock_rdlock(&lock);
#endif
    assert(a == b);
#ifndef READER_FREE
    pthread_rwlock_unlock(&lock);
#endif
    return arg;
}

#ifndef NO_WRITER
static void *writer(void *arg)
{
#ifdef WRITER_READS
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    a++;
    b++;
    pthread_rwlock_unlock(&lock);
    return arg;
}
#endif

int main(void)
{
    pthread_t t[N + 1];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, reader, NULL);
#ifndef NO_WRITER
    pthread_create(&t[N], NULL, writer, NULL);
    pthread_join(t[N], NULL);
#endif
    for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
    return 0;
}
