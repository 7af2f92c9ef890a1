#include <assert.h>
#include <pthread.h>
extern int answer(void);
static void *w(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    assert(answer() == 1);
    return 0;
}
