/* Calls that write to a variable of the caller, which is on its stack, while another thread reads it: a data
 * race like any other.
 * EXPECT -DCREATE every error kind=data-race
 * EXPECT -DCREATE -DGLOBAL every error kind=data-race
 * EXPECT -DEXPECTED every error kind=data-race
 * EXPECT -DEXPECTED -DGLOBAL every error kind=data-race
 * EXPECT -DJOIN every error kind=data-race
 * EXPECT -DJOIN -DGLOBAL every error kind=data-race
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef GLOBAL
#define PLACE static
#else
#define PLACE
#endif

struct all {
    pthread_t thread, other;
    atomic_int word;
    int expected;
    void *result;
};

static volatile long sink;

#if defined CREATE
static void *child(void *argument)
{
    struct all *c = argument;
    return c->thread == pthread_self() ? c : NULL;
}
static void act(struct all *c) { pthread_create(&c->thread, NULL, child, c); }
#elif defined EXPECTED
static void *child(void *argument)
{
    struct all *c = argument;
    return c->expected ? c : NULL;
}
static void act(struct all *c)
{
    pthread_create(&c->thread, NULL, child, c);
    atomic_compare_exchange_strong(&c->word, &c->expected, 3);
}
#else
static void *ends(void *argument) { return argument; }
static void *child(void *argument)
{
    struct all *c = argument;
    return c->result;
}
static void act(struct all *c)
{
    pthread_create(&c->other, NULL, ends, c);
    pthread_create(&c->thread, NULL, child, c);
    pthread_join(c->other, &c->result);
}
#endif

int main(void)
{
    PLACE struct all c;
    c.expected = 1;
    c.result = NULL;
    atomic_init(&c.word, 2);
    act(&c);
    pthread_join(c.thread, NULL);
    sink = c.expected;
    return 0;
}
