/* Copies of a length that the compiler cannot know, under a mutex and without.
 * EXPECT all error kind=data-race
 * EXPECT -DLOCKED every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char shared[64] = "initial";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile size_t length = 20;

static void *writer(void *arg)
{
    char text[64] = "written by the other";
    pthread_mutex_lock(&m);
    memcpy(shared, text, length);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *reader(void *arg)
{
    char copy[64];
#ifdef LOCKED
    pthread_mutex_lock(&m);
#endif
    memmove(copy, shared, length);
#ifdef LOCKED
    pthread_mutex_unlock(&m);
#endif
    assert(copy[0] == 'i' || copy[0] == 'w');
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
