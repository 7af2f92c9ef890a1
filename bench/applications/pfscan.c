/* A parallel file scanner after pfscan, of Table 1 of 2008. The program is ours and has no code of the original. It has
 * the same threads, locks, condition variables and system calls:
 *
 *   main      walks through a directory and puts the path of each file into a bounded queue; closes the queue; waits
 *             until no worker is active
 *   worker    takes a path, maps the file, searches it; counts a match under one lock and prints it under another;
 *             when the queue is closed and empty, it reports that it is no longer active
 *   queue     a ring of T + 7 paths, one mutex, two condition variables (`more`, `less`)
 *
 * As in the original, the condition variables are signalled after the mutex is given back, and nobody joins the
 * workers. Different from the original: the search is naive, and main reads the directory itself instead of calling
 * ftw(). Neither has operations that other threads could see.
 *
 * T is the number of threads, main included. The directory has two files, as in the paper. The original has 72 classes
 * with T=2, and so has this program. The word is in one file. -DWORD=none looks for a word that is in no file, so nothing
 * is counted and printed. -DREAD reads a file in one call instead of mapping it. -DBROKEN: a worker forgets the lock of
 * the counter.
 *
 * ARGS bench/applications/files
 * EXPECT -DT=2 all verified 72
 * EXPECT -DT=2 -DREAD all verified 72
 * EXPECT -DT=2 -DWORD=none optimal verified 72
 * EXPECT -DT=3 -DWORD=none dl-s-por verified
 * EXPECT -DT=3 -DBROKEN -DWORD=the optimal error kind=data-race
 */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef T
#define T 3
#endif
#ifndef WORD
#define WORD test
#endif
#define TEXT_(word) #word
#define TEXT(word)  TEXT_(word)
#define ROOM        (T + 7)

/* ---- the queue ---- */

static struct {
    char *paths[ROOM];
    int first, count, closed;
    pthread_mutex_t mutex;
    pthread_cond_t more, less;
} queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .less = PTHREAD_COND_INITIALIZER};

static void put(char *path)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == ROOM) pthread_cond_wait(&queue.less, &queue.mutex);
    queue.paths[(queue.first + queue.count++) % ROOM] = path;
    pthread_mutex_unlock(&queue.mutex);
    pthread_cond_signal(&queue.more);
}

/* Returns NULL if the queue is closed and empty. */
static char *take(void)
{
    char *path = NULL;
    pthread_mutex_lock(&queue.mutex);
    while (!queue.count && !queue.closed) pthread_cond_wait(&queue.more, &queue.mutex);
    if (queue.count) {
        path = queue.paths[queue.first];
        queue.first = (queue.first + 1) % ROOM;
        queue.count--;
    }
    pthread_mutex_unlock(&queue.mutex);
    if (path) pthread_cond_signal(&queue.less);
    return path;
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue.mutex);
    queue.closed = 1;
    pthread_mutex_unlock(&queue.mutex);
    pthread_cond_broadcast(&queue.more);
}

/* ---- workers ---- */

static int matches, active = T - 1;
static pthread_mutex_t matches_lock = PTHREAD_MUTEX_INITIALIZER, print_lock = PTHREAD_MUTEX_INITIALIZER,
                       active_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t inactive = PTHREAD_COND_INITIALIZER;

static void found(const char *path, size_t at)
{
#ifdef BROKEN
    matches++;
#else
    pthread_mutex_lock(&matches_lock);
    matches++;
    pthread_mutex_unlock(&matches_lock);
#endif
    pthread_mutex_lock(&print_lock);
    printf("%s: %zu\n", path, at);
    pthread_mutex_unlock(&print_lock);
}

static void search(const char *path, const char *text, size_t size)
{
    static const char word[] = TEXT(WORD);
    size_t length = sizeof word - 1;
    for (size_t i = 0; i + length <= size; i++)
        if (!memcmp(text + i, word, length)) found(path, i);
}

static void scan(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
#ifdef READ
        char *text = malloc(size);
        if (read(file, text, size) == (ssize_t)size) search(path, text, size);
        free(text);
#else
        char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, file, 0);
        if (text != MAP_FAILED) {
            search(path, text, size);
            munmap(text, size);
        }
#endif
    }
    close(file);
}

static void *worker(void *unused)
{
    for (char *path; (path = take()); free(path)) scan(path);
    fflush(stdout);
    pthread_mutex_lock(&active_lock);
    active--;
    pthread_mutex_unlock(&active_lock);
    pthread_cond_signal(&inactive);
    return unused;
}

/* ---- main ---- */

static int files;

static void walk(const char *directory)
{
    char path[4096];
    DIR *d = opendir(directory);
    assert(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (stat(path, &status) || !S_ISREG(status.st_mode)) continue;
        files++;
        put(strdup(path));
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < T; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, NULL)) return 1;
    }
    for (int i = 1; i < argc; i++) walk(argv[i]);
    close_queue();
    pthread_mutex_lock(&active_lock);
    while (active) pthread_cond_wait(&inactive, &active_lock);
    pthread_mutex_unlock(&active_lock);
    assert(files == 2);
    if (!strcmp(TEXT(WORD), "test")) assert(matches == 1);
    return 0;
}
