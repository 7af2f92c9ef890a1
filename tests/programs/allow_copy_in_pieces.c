/* One call makes several operations, in the same place of the program and with the same stack: that is no loop that
 * waits. memcpy sees one of two stores; memcmp reads both of its arguments.
 * OPTIONS --data-races=allow -fno-builtin
 * EXPECT all error kind=assertion
 * EXPECT -DCOMPARE all error kind=assertion
 * EXPECT -DSELF all verified
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static int d[2];

static void *writes(void *unused)
{
    d[0] = 1;
    d[1] = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    int copy[2] = {0, 0};
    pthread_create(&thread, NULL, writes, NULL);
#if defined COMPARE
    copy[1] = memcmp(&d[0], &d[1], sizeof d[0]) != 0;
#elif defined SELF
    copy[1] = memcmp(&d[0], &d[0], sizeof d[0]) != 0;
#else
    memcpy(copy, d, sizeof d);
#endif
    pthread_join(thread, NULL);
    assert(copy[0] || !copy[1]);
    return 0;
}
