/* What is left below the stack pointer by a call is found by a library function in its frame, of which nothing
 * is known: it must not tell states apart, whichever way they are compared (tests/cli/run.sh: state_match).
 *
 * EXPECT -O0 stateful verified
 * EXPECT -O0 --state-match=exact stateful verified
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x[2];
static unsigned seen[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int of_all(int n, ...)
{
    va_list a;
    int sum = 0;
    va_start(a, n);
    while (n--) sum = sum * 5 + va_arg(a, int) + atomic_load(&x[n & 1]);
    va_end(a);
    return sum;
}

static int by_size(const void *a, const void *b)
{
    atomic_load(&x[0]);
    return *(const int *)a - *(const int *)b;
}

static void *sort(void *arg)
{
    int r = pthread_mutex_trylock(&m);
    if (!r) {
        seen[0] = (unsigned)of_all(3, atomic_load(&x[1]), 0, 0);
        pthread_mutex_unlock(&m);
    }
    r = pthread_mutex_trylock(&m);
    if (!r) {
        int v[3] = {atomic_load(&x[1]), 1, atomic_load(&x[0])};
        qsort(v, 3, sizeof *v, by_size);
        seen[0] = seen[0] * 31 + (unsigned)v[1];
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *other(void *arg)
{
    seen[1] = (unsigned)of_all(3, atomic_load(&x[1]), 1, 1);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, sort, NULL);
    pthread_create(&t[1], NULL, other, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
