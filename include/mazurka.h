/* mazurka.h: macros with which a test can tell mazurka more. In a program that was built without mazurka,
 * they are harmless. */
#ifndef MAZURKA_H
#define MAZURKA_H

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weak declarations, so that a program linked without the runtime still works. */
unsigned mazurka_choose(unsigned n, const char *file, int line) __attribute__((weak));
void mazurka_assume(int holds, const char *file, int line) __attribute__((weak));
void mazurka_atomic_begin(void) __attribute__((weak));
void mazurka_atomic_end(void) __attribute__((weak));
void mazurka_name(const volatile void *object, const char *name) __attribute__((weak));
void mazurka_await(int (*condition)(void *), void *argument) __attribute__((weak));
void mazurka_channel_open(void *channel) __attribute__((weak));
void mazurka_channel_close(void *channel) __attribute__((weak));
struct mz_channel_message;
void mazurka_channel_send(void *channel, unsigned tag, struct mz_channel_message *message)
    __attribute__((weak));
struct mz_channel_message *mazurka_channel_receive(void *channel, unsigned tag) __attribute__((weak));
struct mz_channel_message *mazurka_channel_try_receive(void *channel, unsigned tag) __attribute__((weak));
void mazurka_assert_failed(const char *expression, const char *file, int line, const char *function)
    __attribute__((weak));

/* An assertion that is checked even with NDEBUG. Without mazurka, a failure stops the program. */
#define mz_assert(e)                                                                                         \
    ((e) ? (void)0                                                                                           \
         : (mazurka_assert_failed ? mazurka_assert_failed(#e, __FILE__, __LINE__, __func__)                  \
                                  : (void)__builtin_trap()))

/* Skip executions in which e is false. */
#define mz_assume(e) (mazurka_assume ? mazurka_assume(!!(e), __FILE__, __LINE__) : (void)0)

/* Returns a number from 0 to n-1. mazurka explores all of them; without mazurka it is 0. */
#define mz_choose(n) (mazurka_choose ? mazurka_choose((n), __FILE__, __LINE__) : 0u)

/* No other thread runs between begin and end. */
#define mz_atomic_begin() (mazurka_atomic_begin ? mazurka_atomic_begin() : (void)0)
#define mz_atomic_end()   (mazurka_atomic_end ? mazurka_atomic_end() : (void)0)

/* Reports show the object under this name. */
#define mz_name(object, text) (mazurka_name ? mazurka_name((object), (text)) : (void)0)

/* Wait until condition(argument) is not 0: void mz_await(int (*condition)(void *), void *argument).
 * The condition may load atomic variables, and read memory that does not change while the thread waits. It must not do
 * anything else. For mazurka the wait is one operation, which happens only while the condition holds. Without mazurka it
 * is a loop. */
#define mz_await(condition, argument)                                                                        \
    (mazurka_await ? mazurka_await((condition), (argument)) : mz_await_loop_((condition), (argument)))
static inline void mz_await_loop_(int (*condition)(void *), void *argument)
{
    while (!condition(argument)) sched_yield();
}

/* ---- message channels ----
 *
 *   mz_channel *mz_channel_create(void);
 *   void        mz_channel_send(mz_channel *, unsigned tag, uint64_t content);
 *   uint64_t    mz_channel_receive(mz_channel *, unsigned tag);
 *   int         mz_channel_try_receive(mz_channel *, unsigned tag, uint64_t *content);   0: there is no message
 *   void        mz_channel_destroy(mz_channel *);                                        messages still there are lost
 *
 * Any thread may send to a channel; only one thread may receive from it. Each message has a tag below MZ_CHANNEL_TAGS. A
 * receive takes the oldest message with its tag, and leaves the others. A channel holds any number of messages.
 *
 * For mazurka, all sends to one channel are in conflict. A send is in conflict with no receive but the
 * mz_channel_try_receive that takes its message, or that would have taken it. Without mazurka, a channel is a list with a
 * lock. */
#define MZ_CHANNEL_TAGS 8

struct mz_channel_message {
    struct mz_channel_message *next;
    uint64_t content;
};

typedef struct {
    uint32_t mark, receiver;
    struct mz_channel_message *first[MZ_CHANNEL_TAGS], *last[MZ_CHANNEL_TAGS];
    uint32_t sent[MZ_CHANNEL_TAGS], received[MZ_CHANNEL_TAGS];
    pthread_mutex_t lock; /* without mazurka, like the next one */
    pthread_cond_t there_is_one;
} mz_channel;

#define mz_channel_send(channel, tag, content)                                                               \
    (mazurka_channel_send ? mazurka_channel_send((channel), (tag), mz_channel_message_(content))             \
                          : mz_channel_put_((channel), (tag), mz_channel_message_(content)))
#define mz_channel_receive(channel, tag)                                                                     \
    mz_channel_content_(mazurka_channel_receive ? mazurka_channel_receive((channel), (tag))                  \
                                                : mz_channel_take_((channel), (tag), 1))
#define mz_channel_try_receive(channel, tag, content)                                                        \
    mz_channel_content_of_(mazurka_channel_try_receive ? mazurka_channel_try_receive((channel), (tag))       \
                                                       : mz_channel_take_((channel), (tag), 0),              \
                           (content))

/* The allocation is in the code of the caller: its line is the name of the channel in reports. */
#define mz_channel_create() mz_channel_open_(calloc(1, sizeof(mz_channel)))
static inline mz_channel *mz_channel_open_(void *memory)
{
    mz_channel *c = (mz_channel *)memory;
    if (!c) abort();
    if (mazurka_channel_open) {
        mazurka_channel_open(c);
    } else {
        pthread_mutex_init(&c->lock, NULL);
        pthread_cond_init(&c->there_is_one, NULL);
    }
    return c;
}

static inline void mz_channel_destroy(mz_channel *c)
{
    if (mazurka_channel_close) {
        mazurka_channel_close(c);
    } else {
        pthread_mutex_destroy(&c->lock);
        pthread_cond_destroy(&c->there_is_one);
    }
    for (int tag = 0; tag < MZ_CHANNEL_TAGS; tag++) {
        struct mz_channel_message *m = c->first[tag];
        while (m) {
            struct mz_channel_message *next = m->next;
            free(m);
            m = next;
        }
    }
    free(c);
}

static inline struct mz_channel_message *mz_channel_message_(uint64_t content)
{
    struct mz_channel_message *m = (struct mz_channel_message *)malloc(sizeof *m);
    if (!m) abort();
    m->next = NULL;
    m->content = content;
    return m;
}

static inline uint64_t mz_channel_content_(struct mz_channel_message *m)
{
    uint64_t content = m->content;
    free(m);
    return content;
}

static inline int mz_channel_content_of_(struct mz_channel_message *m, uint64_t *content)
{
    if (!m) return 0;
    *content = mz_channel_content_(m);
    return 1;
}

static inline void mz_channel_put_(mz_channel *c, unsigned tag, struct mz_channel_message *m)
{
    pthread_mutex_lock(&c->lock);
    if (c->last[tag])
        c->last[tag]->next = m;
    else
        c->first[tag] = m;
    c->last[tag] = m;
    pthread_cond_signal(&c->there_is_one);
    pthread_mutex_unlock(&c->lock);
}

static inline struct mz_channel_message *mz_channel_take_(mz_channel *c, unsigned tag, int waits)
{
    pthread_mutex_lock(&c->lock);
    while (waits && !c->first[tag]) pthread_cond_wait(&c->there_is_one, &c->lock);
    struct mz_channel_message *m = c->first[tag];
    if (m) c->first[tag] = m->next;
    if (m && !m->next) c->last[tag] = NULL;
    pthread_mutex_unlock(&c->lock);
    return m;
}

#ifdef __cplusplus
}
#endif

#endif
