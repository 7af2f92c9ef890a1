/* Inside of sigqueue libc uses the frame pointer for something else: the stateful algorithms must not follow it.
 * With -DPROCESS the signal goes to the process, and either thread may take it.
 * EXPECT all verified
 * EXPECT -DPROCESS all verified
 * EXPECT -DPROCESS -DWHO all error kind=assertion
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t value;
static pthread_t first;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    value = info->si_value.sival_int;
#ifdef WHO
    assert(pthread_equal(pthread_self(), first));
#endif
}

static void *nothing(void *arg) { return arg; }

int main(void)
{
    const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    const union sigval seven = {.sival_int = 7};
    pthread_t t;
    first = pthread_self();
    sigaction(SIGRTMIN, &action, NULL);
    pthread_create(&t, NULL, nothing, NULL);
#ifdef PROCESS
    sigqueue(getpid(), SIGRTMIN, seven);
#else
    pthread_sigqueue(t, SIGRTMIN, seven);
#endif
    pthread_join(t, NULL);
    assert(value == 0 || value == 7);
    return 0;
}
