/* Large variables of threads, and questions to the kernel about a thread by its number.
 *
 * EXPECT every verified 2
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread char large[3 << 20];
static __thread int own = 7;
static _Atomic int count;

static void *thread(void *arg)
{
    cpu_set_t set;
    struct sched_param param;
    int policy;
    (void)arg;
    large[0] = large[sizeof large - 1] = 1;
    assert(own == 7);
    own = 8;
    count++;
    assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    errno = 0;
    assert(getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)) >= -20 && errno == 0);
    assert(pthread_getschedparam(pthread_self(), &policy, &param) == 0 && policy == SCHED_OTHER);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    cpu_set_t set;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    assert(pthread_getaffinity_np(a, sizeof set, &set) == 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(own == 7 && large[0] == 0 && count == 2);
    return 0;
}
