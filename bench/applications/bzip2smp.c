/* A parallel compressor after bzip2smp, of Table 1 of 2008. The program is ours and has no code of the original. It
 * has the same threads, locks, condition variables and rings:
 *
 *   main        reads the input in blocks and puts them into the ring `in`; waits at the end until all blocks are
 *               compressed and written
 *   compressor  (T - 2 of them) takes a block from `in` and, under the same lock `both`, a place in the ring `out`, so
 *               that blocks stay in order; compresses the block; gives the room in `in` back; fills its place in `out`
 *   writer      waits until the oldest place in `out` is filled, and writes it to standard output
 *
 * Compressors and writer never end: main returns. The original has a libbz2 of its own, which divides the compression
 * of a block among the three kinds of threads; with the libbz2 of the system (-DBZ2 -lbz2) a compressor does all of it.
 * Without -DBZ2 blocks are copied. The original waits with `if`; here a thread looks again after each wait.
 *
 * T is the number of threads, main included. The argument is the input: BLOCKS blocks of at most BLOCK bytes.
 * -DBROKEN: a compressor takes its place in `out` without `both`, so blocks may be written in the wrong order.
 *
 * ARGS bench/applications/files/first.txt
 * EXPECT -DT=3 all verified
 * EXPECT -DT=4 -DBLOCKS=1 all verified
 * EXPECT -DT=4 dl-s-por verified
 * EXPECT -DT=4 -DBROKEN dl-s-por error kind=assertion
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef BZ2
#include <bzlib.h>
#endif

#ifndef T
#define T 4
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef BLOCK
#define BLOCK 64
#endif
#define COMPRESSORS (T - 2)
#define IN          (2 * COMPRESSORS)
#define OUT         (2 * COMPRESSORS + 1)
#define PACKED      (BLOCK + BLOCK / 100 + 600) /* as much as libbz2 may need */

struct block {
    int number;
    unsigned size;
    char *bytes;
};

static struct { /* between main and the compressors */
    struct block *ring[IN];
    int first, count; /* blocks that no compressor has taken */
    int room;         /* IN minus the blocks that main has added and no compressor has finished */
    pthread_mutex_t mutex;
    pthread_cond_t some, freed;
} in = {.room = IN,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .some = PTHREAD_COND_INITIALIZER,
        .freed = PTHREAD_COND_INITIALIZER};

static struct { /* between the compressors and the writer */
    struct block *ring[OUT];
    int first, count; /* places that are taken, filled or not */
    pthread_mutex_t mutex;
    pthread_cond_t freed, ready;
} out = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t both = PTHREAD_MUTEX_INITIALIZER;

/* ---- compressors ---- */

static struct block *next_block(void)
{
    pthread_mutex_lock(&in.mutex);
    while (!in.count) pthread_cond_wait(&in.some, &in.mutex);
    struct block *b = in.ring[in.first];
    in.first = (in.first + 1) % IN;
    in.count--;
    pthread_mutex_unlock(&in.mutex);
    return b;
}

static int next_place(void)
{
    pthread_mutex_lock(&out.mutex);
    while (out.count == OUT) pthread_cond_wait(&out.freed, &out.mutex);
    int place = (out.first + out.count++) % OUT;
    pthread_mutex_unlock(&out.mutex);
    return place;
}

static void compress(struct block *b)
{
    char *packed = malloc(PACKED);
    unsigned size = PACKED;
#ifdef BZ2
    int code = BZ2_bzBuffToBuffCompress(packed, &size, b->bytes, b->size, 9, 0, 30);
    assert(code == BZ_OK);
#else
    size = b->size;
    memcpy(packed, b->bytes, size);
#endif
    free(b->bytes);
    b->bytes = packed;
    b->size = size;
}

static void *compressor(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&both);
        struct block *b = next_block();
#ifdef BROKEN
        pthread_mutex_unlock(&both);
        int place = next_place();
#else
        int place = next_place();
        pthread_mutex_unlock(&both);
#endif
        compress(b);
        pthread_mutex_lock(&in.mutex);
        in.room++;
        pthread_cond_signal(&in.freed);
        pthread_mutex_unlock(&in.mutex);
        pthread_mutex_lock(&out.mutex);
        out.ring[place] = b;
        if (place == out.first) pthread_cond_signal(&out.ready);
        pthread_mutex_unlock(&out.mutex);
    }
    return unused;
}

/* ---- writer ---- */

static void *writer(void *unused)
{
    pthread_mutex_lock(&out.mutex);
    for (int number = 0;; number++) {
        while (!out.count || !out.ring[out.first]) pthread_cond_wait(&out.ready, &out.mutex);
        struct block *b = out.ring[out.first];
        pthread_mutex_unlock(&out.mutex);
        assert(b->number == number);
        ssize_t written = write(STDOUT_FILENO, b->bytes, b->size);
        assert(written == (ssize_t)b->size);
        free(b->bytes);
        free(b);
        pthread_mutex_lock(&out.mutex);
        out.ring[out.first] = NULL;
        out.first = (out.first + 1) % OUT;
        out.count--;
        pthread_cond_signal(&out.freed);
    }
    return unused;
}

/* ---- main ---- */

static void add(struct block *b)
{
    pthread_mutex_lock(&in.mutex);
    in.ring[(in.first + in.count++) % IN] = b;
    in.room--;
    if (in.count == 1) pthread_cond_signal(&in.some);
    pthread_mutex_unlock(&in.mutex);
}

static void wait_for_room(int room)
{
    pthread_mutex_lock(&in.mutex);
    while (in.room < room) pthread_cond_wait(&in.freed, &in.mutex);
    pthread_mutex_unlock(&in.mutex);
}

static struct block *read_block(int file, int number)
{
    struct block *b = malloc(sizeof *b);
    b->number = number;
    b->bytes = malloc(BLOCK);
    ssize_t size = read(file, b->bytes, BLOCK);
    assert(size > 0);
    b->size = (unsigned)size;
    return b;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int file = argc > 1 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
    assert(file >= 0);
    for (int i = 0; i < COMPRESSORS; i++)
        if (pthread_create(&thread, NULL, compressor, NULL)) return 1;
    if (pthread_create(&thread, NULL, writer, NULL)) return 1;
    for (int i = 0; i < BLOCKS; i++) {
        wait_for_room(1);
        add(read_block(file, i));
    }
    wait_for_room(IN);
    pthread_mutex_lock(&out.mutex);
    while (out.count) pthread_cond_wait(&out.freed, &out.mutex);
    pthread_mutex_unlock(&out.mutex);
    return 0;
}
