/* A block is freed while another thread uses it, and nothing orders the two: whichever comes first,
 * it is wrong.
 * EXPECT -DUSE_FIRST all error kind=data-race line=20
 * EXPECT -DFREE_FIRST all error kind=use-after-free line=26
 * EXPECT every verified 1
 */
#include <pthread.h>
#include <stdlib.h>

static int *p;

static void *user(void *arg)
{
    ++*p;
    return arg;
}

static void *owner(void *arg)
{
    free(p);
    return arg;
}

static void *late_user(void *arg)
{
    ++*p;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    p = calloc(1, sizeof *p);
#ifdef FREE_FIRST
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, late_user, NULL);
#else
    pthread_create(&a, NULL, user, NULL);
#ifndef USE_FIRST
    pthread_join(a, NULL);
#endif
    pthread_create(&b, NULL, owner, NULL);
#endif
#if defined USE_FIRST || defined FREE_FIRST
    pthread_join(a, NULL);
#endif
    pthread_join(b, NULL);
    (void)late_user;
    (void)user;
    return 0;
}
