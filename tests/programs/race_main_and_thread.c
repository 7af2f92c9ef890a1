/* main writes after it has created the thread that reads; and, in the right version, before.
 * EXPECT all error kind=data-race
 * EXPECT -DBEFORE every verified 1
 */
#include <pthread.h>

static int config;

static void *reader(void *arg) { return config == 7 ? arg : NULL; }

int main(void)
{
    pthread_t a;
#ifdef BEFORE
    config = 7;
#endif
    pthread_create(&a, NULL, reader, NULL);
#ifndef BEFORE
    config = 7;
#endif
    pthread_join(a, NULL);
    return 0;
}
