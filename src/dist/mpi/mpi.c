/* The transport over MPI: see transport.h. This is the only file that uses MPI. It becomes a plug-in for each
 * installed implementation.
 *
 * A send or receive is under way until a test says that it is done; nothing ever waits. Messages of one sender are
 * delivered in their order. A sender that dies in the middle of a message delays nobody else. Errors are returned
 * and not fatal, as far as the implementation supports that. */
#include "dist/mpi/transport.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define TAG 1

struct piece {
    struct piece *next;
    MPI_Request request;
    int rank;
    size_t size;
    char data[];
};

static struct {
    struct piece *first, **last;
} going = {NULL, &going.first}, coming = {NULL, &coming.first};
static struct piece *given; /* to the caller */
static int ranks;
static char *held; /* for each rank: something of it is not there yet */
static char *lost; /* and: it has been given up */

static struct piece *piece_new(int rank, size_t size)
{
    struct piece *p = malloc(sizeof *p + size);
    if (!p) abort();
    p->next = NULL;
    p->rank = rank;
    p->size = size;
    return p;
}

static bool is_done(struct piece *p)
{
    int done = 0;
    return MPI_Test(&p->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
}

static bool open_all(int *rank, int *size)
{
    int provided;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return false;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS) return false;
    if (MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS) return false;
    ranks = *size;
    held = calloc((size_t)ranks, 1);
    lost = calloc((size_t)ranks, 1);
    return held && lost;
}

static void forget_sent(void)
{
    for (struct piece **p = &going.first, *one; (one = *p);) {
        if (!is_done(one)) {
            p = &one->next;
            continue;
        }
        *p = one->next;
        if (going.last == &one->next) going.last = p;
        free(one);
    }
}

static bool send_to(int rank, const void *data, size_t size)
{
    struct piece *p = piece_new(rank, size);
    memcpy(p->data, data, size);
    if (MPI_Isend(p->data, (int)size, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &p->request) != MPI_SUCCESS) {
        free(p);
        return false;
    }
    *going.last = p;
    going.last = &p->next;
    forget_sent();
    return true;
}

/* A message that is about to arrive from any rank. */
static bool expect(int from)
{
    MPI_Message message;
    MPI_Status status;
    int there = 0, count = 0;
    if (MPI_Improbe(from, TAG, MPI_COMM_WORLD, &there, &message, &status) != MPI_SUCCESS) return false;
    if (!there) return true;
    MPI_Get_count(&status, MPI_BYTE, &count);
    struct piece *p = piece_new(status.MPI_SOURCE, (size_t)count);
    if (MPI_Imrecv(p->data, count, MPI_BYTE, &message, &p->request) != MPI_SUCCESS) {
        free(p);
        return true;
    }
    *coming.last = p;
    coming.last = &p->next;
    return true;
}

static const void *receive(int *rank, size_t *size)
{
    static bool one_by_one; /* after a rank has failed, MPI_ANY_SOURCE is an error */
    free(given);
    given = NULL;
    forget_sent();
    if (!one_by_one && !expect(MPI_ANY_SOURCE)) one_by_one = true;
    for (int r = 0; one_by_one && r < ranks; r++) expect(r);
    memset(held, 0, (size_t)ranks);
    for (struct piece **p = &coming.first, *one; (one = *p); p = &one->next) {
        if (held[one->rank]) continue;
        held[one->rank] = 1;
        if (!is_done(one)) continue;
        *p = one->next;
        if (coming.last == &one->next) coming.last = p;
        given = one;
        *rank = one->rank;
        *size = one->size;
        return one->data;
    }
    return NULL;
}

static bool all_of_lost(const struct piece *p)
{
    while (p && lost[p->rank]) p = p->next;
    return !p;
}

static bool all_gone(void)
{
    forget_sent();
    return all_of_lost(going.first);
}

static bool all_come(void) { return all_of_lost(coming.first); }

static void lose(int rank) { lost[rank] = 1; }

static void close_all(void) { MPI_Finalize(); }

extern const struct mz_transport mz_transport;
const struct mz_transport mz_transport = {.version = MZ_TRANSPORT_VERSION,
#ifdef OMPI_MAJOR_VERSION
                                          .name = "Open MPI",
#else
                                          .name = "MPICH",
#endif
                                          .open = open_all,
                                          .send = send_to,
                                          .receive = receive,
                                          .all_gone = all_gone,
                                          .all_come = all_come,
                                          .lose = lose,
                                          .close = close_all};
