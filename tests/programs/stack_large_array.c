/* A large array on main's stack that another thread writes, while main waits in a loop: runtime/loops/lent.c keeps it as one
 * range, whichever way it is written. One byte in every third word of very much (SCATTERED) is too much for it: then
 * all of every stack counts as shared.
 * EXPECT all verified
 * EXPECT -DBYTES all verified
 * EXPECT -DBACKWARDS all verified
 * EXPECT -j2 optimal verified
 * EXPECT -DRACE all error kind=data-race
 * EXPECT -DSCATTERED all verified
 * EXPECT -DSCATTERED -DRACE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#ifdef SCATTERED
#define SIZE (1 << 18)
#else
#define SIZE (24 << 10)
#endif

static atomic_int done;

static void *fill(void *array)
{
    char *a = array;
#if defined BYTES
    for (int i = 0; i < SIZE; i++) a[i] = 1;
#elif defined BACKWARDS
    for (int i = SIZE - 4; i >= 0; i -= 4) memcpy(a + i, "\1\1\1\1", 4);
#elif defined SCATTERED
    for (int i = 0; i < SIZE; i += 24) a[i] = 1;
#else
    memset(a, 1, SIZE);
#endif
    atomic_store(&done, 1);
    return NULL;
}

int main(void)
{
    char array[SIZE] = {0};
    pthread_t t;
    pthread_create(&t, NULL, fill, array);
#ifdef RACE
    array[SIZE / 2 / 24 * 24] = 2;
#endif
#ifndef SCATTERED
    while (!atomic_load(&done)) continue;
    assert(array[0] == 1);
#endif
    pthread_join(t, NULL);
    return 0;
}
