#include <pthread.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <signal.h>
extern int __VERIFIER_nondet_int(void);
static _Atomic int x;
static void catch(int number) { (void)number; }
static void *w(void *a)
{
    x++;
    return a;
}
int main(void)
{
    pthread_t t;
    int fd = open("mapped", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) == 0) mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    signal(SIGSEGV, catch);
    pthread_create(&t, NULL, w, NULL);
    x += __VERIFIER_nondet_int();
    return 0;
}
