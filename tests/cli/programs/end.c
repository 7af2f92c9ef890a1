#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int n;
static void *w(void *a) { if (atomic_fetch_add(&n, 1) == 1) syscall(SYS_exit_group, 7); return a; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
