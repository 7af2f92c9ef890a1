/* Calls that wait for time to pass do so on the virtual clock: each of these would take an hour. Two threads
 * sleep at the same time, so one hour has passed at the end. Calls that could only wait for ever are a deadlock
 * (FOREVER), or are noticed; io_uring is not there, as in a kernel without it.
 * EXPECT -DCALL=1 optimal verified
 * EXPECT -DCALL=1 stateful verified
 * EXPECT -DCALL=2 optimal verified
 * EXPECT -DCALL=3 optimal verified
 * EXPECT -DCALL=4 optimal verified
 * EXPECT -DCALL=5 optimal verified
 * EXPECT -DCALL=6 optimal verified
 * EXPECT -DCALL=7 optimal verified
 * EXPECT -DCALL=8 optimal verified
 * EXPECT -DCALL=9 optimal verified
 * EXPECT -DCALL=10 optimal verified
 * EXPECT -DCALL=11 optimal verified
 * EXPECT -DCALL=12 optimal verified
 * EXPECT -DCALL=13 optimal verified
 * EXPECT -DCALL=14 optimal verified
 * EXPECT -DCALL=15 optimal verified
 * EXPECT -DCALL=16 optimal verified
 * EXPECT -DFOREVER=1 all error kind=deadlock
 * EXPECT -DFOREVER=2 all error kind=deadlock
 * EXPECT -DFOREVER=3 all error kind=deadlock
 * EXPECT -DFOREVER=4 all error kind=deadlock
 * EXPECT -DREADY optimal verified
 * EXPECT -DRING optimal verified
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600
#ifndef CALL
#define CALL 1
#endif

static int quiet[2]; /* a pipe that nobody writes to */

static void call(void)
{
    struct pollfd fd = {quiet[0], POLLIN, 0};
    struct timespec hour = {HOUR, 0};
    struct timeval hour_v = {HOUR, 0};
    struct epoll_event event;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(quiet[0], &set);
    int r = 0;
    (void)fd, (void)hour_v, (void)event;
#if CALL == 1
    r = poll(NULL, 0, HOUR * 1000);
#elif CALL == 2
    r = poll(&fd, 1, HOUR * 1000);
#elif CALL == 3
    r = ppoll(NULL, 0, &hour, NULL);
#elif CALL == 4
    r = ppoll(&fd, 1, &hour, NULL);
#elif CALL == 5
    r = select(0, NULL, NULL, NULL, &hour_v);
#elif CALL == 6
    r = select(quiet[0] + 1, &set, NULL, NULL, &hour_v);
    assert(!FD_ISSET(quiet[0], &set));
#elif CALL == 7
    r = pselect(0, NULL, NULL, NULL, &hour, NULL);
#elif CALL == 8
    r = pselect(quiet[0] + 1, &set, NULL, NULL, &hour, NULL);
#elif CALL == 9
    int e = epoll_create1(0);
    r = epoll_wait(e, &event, 1, HOUR * 1000);
#elif CALL == 10
    int e = epoll_create1(0);
    r = epoll_pwait(e, &event, 1, HOUR * 1000, NULL);
#elif CALL == 11
    r = nanosleep(&hour, NULL);
#elif CALL == 12
    r = clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
#elif CALL == 13
    r = (int)sleep(HOUR);
#elif CALL == 14
    r = (int)syscall(SYS_nanosleep, &hour, NULL);
#elif CALL == 15
    sigset_t signals;
    sigemptyset(&signals);
    r = sigtimedwait(&signals, NULL, &hour) + 1;
#elif CALL == 16
    sem_t s;
    sem_init(&s, 0, 0);
    clock_gettime(CLOCK_REALTIME, &hour);
    hour.tv_sec += HOUR;
    r = sem_timedwait(&s, &hour) + 1;
#endif
    assert(r == 0);
}

static void wait_forever(int how)
{
    sigset_t none;
    sigemptyset(&none);
    if (how == 1) poll(NULL, 0, -1);
    if (how == 2) select(0, NULL, NULL, NULL, NULL);
    if (how == 3) pause();
    if (how == 4) sigsuspend(&none);
}

static void *thread(void *unused)
{
#ifdef FOREVER
    wait_forever(FOREVER);
#else
    call();
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert(!pipe(quiet));
#ifdef RING
    assert(syscall(SYS_io_uring_setup, 8, NULL) == -1 && errno == ENOSYS);
#endif
#ifdef READY
    struct pollfd fd = {quiet[1], POLLOUT, 0};
    assert(poll(&fd, 1, -1) == 1 && fd.revents == POLLOUT);
#endif
    pthread_create(&t, NULL, thread, NULL);
#if !defined FOREVER && CALL == 1
    call();
#endif
    pthread_join(t, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec - before.tv_sec >= HOUR && after.tv_sec - before.tv_sec <= 2 * HOUR);
    (void)wait_forever;
    return 0;
}
