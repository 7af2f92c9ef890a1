#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static atomic_int n;
static void *w(void *a) { n++; return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    n++;
    pthread_join(t, 0);
    assert(argc == 3 && !strcmp(argv[1], "-x y") && !strcmp(argv[2], "--json"));
    assert(N == 4);
    return 0;
}
