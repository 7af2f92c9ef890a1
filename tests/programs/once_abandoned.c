/* The thread that runs the function of pthread_once ends in it, cancelled or by pthread_exit: then the
 * next caller runs it, as POSIX says of cancellation. Also of the outer one, where two are nested, and
 * when an outer cleanup handler of the same thread calls it again: before or after the other thread does,
 * so one class more. A handler of the outer function may run the inner one again, the outer one still
 * being under way (-DBETWEEN).
 * EXPECT -DEXIT every verified 2
 * EXPECT -DCANCEL every verified 2
 * EXPECT -DEXIT -DNESTED every verified 2
 * EXPECT -DCANCEL -DNESTED every verified 2
 * EXPECT -DEXIT -DNESTED -DBETWEEN every verified 2
 * EXPECT -DCANCEL -DNESTED -DBETWEEN every verified 2
 * EXPECT -DEXIT -DNESTED -DBETWEEN -fexceptions every verified 2
 * EXPECT -DCANCEL -DNESTED -DIN_HANDLER every verified 3
 * EXPECT -DEXIT -DIN_HANDLER every verified 3
 */
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int begun, done, handled, again;
static pthread_key_t fails;

static void innermost(void)
{
    if (!pthread_getspecific(fails)) return;
#ifdef CANCEL
    pthread_cancel(pthread_self());
    pthread_testcancel();
#else
    pthread_exit(NULL);
#endif
    assert(0);
}

static void between(void *arg)
{
    (void)arg;
    pthread_setspecific(fails, NULL);
    pthread_once(&inner, innermost);
    pthread_setspecific(fails, &fails);
    again++;
}

static void first(void)
{
    begun++;
#if defined NESTED && defined BETWEEN
    pthread_cleanup_push(between, NULL);
    pthread_once(&inner, innermost);
    pthread_cleanup_pop(0);
#elif defined NESTED
    (void)between;
    pthread_once(&inner, innermost);
#else
    (void)between;
    innermost();
#endif
    done++;
}

static void handler(void *arg)
{
    (void)arg;
    handled = 1;
#ifdef IN_HANDLER
    pthread_setspecific(fails, NULL);
    pthread_once(&once, first);
    assert(done == 1);
#endif
}

static void *ends(void *arg)
{
    pthread_setspecific(fails, &fails);
    pthread_cleanup_push(handler, NULL);
    pthread_once(&once, first);
    pthread_cleanup_pop(0);
    return arg;
}

static void *works(void *arg)
{
    pthread_once(&once, first);
    assert(done == 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&fails, NULL);
    pthread_create(&a, NULL, ends, NULL);
    pthread_create(&b, NULL, works, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(done == 1 && (begun == 2) == handled);
#ifdef BETWEEN
    assert(again == handled);
#endif
    (void)inner;
    return 0;
}
