/* Functions of libc write through pointers, also to a variable on a stack that another thread uses: each of these
 * calls is a data race with the reader. sigwait writes after it has waited: what was ordered by the signal is none.
 * A loop that writes to memory of others by such a call waits, but changes something (-DLOOP).
 * EXPECT -DTYPE=int -DCALL=sigwait(&set,&v->at) all error kind=data-race
 * EXPECT -DTYPE=siginfo_t -DCALL=sigwaitinfo(&set,&v->at) all error kind=data-race
 * EXPECT -DTYPE=sigset_t -DCALL=sigpending(&v->at) all error kind=data-race
 * EXPECT -DTYPE=sigset_t -DCALL=sigemptyset(&v->at) all error kind=data-race
 * EXPECT -DTYPE=sigset_t -DCALL=pthread_sigmask(SIG_BLOCK,0,&v->at) all error kind=data-race
 * EXPECT -DTYPE=action_type -DCALL=sigaction(SIGUSR2,0,&v->at) all error kind=data-race
 * EXPECT -DTYPE=int -DCALL=pthread_attr_getdetachstate(&attr,&v->at) all error kind=data-race
 * EXPECT -DTYPE=pthread_mutexattr_t -DCALL=pthread_mutexattr_init(&v->at) all error kind=data-race
 * EXPECT -DTYPE=poll_type -DCALL=poll(&v->at,1,0) all error kind=data-race
 * EXPECT -DTYPE=timeval_type -DCALL=select(0,0,0,0,&v->at) all error kind=data-race
 * EXPECT -DTYPE=stat_type -DCALL=fstat(0,&v->at) all error kind=data-race
 * EXPECT -DTYPE=tm_type -DCALL=gmtime_r(&noon,&v->at) all error kind=data-race
 * EXPECT -DTYPE=unsigned -DCALL=rand_r(&v->at) all error kind=data-race
 * EXPECT -DTYPE=double -DCALL=(int)modf(half,&v->at) -lm all error kind=data-race
 * EXPECT -DTYPE=int -DCALL=(qsort(&v->at,2,2,compare),0) all error kind=data-race
 * EXPECT -DTYPE=int -DCALL=sscanf("12","%d",&v->at) all error kind=data-race
 * EXPECT -DTYPE=word_type -DCALL=sscanf("12ab","%*d%2s",v->at) all error kind=data-race
 * EXPECT -DTYPE=int -DCALL=(int)readv(zeros,parts,1) all error kind=data-race
 * EXPECT -DSTATIC -DTYPE=int -DCALL=sigwait(&set,&v->at) all error kind=data-race
 * EXPECT -DSTATIC -DTYPE=int -DCALL=pthread_attr_getdetachstate(&attr,&v->at) all error kind=data-race
 * EXPECT -DSIGNAL -DTYPE=int -DCALL=sigwait(&set,&v->at) optimal verified
 * EXPECT -DLOOP -DTYPE=int -DCALL=pthread_attr_getdetachstate(&attr,&v->at) all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

typedef struct sigaction action_type;
typedef struct pollfd poll_type;
typedef struct timeval timeval_type;
typedef struct stat stat_type;
typedef struct tm tm_type;
typedef char word_type[8];

struct variable {
    TYPE at;
};

static sigset_t set;
static pthread_t waiter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;
#ifdef STATIC
static struct variable variable;
#endif

static int first_byte(const struct variable *v)
{
    const volatile char *p = (const volatile char *)v;
    pthread_mutex_lock(&m);
    int found = *p;
    pthread_mutex_unlock(&m);
    return found;
}

static void *reader(void *variable_)
{
#ifdef LOOP
    int a = first_byte(variable_), b = first_byte(variable_), c = first_byte(variable_);
    assert(!(a == 1 && b == 0 && c == 1));
    done = 1;
#else
    first_byte(variable_);
#endif
#ifdef SIGNAL
    pthread_kill(waiter, SIGUSR1);
#endif
    return NULL;
}

static int compare(const void *a, const void *b) { return *(const short *)a - *(const short *)b; }

static void call(struct variable *v)
{
    pthread_attr_t attr;
    const time_t noon = 43200;
    volatile double half = 0.5;
    int zeros = open("/dev/zero", O_RDONLY);
    struct iovec parts[] = {{v, 1}};
    (void)half, (void)noon, (void)zeros, (void)parts, (void)compare;
    pthread_attr_init(&attr);
#ifdef LOOP
    for (int i = 0; !done; i = !i) {
        pthread_attr_setdetachstate(&attr, i);
        pthread_mutex_lock(&m);
        CALL;
        pthread_mutex_unlock(&m);
    }
#else
    volatile int result = CALL;
    (void)result;
#endif
}

int main(void)
{
    pthread_t t;
#ifndef STATIC
    struct variable variable;
    memset(&variable, 0, sizeof variable);
#endif
    waiter = pthread_self();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#ifndef SIGNAL
    raise(SIGUSR1);
#endif
    pthread_create(&t, NULL, reader, &variable);
    call(&variable);
    pthread_join(t, NULL);
    return 0;
}
