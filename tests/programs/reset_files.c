/* Files left open in thousands of executions: descriptors do not run out, numbers and positions are the same
 * each time.
 * EXPECT optimal verified 5040
 * EXPECT -DDESCRIPTOR optimal verified 5040
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t[7];
#ifdef DESCRIPTOR
    static _Atomic int cell[100];
    int fd = open("/dev/null", O_RDONLY);
    assert(fd >= 0 && fd < 100);
    atomic_store(&cell[fd], 1); /* another cell each time if the number changed */
#else
    FILE *f = fopen("/dev/null", "r");
    assert(f && fgetc(f) == EOF);
    FILE *g = tmpfile();
    assert(g && fputs("left in the buffer", g) >= 0 && ftell(g) == 18);
#endif
    for (int i = 0; i < 7; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 7; i++) pthread_join(t[i], NULL);
    return 0;
}
