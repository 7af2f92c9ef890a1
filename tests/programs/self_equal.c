/* pthread_self and pthread_equal: every thread is itself and nobody else.
 * EXPECT every verified 1
 */
#include <assert.h>
#include <pthread.h>

static pthread_t main_thread;

static void *work(void *arg)
{
    pthread_t *me = arg;
    *me = pthread_self();
    assert(pthread_equal(*me, pthread_self()));
    assert(!pthread_equal(*me, main_thread));
    return NULL;
}

int main(void)
{
    pthread_t a, b, self_a, self_b;
    main_thread = pthread_self();
    pthread_create(&a, NULL, work, &self_a);
    pthread_create(&b, NULL, work, &self_b);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(pthread_equal(a, self_a) && pthread_equal(b, self_b) && !pthread_equal(a, b));
    return 0;
}
