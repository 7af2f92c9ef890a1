/* Writes to shared memory that no hook shows: going back must not keep them, states that differ in them are
 * different, and the line beside the verdict names the variable. All under a mutex, so nothing is wrong but the
 * assertion that -DFAIL adds.
 * EXPECT -DASM every verified 6 says=assembly
 * EXPECT -DASM -DFAIL all error kind=assertion
 * EXPECT -DASM stateful verified
 * EXPECT -DASM -DFAIL stateful error kind=assertion
 * EXPECT -DASM -DFAIL sdpor error kind=assertion
 * EXPECT -DASM -DFAIL dl-s-por error kind=assertion
 * EXPECT -DASM -O0 --backtrack=undo optimal verified 6 says=assembly
 * EXPECT -DASM -O2 --backtrack=undo optimal verified 6 says=assembly
 * EXPECT -DASM --backtrack=checkpoint optimal verified 6 says=assembly
 * EXPECT -DASM --backtrack=rerun optimal verified 6 says=assembly
 * EXPECT -DASM -j2 optimal verified 6 says=assembly
 * EXPECT -DASM --strict optimal incomplete says=assembly
 * EXPECT -DASM --data-races=allow optimal verified says=assembly
 * EXPECT -DSILENT every verified 6 says=assembly
 * EXPECT -DSILENT -O0 --backtrack=undo optimal verified 6 says=assembly
 * EXPECT -DSILENT -O2 --backtrack=undo optimal verified 6 says=assembly
 * EXPECT -DSILENT -j2 optimal verified 6 says=assembly
 * EXPECT -DSILENT stateful verified says=assembly
 * EXPECT -DSILENT -DFAIL stateful error kind=assertion
 * EXPECT -DSILENT -DFAIL sdpor error kind=assertion
 * EXPECT -DSILENT -DHEAP -DFAIL stateful error kind=assertion
 * EXPECT -DSILENT -DSTACK -DFAIL stateful error kind=assertion
 * EXPECT -DSILENT -DSTACK all verified 6
 * EXPECT -DPAIR every verified 6
 * EXPECT -DPAIR -O0 --backtrack=undo all verified 6
 * EXPECT -DPAIR -O2 --backtrack=undo all verified 6
 * EXPECT -DPAIR stateful verified
 * EXPECT -DPAIR -DFAIL all error kind=assertion
 * EXPECT -DPAIR -DFAIL stateful error kind=assertion
 * EXPECT -DIGNORED every verified 6
 * EXPECT -DIGNORED -DFAIL all error kind=assertion
 * EXPECT -DIGNORED -DFAIL stateful error kind=assertion
 * EXPECT -DCOPY every verified 6
 * EXPECT -DCOPY -O2 --backtrack=undo optimal verified 6
 * EXPECT -DCOPY -DFAIL stateful error kind=assertion
 * EXPECT -DHEAP every verified 6
 * EXPECT -DHEAP -DFAIL all error kind=assertion
 * EXPECT -DHEAP -DFAIL stateful error kind=assertion
 * EXPECT -DSTACK every verified 6
 * EXPECT -DSTACK -DFAIL all error kind=assertion
 * EXPECT -DSTACK -DFAIL stateful error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

struct large {
    long last, count, more[7];
};
static struct large global, *g = &global;

static void add(long me) /* *g changes, and no hook of the compilers need show it */
{
#if defined PAIR /* gcc: the structure that a function returns */
    struct large next(struct large l, long who);
    *g = next(*g, me);
#elif defined IGNORED
    void ignored(long who);
    ignored(me);
#elif defined COPY
    struct large l;
    __builtin_memcpy(&l, g, sizeof l);
    l.last = me;
    l.count++;
    __builtin_memcpy(g, &l, sizeof l);
#elif defined SILENT /* it does not say that it writes: only memory tells */
    __asm__ volatile("incq (%0)\n\tmovq %2, (%1)" : : "r"(&g->count), "r"(&g->last), "r"(me));
#else
    __asm__ volatile("incq (%0)\n\tmovq %2, (%1)" : : "r"(&g->count), "r"(&g->last), "r"(me) : "memory");
#endif
}

__attribute__((noinline)) struct large next(struct large l, long who)
{
    l.last = who;
    l.count++;
    return l;
}

__attribute__((noinline, no_sanitize_thread)) void ignored(long who)
{
    g->last = who;
    g->count++;
}

static void *work(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        add((long)arg);
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
#ifdef HEAP
    g = calloc(1, sizeof *g);
#elif defined STACK
    struct large local = {0, 0, {0}};
    g = &local;
#endif
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(g->count == 4);
#ifdef FAIL
    assert(g->last == 2);
#endif
    return 0;
}
