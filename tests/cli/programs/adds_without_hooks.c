#include <assert.h>
#include <pthread.h>
extern long shared;
void add(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *a)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        add();
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(shared == 4);
    return 0;
}
