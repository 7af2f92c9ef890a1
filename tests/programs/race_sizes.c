/* A read and a write that race, of every size.
 * EXPECT -DT=char all error kind=data-race
 * EXPECT -DT=short optimal error kind=data-race
 * EXPECT -DT=int optimal error kind=data-race
 * EXPECT -DT=long optimal error kind=data-race
 * EXPECT -DT=float optimal error kind=data-race
 * EXPECT -DT=double optimal error kind=data-race
 * EXPECT -DT=__int128 all error kind=data-race
 * EXPECT -DT=__int128 -DJOINED every verified 1
 * EXPECT -DT=double -DJOINED every verified 1
 */
#include <pthread.h>

#ifndef T
#define T int
#endif

T x, seen;

static void *writer(void *arg)
{
    x = 1;
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, writer, NULL);
#ifdef JOINED
    pthread_join(a, NULL);
    seen = x;
#else
    seen = x;
    pthread_join(a, NULL);
#endif
    return seen == 2;
}
