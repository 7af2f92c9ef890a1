/* Message channels.
 *   default    3 threads send to a channel: 3! orders. Receives are in conflict with nothing else
 *   APART      each thread sends to a channel of its own: 1 class
 *   TAGS       a receive that selects: main receives tag 1 first, then tag 0; the sends are ordered: 2 classes
 *   TRY        main tries twice for the message of one thread, which is sent before, between or after: 3 classes
 *   WAITS      main waits for one message more than there is: a deadlock
 *   ORDERED    what a thread writes before it sends is visible after the receive
 *   UNORDERED  but not what it writes afterwards: a data race
 *   TWO        two threads receive from one channel
 *   GONE       a thread sends to a channel that main has destroyed
 * EXPECT every verified 6
 * EXPECT -DAPART every verified 1
 * EXPECT -DTAGS every verified 2
 * EXPECT -DTRY every verified 3
 * EXPECT -DWAITS all error kind=deadlock
 * EXPECT -DORDERED every verified 1
 * EXPECT -DUNORDERED all error kind=data-race
 * EXPECT -DTWO all error kind=api-misuse
 * EXPECT -DGONE all error
 */
#include <mazurka.h>
#include <pthread.h>

#if defined TAGS
#define N 2
#elif defined TRY || defined WAITS || defined ORDERED || defined UNORDERED || defined GONE || defined TWO
#define N 1
#else
#define N 3
#endif

static mz_channel *channels[N];
static int data;

#ifdef APART
#define CHANNEL(i) channels[i]
#else
#define CHANNEL(i) channels[0]
#endif
#ifdef TAGS
#define TAG(i) (i)
#else
#define TAG(i) 0
#endif

static void *sends(void *number)
{
    unsigned i = (unsigned)(uintptr_t)number;
#ifdef ORDERED
    data = 1;
#endif
    mz_channel_send(CHANNEL(i), TAG(i), i);
#ifdef UNORDERED
    data = 1;
#endif
#ifdef TWO
    mz_channel_receive(channels[0], 0);
#endif
    return NULL;
}

static void try(void)
{
    uint64_t content = 7;
    int found = mz_channel_try_receive(channels[0], 0, &content);
    if (!found) found = mz_channel_try_receive(channels[0], 0, &content);
    mz_assert(content == (found ? 0 : 7));
}

static void receive(void)
{
    uint64_t sum = 0;
#ifdef TAGS
    mz_assert(mz_channel_receive(channels[0], 1) == 1);
    mz_assert(mz_channel_receive(channels[0], 0) == 0);
    return;
#endif
    for (unsigned i = 0; i < N; i++) sum += mz_channel_receive(CHANNEL(i), 0);
    mz_assert(sum == N * (N - 1) / 2);
#ifdef WAITS
    mz_channel_receive(channels[0], 0);
#endif
#if defined ORDERED || defined UNORDERED
    mz_assert(data == 1);
#endif
}

int main(void)
{
    pthread_t threads[N];
    for (unsigned i = 0; i < N; i++) channels[i] = mz_channel_create();
    for (unsigned i = 0; i < N; i++) pthread_create(&threads[i], NULL, sends, (void *)(uintptr_t)i);
#ifdef TRY
    try();
#elif defined GONE
    (void)receive;
    mz_channel_destroy(channels[0]);
#else
    (void)try;
    receive();
#endif
    for (unsigned i = 0; i < N; i++) pthread_join(threads[i], NULL);
#ifndef GONE
    for (unsigned i = 0; i < N; i++) mz_channel_destroy(channels[i]);
#endif
}
