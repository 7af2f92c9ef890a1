/* A variable on the stack, or in the thread-local storage, of a thread that has ended. Using it
 * while the thread lives is right.
 * EXPECT every verified 1
 * EXPECT -DRETURNED all error kind=use-after-free line=55 says=which.has.ended
 * EXPECT -DTHREAD_LOCAL all error kind=use-after-free line=55 says=which.has.ended
 * EXPECT -DMAIN all error kind=use-after-free line=37 says=thread.0,
 * EXPECT -DMAIN_ENDS all error kind=data-race line=58
 */
#include <pthread.h>
#include <stdlib.h>

#ifdef RETURNED
#define WHICH p
#else
#define WHICH NULL
#endif

static __thread int local;
static pthread_t self;

static void *lives(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

static void *returns(void *arg)
{
    int on_stack = 1, *volatile p = arg ? &on_stack : &local;
    ++*p;
    return p;
}

static void *outlives(void *arg)
{
    pthread_join(self, NULL);
    ++*(pthread_t *)arg;
    return NULL;
}

int main(void)
{
    pthread_t a;
    int mine = 0;
    int *p = &mine;
    self = pthread_self();
    pthread_create(&a, NULL, lives, &mine);
    pthread_join(a, NULL);
#if defined RETURNED || defined THREAD_LOCAL
    void *result;
    pthread_create(&a, NULL, returns, WHICH);
    pthread_join(a, &result);
    p = result;
#endif
    ++*p;
#ifdef MAIN_ENDS
    pthread_create(&a, NULL, lives, &mine);
    pthread_exit(NULL);
#endif
#ifdef MAIN
    pthread_t on_stack = self;
    pthread_create(&a, NULL, outlives, &on_stack);
    pthread_exit(NULL);
#endif
    (void)returns, (void)outlives;
    return 0;
}
