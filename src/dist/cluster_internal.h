/* Private to cluster.c (start and end), remote.c (rank 0) and agent.c (the other ranks): the messages between ranks.
 *
 * A message is a word with its kind, usually the number of a worker, and the rest. Both sides are the same build of
 * mazurka; rank 0 checks that first. */
#ifndef MZ_DIST_CLUSTER_INTERNAL_H
#define MZ_DIST_CLUSTER_INTERNAL_H

#include "event/packet.h"
#include "dist/mpi/transport.h"
#include "dist/cluster.h"
#include "dist/pool_internal.h"

enum mz_say {                /* from rank 0 */
              MZ_SAY_SETUP,  /* everything that an agent needs to start workers */
              MZ_SAY_START,  /* start a worker with this number */
              MZ_SAY_LAYOUT, /* worker: the reference layout, before its first task */
              MZ_SAY_TELL,   /* worker, messages for it, in the format of a ring */
              MZ_SAY_WISH,   /* worker, enum mz_share_wish */
              MZ_SAY_STOP,   /* worker: ask it to stop */
              MZ_SAY_KILL, /* worker; 1: find out where it hangs, kill it and tell the result; 0: kill and forget it */
              MZ_SAY_SLOTS, /* the names of all threads that have a slot */
              MZ_SAY_ALIVE, /* number of executions of all other ranks */
              MZ_SAY_QUIT,  /* nothing is left to do; wait for ... */
              MZ_SAY_BYE    /* 1: ranks are lost, so MPI cannot end in order: just exit */
};

enum mz_answer {                   /* to rank 0 */
                 MZ_ANSWER_HELLO,  /* its build and its host */
                 MZ_ANSWER_NEAR,   /* we will ring its bell */
                 MZ_ANSWER_CANNOT, /* take part; it has printed why */
                 MZ_ANSWER_TOLD,   /* worker, messages from it */
                 MZ_ANSWER_PIECES, /* worker, pieces of its channel: offset, length, bytes
                                    */
                 MZ_ANSWER_ENDED, /* worker, wait status, 1 killed | 2 stalled, peak memory, microseconds of the worker and of its agent */
                 MZ_ANSWER_SLOT,      /* worker, the name of a thread that needs a slot */
                 MZ_ANSWER_ALIVE,     /* executions of its workers; microseconds of the agent */
                 MZ_ANSWER_INTERRUPT, /* a signal asked it to end */
                 MZ_ANSWER_FAREWELL   /* the last message, after BYE */
};

#define MZ_HEARTBEAT 0.5 /* seconds */

enum mz_rank_state {
    MZ_RANK_SILENT,
    MZ_RANK_READY, /* has everything that it needs */
    MZ_RANK_OUT,   /* exists, but cannot take part */
    MZ_RANK_GONE
};

struct mz_rank { /* another rank, as rank 0 sees it; other ranks use only the first fields, for rank 0 */
    enum mz_rank_state state;
    struct mz_common *near; /* NULL: it is on another host */
    bool rings;             /* its messages are counted since it said so; from then on it rings our bell */
    uint32_t counted;       /* number of these messages that have arrived */
    char host[64];
    double heard;
    uint32_t slots[MZ_MAX_THREADS]; /* the slots that it knows */
    uint32_t living;                /* workers */
    uint64_t executions;            /* executions of its workers at its last heartbeat */
    double processor;               /* processor seconds of its agent */
};

struct mz_cluster {
    const struct mz_transport *transport;
    int rank, size;
    struct mz_rank *ranks;    /* rank 0: all other ranks; other ranks: [0] is rank 0 */
    struct mz_common *common; /* our own, except on rank 0 */
    struct mz_message out;    /* space for one message */
    double patience;          /* seconds until a silent rank counts as lost */
    double busy;              /* time of the last message other than a heartbeat, in either direction */
    double beat;              /* time of our last heartbeat */
    bool lost_some;           /* then MPI cannot end in order */
    bool dismissed;           /* all ranks have been sent home */
    uint32_t left_out, lost;  /* ranks that could not start, and ranks that were lost */
};

void mz_cluster_begin(struct mz_cluster *c, uint32_t kind);
void mz_cluster_send(struct mz_cluster *c, int rank); /* send the content of `out` */
/* Receive the next message; false: there is none. A counted message is counted when it has been received. */
bool mz_cluster_receive(struct mz_cluster *c, int *rank, struct mz_message *m);
/* Bytes, preceded by their length. */
void mz_put_block(struct mz_message *m, const void *data, size_t size);
void mz_put_text(struct mz_message *m, const char *text);
const void *mz_get_block(struct mz_message *m, size_t *size);
char *mz_get_text(struct mz_message *m); /* a new string */
/* Longest time to sleep before the next look for messages. It is shorter after recent messages or while messages are
 * under way, unless every rank that may send one rings our bell. */
double mz_cluster_nap(const struct mz_cluster *c, double longest);
/* Of several ranks with the same message to print, is this the one that prints it? */
bool mz_cluster_first_of_host(void);
/* What must be equal on all hosts. */
const char *mz_cluster_build(void);
struct mz_cluster *mz_cluster_join(void); /* NULL after one line */
/* End MPI. It waits for the other ranks for at most this many seconds; then we exit. */
void mz_cluster_leave(struct mz_cluster *c, int status, unsigned patience);
/* Any other rank: continue in a child of the process that mpirun started. */
void mz_cluster_stand_behind(void);

#endif
