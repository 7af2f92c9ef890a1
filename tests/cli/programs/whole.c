#include <assert.h>
#include <math.h>
#include <pthread.h>
#include "part.h"
int main(int argc, char **argv)
{
    pthread_t t, u;
    (void)argv;
    pthread_create(&t, 0, worker, 0);
    pthread_create(&u, 0, worker, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(shared == 2 || sin(argc) > 2);
    return 0;
}
