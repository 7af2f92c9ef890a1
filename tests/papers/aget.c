/* aget, of the third benchmark of 2007: an ftp client whose threads fetch a segment of a file each, piece by
 * piece, and add up under a mutex how much there is. Fixed as in the paper (the original adds without the
 * mutex: -DRACE), and without a network: a piece always has the same size. What can differ is the order in
 * which the mutex is taken: (T * PIECES)! / (PIECES!)^T. With five threads, main, and two pieces each that is
 * 10! / 2^5 = 113,400, the number of runs in Table 1 of the paper.
 *
 * EXPECT -DT=2 all verified 6
 * EXPECT -DT=2 -DPIECES=3 all verified 20
 * EXPECT -DT=3 all verified 90
 * EXPECT -DT=3 --update=all dpor verified 90
 * EXPECT -DT=2 -DRACE all error kind=data-race
 * SLOW -DT=5 optimal verified 113400
 * SLOW -DT=5 source verified 113400
 * SLOW -DT=5 --update=all dpor verified 113400
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifndef T
#define T 5
#endif
#ifndef PIECES
#define PIECES 2
#endif
#define PIECE 512

static char file[T * PIECES * PIECE];
static int written;
static pthread_mutex_t written_mutex = PTHREAD_MUTEX_INITIALIZER;
static int tids[T];

static int receive(char *buffer, int tid)
{
    memset(buffer, 'a' + tid, PIECE);
    return PIECE;
}

static void *fetch(void *arg)
{
    int tid = *(int *)arg, offset = tid * PIECES * PIECE, end = offset + PIECES * PIECE;
    char buffer[PIECE];
    while (offset < end) {
        int n = receive(buffer, tid);
        memcpy(file + offset, buffer, (size_t)n);
        offset += n;
#ifdef RACE
        written += n;
#else
        pthread_mutex_lock(&written_mutex);
        written += n;
        pthread_mutex_unlock(&written_mutex);
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t t[T];
    for (int i = 0; i < T; i++) {
        tids[i] = i;
        pthread_create(&t[i], NULL, fetch, &tids[i]);
    }
    for (int i = 0; i < T; i++) pthread_join(t[i], NULL);
    assert(written == (int)sizeof file);
    return 0;
}
