/* A struct copied as a whole while another thread writes one of its fields.
 * EXPECT all error kind=data-race
 * EXPECT -DLOCKED every verified 2
 */
#include <pthread.h>

struct big {
    long a, b, c, d, e;
    char tail[13];
};
struct big from, to;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *copier(void *arg)
{
    pthread_mutex_lock(&m);
    to = from;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *writer(void *arg)
{
#ifdef LOCKED
    pthread_mutex_lock(&m);
#endif
    from.tail[12] = 1;
#ifdef LOCKED
    pthread_mutex_unlock(&m);
#endif
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, copier, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
