/* A wild pointer that hits mazurka's own memory: a finding, before anything is damaged. The address comes from
 * /proc/self/maps: the library, the channel, or the n-th region.
 * EXPECT -DLIBRARY all error kind=out-of-bounds thread=0.1
 * EXPECT -DCHANNEL all error kind=out-of-bounds thread=0.1
 * EXPECT -DREGION=0 all error kind=out-of-bounds thread=0.1
 * EXPECT -DREGION=7 all error kind=out-of-bounds thread=0.1
 * EXPECT -DREGION=30 all error kind=out-of-bounds thread=0.1
 * EXPECT -DLIBRARY -DATOMIC all error kind=out-of-bounds
 * EXPECT -DREGION=3 -DATOMIC all error kind=out-of-bounds
 * EXPECT -DCHANNEL -DCOPY all error kind=out-of-bounds
 * EXPECT -DREGION=5 -DREAD all error kind=out-of-bounds
 * EXPECT -DREGION=5 --data-races=allow all error kind=out-of-bounds
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int x;
#ifdef COPY
static const char *line_of_text = "some bytes";
#endif

static int is_it(const char *line)
{
#ifdef LIBRARY
    return strstr(line, "libmazurka") && strstr(line, "rw-");
#elif defined CHANNEL
    return strstr(line, "mazurka-channel") != NULL;
#else
    static int n;
    return strstr(line, "rw-p 00000000 00:00 0") && !strchr(line, '[') && n++ == REGION;
#endif
}

static char *find(void)
{
    static char line[512];
    uintptr_t address = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && !address && fgets(line, sizeof line, f))
        if (is_it(line)) address = strtoul(line, NULL, 16);
    if (f) fclose(f);
    return (char *)address;
}

static void *work(void *arg)
{
    char *p = (char *)arg + 64;
    x++;
#ifdef ATOMIC
    atomic_store((_Atomic int *)(void *)p, 1);
#elif defined COPY
    memcpy(p, line_of_text, strlen(line_of_text));
#elif defined READ
    return (void *)(uintptr_t) * (volatile int *)(void *)p;
#else
    *(volatile int *)(void *)p = 1;
#endif
    return NULL;
}

int main(void)
{
    pthread_t t;
    char *p = find();
    if (!p) return 3;
    pthread_create(&t, NULL, work, p);
    x++;
    pthread_join(t, NULL);
    return 0;
}
