#include <pthread.h>
#include <stdatomic.h>
int x, y;
static atomic_int n;
static void *w(void *a)
{
    n++;
    x++;
    y++;
    return a;
}
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
