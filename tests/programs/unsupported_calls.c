/* What comes from outside, later, or reaches beyond the process is refused by name.
 * EXPECT every verified 2
 * EXPECT -DWHAT=alarm(1) optimal failed says=alarm
 * EXPECT -DWHAT=kill(1,SIGTERM) optimal failed says=process
 * EXPECT -DWHAT=signalfd(-1,&set,0) optimal failed says=signalfd
 * EXPECT -DWHAT=timer_create(0,0,&timer) optimal failed says=timer_create
 * EXPECT -DWHAT=wait(0) optimal failed says=wait4
 * EXPECT -DWHAT=execl("/bin/true","true",(char*)0) optimal failed says=exec
 * EXPECT -DWHAT=syscall(SYS_clone,0,0,0,0,0) optimal failed says=clone
 * EXPECT -DWHAT=syscall(511) optimal failed says=511
 * EXPECT -DWHAT=syscall(100000) optimal failed says=100000
 * EXPECT -DWHAT=semget(1,1,0) optimal failed says=semget
 * EXPECT -DWHAT=shmget(1,1,0) optimal failed says=shmget
 * EXPECT -DWHAT=msgget(1,0) optimal failed says=msgget
 * EXPECT -DWHAT=munmap((void*)((long)&main&-4096),1) optimal failed says=munmap
 * EXPECT -DWHAT=makecontext(&context,0,0) optimal failed says=makecontext
 * EXPECT -DWHAT=mq_open("/q",0) optimal failed says=mq_open
 * EXPECT -DWHAT=shm_open("/s",0,0) optimal failed says=shm_open
 * EXPECT -DWHAT=aio_read(&request) optimal failed says=aio_read
 */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    sigset_t set;
    int number;
    timer_t timer;
    ucontext_t context;
    static struct aiocb request;
    sigfillset(&set);
    (void)number, (void)timer, (void)context, (void)request;
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
#ifdef WHAT
    (void)WHAT;
#endif
    pthread_join(a, NULL);
    return 0;
}
