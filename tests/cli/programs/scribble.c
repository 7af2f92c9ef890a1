#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static _Atomic int n;
__attribute__((no_sanitize("thread"))) static void scribble(void)
{
    static uint64_t seed = SEED;
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, f)) {
        unsigned long from, to;
        if (!strstr(line, "mazurka") || !strstr(line, "memfd") || sscanf(line, "%lx-%lx rw", &from, &to) != 2) continue;
        for (int i = 0; i < 4000; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            static const unsigned long parts[] = {1 << 14, 1 << 20, 1 << 16, -1ul};
            unsigned long size = to - from < parts[i % 4] ? to - from : parts[i % 4];
            unsigned long at = seed % size; /* the beginning, the end with the rings, all of it */
            *(volatile unsigned char *)(i % 4 == 2 ? to - 1 - at : from + at) = (unsigned char)(seed >> 40);
        }
    }
    fclose(f);
}
static void *w(void *a)
{
    if (n++ == 1) scribble();
    n++;
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, w, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
