/* What may block in the kernel is a cancellation point: a thread that has been cancelled when it calls does
 * not come back from it, whether or not it would have blocked. With one such call it comes before the cancel
 * or after it: 2. Its cleanup handler runs, the call is not made. What only looks (lseek, fcntl of flags) is
 * none, nor is stdio: 1.
 * EXPECT -DPOINT=(void)!write(fd,"x",1) every verified 2
 * EXPECT -DPOINT=(void)!read(fd,b,1) every verified 2
 * EXPECT -DPOINT=(void)!pwrite(fd,"x",1,0) every verified 2
 * EXPECT -DPOINT=(void)!pread(fd,b,1,0) every verified 2
 * EXPECT -DPOINT=(void)!writev(fd,&v,1) every verified 2
 * EXPECT -DPOINT=(void)!readv(fd,&v,1) every verified 2
 * EXPECT -DPOINT=open("/dev/null",O_RDONLY) every verified 2
 * EXPECT -DPOINT=open("/dev/null",O_RDONLY) -D_FILE_OFFSET_BITS=64 every verified 2
 * EXPECT -DPOINT=openat(AT_FDCWD,"/dev/null",O_RDONLY) every verified 2
 * EXPECT -DPOINT=close(99) every verified 2
 * EXPECT -DPOINT=fsync(99) every verified 2
 * EXPECT -DPOINT=fdatasync(99) every verified 2
 * EXPECT -DPOINT=fcntl(fd,F_SETLKW,&l) every verified 2
 * EXPECT -DPOINT=poll(&p,1,0) every verified 2
 * EXPECT -DPOINT=select(0,0,0,0,&zero) every verified 2
 * EXPECT -DPOINT=pselect(0,0,0,0,&none,0) every verified 2
 * EXPECT -DPOINT=recv(99,b,1,0) every verified 2
 * EXPECT -DPOINT=send(99,b,1,0) every verified 2
 * EXPECT -DPOINT=recvfrom(99,b,1,0,0,0) every verified 2
 * EXPECT -DPOINT=sendto(99,b,1,0,0,0) every verified 2
 * EXPECT -DPOINT=accept(99,0,0) every verified 2
 * EXPECT -DPOINT=connect(99,0,0) every verified 2
 * EXPECT -DPOINT=sigtimedwait(&set,0,&none) every verified 2
 * EXPECT -DPOINT=nanosleep(&none,0) every verified 2
 * EXPECT -DPOINT=clock_nanosleep(CLOCK_MONOTONIC,0,&none,0) every verified 2
 * EXPECT -DPOINT=sem_timedwait(&sem,&none) every verified 2
 * EXPECT -DPOINT=lseek(fd,0,SEEK_SET) every verified 1
 * EXPECT -DPOINT=fcntl(fd,F_GETFL) every verified 1
 * EXPECT -DPOINT=dprintf(fd,"x") every verified 1
 * EXPECT -DPOINT=close(99) -DALWAYS all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int fd, passed, handled;

static void handle(void *arg) { handled = arg != NULL; }

static void *work(void *arg)
{
    char b[2] = "x";
    struct iovec v = {b, 1};
    struct pollfd p = {fd, POLLIN, 0};
    struct timespec none = {0, 0};
    struct timeval zero = {0, 0};
    struct flock l = {.l_type = F_UNLCK};
    sigset_t set;
    sem_t sem;
    (void)v, (void)p, (void)none, (void)zero, (void)l;
    sem_init(&sem, 0, 1);
    sigemptyset(&set);
    pthread_cleanup_push(handle, b);
    POINT;
    passed = 1;
    pthread_cleanup_pop(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    void *result;
    fd = open("/dev/null", O_RDWR);
    pthread_create(&t, NULL, work, NULL);
    pthread_cancel(t);
    pthread_join(t, &result);
    assert(passed ? !result && !handled : result == PTHREAD_CANCELED && handled);
#ifdef ALWAYS
    assert(!passed);
#endif
    return 0;
}
