/* Just before, just behind and well behind a block, with plain and atomic accesses and with memset;
 * all that lies inside is right.
 * EXPECT every verified 1
 * EXPECT -DBEHIND all error kind=out-of-bounds says=right.behind
 * EXPECT -O1 -DBEHIND all error kind=out-of-bounds line=23 compiler=gcc
 * EXPECT -DFURTHER all error kind=out-of-bounds line=26
 * EXPECT -DBEFORE all error kind=out-of-bounds line=29 says=before
 * EXPECT -DBYTE all error kind=out-of-bounds line=32
 * EXPECT -DATOMIC all error kind=out-of-bounds line=35
 * EXPECT -DRANGE all error kind=out-of-bounds line=38
 * EXPECT -DEMPTY all error kind=out-of-bounds line=41
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *arg)
{
    int *p = arg;
    for (int i = 0; i < 3; i++) p[i] = i;
#ifdef BEHIND
    p[3] = 1;
#endif
#ifdef FURTHER
    p[6] = 1;
#endif
#ifdef BEFORE
    p[-1] = 1;
#endif
#ifdef BYTE
    ((char *)p)[12] = 1;
#endif
#ifdef ATOMIC
    atomic_fetch_add((_Atomic int *)p + 3, 1);
#endif
#ifdef RANGE
    memset(p, 0, 13);
#endif
#ifdef EMPTY
    *(volatile char *)malloc(0) = 1;
#endif
    return NULL;
}

int main(void)
{
    pthread_t a;
    int *p = malloc(3 * sizeof *p);
    pthread_create(&a, NULL, work, p);
    pthread_join(a, NULL);
    free(p);
    return 0;
}
