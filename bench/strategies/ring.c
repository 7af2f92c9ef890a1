/* N threads take two of N locks in a ring: a deadlock needs all of them between their two locks. Depth N. */
#include "bugs.h"

static pthread_mutex_t locks[N];

static void *work(void *arg)
{
    int i = (int)(intptr_t)arg;
    pthread_mutex_lock(&locks[i]);
    pthread_mutex_lock(&locks[(i + 1) % N]);
    pthread_mutex_unlock(&locks[(i + 1) % N]);
    pthread_mutex_unlock(&locks[i]);
    return arg;
}

int main(void)
{
    for (int i = 0; i < N; i++) pthread_mutex_init(&locks[i], 0);
    run(N, work);
    return 0;
}
