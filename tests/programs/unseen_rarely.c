/* A write that no hook shows, of assembly that does not say that it writes. It happens in few executions only, late in
 * the search: none of the executions that are audited from node to node has it. What it leaves behind is found before
 * the program starts again (tests/cli/unseen.sh, where nothing else says so).
 * EXPECT optimal verified 924 says=assembly
 * EXPECT --backtrack=undo optimal verified 924 says=assembly
 * EXPECT --backtrack=undo source verified 924 says=assembly
 */
#include <assert.h>
#include <pthread.h>

#define N 6

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int last, changes;
static long marks;

static void *work(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        changes += last != me;
        last = me;
        if (changes == 2 * N - 1) __asm__ volatile("incq (%0)" : : "r"(&marks));
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int names[2] = {1, 2};
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &names[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
#ifdef CHECK /* if it is not taken back, the search comes to an error that no replay shows: tests/cli */
    assert(marks <= 2);
#endif
    return 0;
}
