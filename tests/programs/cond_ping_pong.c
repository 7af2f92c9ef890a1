/* Two threads take turns: one order only, but several ways to get there.
 * EXPECT every verified 8
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn, moves;
static int id[2] = {0, 1};

static void *player(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        while (turn != me) pthread_cond_wait(&c, &m);
        assert(moves % 2 == me);
        moves++;
        turn = 1 - me;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, player, &id[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(moves == 4);
    return 0;
}
