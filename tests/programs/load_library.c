/* A library that is loaded in an execution is loaded anew in the next one, with its first contents.
 * The stateful algorithms do not support it, and say so: search=stateless.
 * EXPECT every verified 2 search=stateless
 * EXPECT -DBROKEN all error kind=assertion search=stateless
 * EXPECT -DCLOSE every verified 2 search=stateless
 */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t a;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    assert(library);
    int *sign = dlsym(library, "signgam");
    double (*gamma)(double) = (double (*)(double))dlsym(library, "lgamma");
    assert(sign && gamma && *sign == 0);
    *sign = 5;
    assert(gamma(-0.5) > 1 && *sign == -1);
    pthread_create(&a, NULL, work, NULL);
    atomic_fetch_add(&x, 1);
    pthread_join(a, NULL);
#ifdef BROKEN
    assert(*sign == 1);
#endif
#ifdef CLOSE
    assert(dlclose(library) == 0);
#endif
    return 0;
}
