#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static int (*next)(void);
static void *w(void *a) { assert(next() == 1); atomic_fetch_add(&n, 1); assert(next() == 2); return a; }
int main(void)
{
    pthread_t t;
    void *library = dlopen("./plug.so", RTLD_NOW);
    assert(library);
    next = (int (*)(void))dlsym(library, "next");
    assert(next() == 1);
    pthread_create(&t, 0, w, 0);
    atomic_fetch_add(&n, 1);
    pthread_join(t, 0);
    return 0;
}
