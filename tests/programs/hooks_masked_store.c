/* Vectors of which only some lanes are written: those, and no others, count as written. -DOTHERS: the lanes that
 * are not written are used by another thread. -DRACE: a lane that is written is.
 * EXPECT every verified 2
 * EXPECT -O0 all verified 2
 * EXPECT -O2 all verified 2
 * EXPECT stateful verified
 * EXPECT -DOTHERS all verified 1
 * EXPECT -DOTHERS -O2 all verified 1
 * EXPECT -DRACE all error kind=data-race
 * EXPECT -DRACE -O2 all error kind=data-race
 * EXPECT -DSTREAM -DRACE all error kind=data-race
 */
#include <assert.h>
#include <emmintrin.h>
#include <pthread.h>
#include <stddef.h>

char g[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Every second byte. */
static void store(char value)
{
#ifdef STREAM
    _mm_stream_si32((int *)g + 1, value);
    return;
#endif
    __m128i mask = _mm_set1_epi16((short)0x8000);
    _mm_maskmoveu_si128(_mm_set1_epi8(value), mask, g);
}

static void *writer(void *x)
{
#if !defined RACE && !defined OTHERS
    pthread_mutex_lock(&mutex);
    store((char)(g[1] + 1));
    pthread_mutex_unlock(&mutex);
#else
    store(1);
#endif
    return x;
}

static void *other(void *x)
{
#if defined RACE
    g[5] = 2;
#elif defined OTHERS
    g[4] = 2;
#else
    writer(x);
#endif
    return x;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, writer, NULL);
    pthread_create(&t[1], NULL, other, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    (void)mutex;
#if !defined RACE && !defined OTHERS
    assert(g[1] == 2 && g[15] == 2 && g[0] == 0);
#endif
    return 0;
}
