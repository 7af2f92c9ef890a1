/* printf and sprintf in several threads, with floating point and much output: kept out of the report.
 * EXPECT every verified 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    char text[64];
    int n = atomic_fetch_add(&x, 1);
    snprintf(text, sizeof text, "%d %.3f %s", n, 1.5 * n, "word");
    assert(strstr(text, "word"));
    for (int i = 0; i < 50; i++) printf("line %d of a thread: %s\n", i, text);
    fflush(stdout);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
