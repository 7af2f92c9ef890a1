/* Paths of threads: see thread_paths.h. */
#include "event/thread_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAIN "0"

bool mz_threads_add(struct mz_thread_info threads[MZ_MAX_THREADS], int slot, int parent, unsigned index)
{
    if (slot < 1 || slot >= MZ_MAX_THREADS || parent < 0 || parent >= slot || !threads[parent].used)
        return false;
    if (index < 1 || index > MZ_MAX_THREADS) return false;
    struct mz_thread_info t = {.used = 1, .parent = (uint8_t)parent, .spawn_index = (uint16_t)index};
    int n = snprintf(t.name, sizeof t.name, "%.*s.%u", (int)sizeof t.name - 1, threads[parent].name, index);
    if (n >= (int)sizeof t.name || mz_threads_find(threads, t.name) >= 0) return false;
    t.start = threads[slot].start;
    threads[slot] = t;
    return true;
}

bool mz_threads_add_path(struct mz_thread_info threads[MZ_MAX_THREADS], int slot, const char *path)
{
    const char *dot = strrchr(path, '.');
    char parent[sizeof threads->name];
    if (slot == 0 && !strcmp(path, MAIN)) {
        threads[0] = (struct mz_thread_info){.used = 1, .name = MAIN};
        return true;
    }
    if (!dot || (size_t)(dot - path) >= sizeof parent) return false;
    memcpy(parent, path, (size_t)(dot - path));
    parent[dot - path] = '\0';
    long index = strtol(dot + 1, NULL, 10);
    if (index < 1 || index > MZ_MAX_THREADS) return false;
    if (!mz_threads_add(threads, slot, mz_threads_find(threads, parent), (unsigned)index)) return false;
    if (!strcmp(threads[slot].name, path)) return true;
    threads[slot].used = 0; /* 0.01, 0.1x */
    return false;
}

int mz_threads_find(const struct mz_thread_info threads[MZ_MAX_THREADS], const char *path)
{
    for (int s = 0; s < MZ_MAX_THREADS; s++)
        if (threads[s].used && !strcmp(threads[s].name, path)) return s;
    return -1;
}

void mz_threads_tidy(struct mz_thread_info threads[MZ_MAX_THREADS])
{
    uint64_t start = threads[0].start;
    mz_threads_add_path(threads, 0, MAIN);
    threads[0].start = start;
    for (int s = 1; s < MZ_MAX_THREADS; s++) {
        bool used = threads[s].used;
        threads[s].used = 0;
        if (!used || !mz_threads_add(threads, s, threads[s].parent, threads[s].spawn_index))
            threads[s] = (struct mz_thread_info){0};
    }
}
