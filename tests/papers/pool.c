/* A pool of workers on message channels, in the spirit of the Erlang programs of 2017, Table 5 (poolboy). It is our program, not
 * theirs: no figure of the paper is to be compared with its counts.
 *
 * A manager owns W workers. Each of C clients asks the manager for a worker, and looks once for the answer in its mailbox (in
 * Erlang: receive, with `after 0`). If the answer is there, the client uses the worker and gives it back. Otherwise the client
 * takes its request back, and the manager finds out whether the worker has been given meanwhile. At the end all workers
 * are back.
 *
 * With one client: the answer is sent before or after the client looks. Nothing else is in conflict: 2 classes.
 * EXPECT -DC=1 every verified 2
 * EXPECT -DC=2 all verified
 * EXPECT -DC=2 -DBROKEN all error kind=assertion
 * SLOW -DC=3 optimal verified
 */
#include <mazurka.h>
#include <pthread.h>

#ifndef C
#define C 2
#endif
#ifndef W
#define W 1
#endif

enum { ASK, GIVE_BACK, TAKE_BACK };

static mz_channel *manager, *mailboxes[C];

static void *client(void *number)
{
    uint64_t i = (uint64_t)number, worker;
    mz_channel_send(manager, 0, 3 * i + ASK);
    int given = mz_channel_try_receive(mailboxes[i], 0, &worker);
    mz_channel_send(manager, 0, 3 * i + (given ? GIVE_BACK : TAKE_BACK));
    return NULL;
}

static void give(uint64_t to, int *free) { mz_channel_send(mailboxes[to], 0, (uint64_t)-- * free); }

static void manage(void)
{
    uint64_t queue[C];
    int waiting = 0, free = W;
    for (int n = 0; n < 2 * C; n++) {
        uint64_t message = mz_channel_receive(manager, 0), from = message / 3;
        if (message % 3 == ASK) {
            queue[waiting++] = from;
        } else {
            int at = 0;
            while (at < waiting && queue[at] != from) at++;
#ifdef BROKEN /* a worker that was given meanwhile is lost */
            if (message % 3 == GIVE_BACK) free++;
#else
            if (at == waiting) free++;
#endif
            if (at < waiting) waiting--;
            for (; at < waiting; at++) queue[at] = queue[at + 1];
        }
        if (free && waiting) {
            give(queue[0], &free);
            waiting--;
            for (int i = 0; i < waiting; i++) queue[i] = queue[i + 1];
        }
    }
    mz_assert(free == W && waiting == 0);
}

int main(void)
{
    pthread_t threads[C];
    manager = mz_channel_create();
    for (int i = 0; i < C; i++) mailboxes[i] = mz_channel_create();
    for (uint64_t i = 0; i < C; i++) pthread_create(&threads[i], NULL, client, (void *)i);
    manage();
    for (int i = 0; i < C; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < C; i++) mz_channel_destroy(mailboxes[i]);
    mz_channel_destroy(manager);
}
