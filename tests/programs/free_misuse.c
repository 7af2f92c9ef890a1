/* Blocks freed twice, and things freed that are no blocks.
 * EXPECT every verified 2
 * EXPECT -DTWICE all error kind=double-free line=31
 * EXPECT -DINSIDE all error kind=invalid-free line=34
 * EXPECT -DSTACK all error kind=invalid-free line=38
 * EXPECT -DGLOBAL all error kind=invalid-free line=41
 * EXPECT -DBOTH all error kind=double-free line=25
 * EXPECT -DREALLOC all error kind=double-free line=44
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *shared, global[4];
static int freed;

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
#ifdef BOTH
    freed = 0;
#endif
    int mine = !freed;
    freed = 1;
    if (mine) free(shared);
    pthread_mutex_unlock(&m);
    int *volatile p = malloc(40);
    p[9] = 1;
#ifdef TWICE
    free(p);
    free(p);
#endif
#ifdef INSIDE
    free(p + 4);
#endif
#ifdef STACK
    int local[4];
    free(arg ? arg : (void *)(((unsigned long)local + 15) & ~15ul));
#endif
#ifdef GLOBAL
    free(global);
#endif
#ifdef REALLOC
    free(p), p = realloc(p, 80);
#endif
    free(p);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    shared = malloc(sizeof *shared);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return global[0];
}
