#include <pthread.h>
#include <stdlib.h>
void count(void);
int sum(int), twice(int);
static void *w(void *a) { count(); return (char *)a + sum(1) * 0 + twice(0); }
static void bye(void) {}
int main(void)
{
    pthread_t t[2];
    atexit(bye);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, w, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
