/* Private to cluster.c (beginning and end), remote.c (rank 0), agent.c (the others): what they say to each
 * other.
 *
 * A message is a word that says what it is, mostly a worker's number, and the rest. Both sides are the same
 * build of mazurka: rank 0 makes sure of that first. */
#ifndef MZ_CMD_CLUSTER_INTERNAL_H
#define MZ_CMD_CLUSTER_INTERNAL_H

#include "../event/message.h"
#include "../mpi/transport.h"
#include "cluster.h"
#include "pool_internal.h"

enum mz_say {                /* from rank 0 */
              MZ_SAY_SETUP,  /* all that is needed to start workers */
              MZ_SAY_START,  /* a worker: its number */
              MZ_SAY_LAYOUT, /* worker: the layout that addresses are of, before its first task */
              MZ_SAY_TELL,   /* worker, messages for it, as they are in a ring */
              MZ_SAY_WISH,   /* worker, enum mz_share_wish */
              MZ_SAY_STOP,   /* worker: it is asked to stop */
              MZ_SAY_KILL,  /* worker; 1: after looking where it is, and tell what came of it; 0: forget it */
              MZ_SAY_SLOTS, /* the names of all threads that have one */
              MZ_SAY_ALIVE, /* how many executions others have made */
              MZ_SAY_QUIT,  /* there is no more to do; wait for ... */
              MZ_SAY_BYE    /* 1: some are lost, so MPI cannot be ended in good order: just exit */
};

enum mz_answer {                   /* to rank 0 */
                 MZ_ANSWER_HELLO,  /* what build it is, the host */
                 MZ_ANSWER_NEAR,   /* we ring */
                 MZ_ANSWER_CANNOT, /* be of use; it has said why */
                 MZ_ANSWER_TOLD,   /* worker, messages of it */
                 MZ_ANSWER_PIECES, /* worker, pieces of its channel: offset, length, bytes
                                    */
                 MZ_ANSWER_ENDED, /* worker, wait status, 1 killed | 2 stalled, peak memory, us: its, its agent's */
                 MZ_ANSWER_SLOT,  /* worker, the name of a thread that needs a slot */
                 MZ_ANSWER_ALIVE, /* how many executions its workers have made; microseconds of the agent */
                 MZ_ANSWER_INTERRUPT, /* it was asked to end by a signal */
                 MZ_ANSWER_FAREWELL   /* the last, after BYE */
};

#define MZ_HEARTBEAT 0.5 /* seconds */

enum mz_rank_state {
    MZ_RANK_SILENT,
    MZ_RANK_READY, /* has been told all that it needs */
    MZ_RANK_OUT,   /* is there, but of no use */
    MZ_RANK_GONE
};

struct mz_rank { /* another one, as rank 0 knows it; the others know so of rank 0 what stands first */
    enum mz_rank_state state;
    struct mz_common *near; /* NULL: it is on another host */
    bool rings;             /* what it sends is counted, from when it has said so; then it rings */
    uint32_t counted;       /* messages that have come of these */
    char host[64];
    double heard;
    uint32_t slots[MZ_MAX_THREADS]; /* as it knows them */
    uint32_t living;                /* workers */
    uint64_t executions;            /* of its workers, at its last heartbeat */
    double processor;               /* seconds, of its agent */
};

struct mz_cluster {
    const struct mz_transport *transport;
    int rank, size;
    struct mz_rank *ranks;    /* rank 0: of all others; the others: [0] */
    struct mz_common *common; /* not rank 0: our own */
    struct mz_message out;    /* room for one message */
    double patience;          /* seconds until a rank that says nothing is given up */
    double busy;              /* when a message last came or went, other than mere news */
    double beat;              /* when the last heartbeat was sent */
    bool lost_some;           /* then MPI cannot be ended in good order */
    bool dismissed;           /* all have been told to go home */
    uint32_t left_out, lost;  /* ranks that could not begin, and that were lost */
};

void mz_cluster_begin(struct mz_cluster *c, uint32_t kind);
void mz_cluster_send(struct mz_cluster *c, int rank); /* what is in `out` */
/* The next message; false: none. What is counted is counted when it has been heard. */
bool mz_cluster_receive(struct mz_cluster *c, int *rank, struct mz_message *m);
/* Bytes whose length is sent with them. */
void mz_put_block(struct mz_message *m, const void *data, size_t size);
void mz_put_text(struct mz_message *m, const char *text);
const void *mz_get_block(struct mz_message *m, size_t *size);
char *mz_get_text(struct mz_message *m); /* a new string */
/* How long to sleep, at most, until it is looked again whether a message has come: less, when some came lately
 * or are under way, unless whoever may send one rings. */
double mz_cluster_nap(const struct mz_cluster *c, double longest);
/* Of several that have the same to say, this one does. */
bool mz_cluster_first_of_host(void);
/* What must be the same on all hosts. */
const char *mz_cluster_build(void);
struct mz_cluster *mz_cluster_join(void); /* NULL after one line */
/* The end of MPI, which waits for the others, but not longer than so many seconds: then we exit. */
void mz_cluster_leave(struct mz_cluster *c, int status, unsigned patience);
/* Any other rank: go on in a child of the process that mpirun started. */
void mz_cluster_stand_behind(void);

#endif
