#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
static atomic_int n;
static void *add(void *p)
{
    for (int i = 0; i < 3; i++) n++;
    return p;
}
int main(void)
{
    char line[64];
    pthread_t t[3];
    assert(fgets(line, sizeof line, stdin));
    assert(!strcmp(line, "second\n"));
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(n == SUM);
    return 0;
}
