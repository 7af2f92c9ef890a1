#include <pthread.h>
_Atomic int variable;
int plain;
void *work(void *a)
{
    variable++;
    plain++;
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return 0;
}
