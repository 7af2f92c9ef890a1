/* A second thread that touches nothing is a second thread.
 * EXPECT every verified 1
 */
#include <pthread.h>

static void *work(void *arg) { return arg; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
