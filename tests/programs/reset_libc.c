/* The C library has state too: it goes back with the rest.
 * EXPECT every verified 6
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

static void at_end(void) { putchar('.'); }

int main(void)
{
    pthread_t t[3];
    static char text[] = "a,b,c";
    char *piece;
    assert(errno == 0);
    assert(getenv("MZ_TEST_VARIABLE") == NULL);
    setenv("MZ_TEST_VARIABLE", "set", 1);
    assert(strcmp(getenv("MZ_TEST_VARIABLE"), "set") == 0);
    assert(strtok(text, ",") && (piece = strtok(NULL, ",")) && piece[0] == 'b');
    int first = rand();
    srand(1);
    assert(first == rand());
    assert(random() >= 0 && drand48() >= 0);
    assert(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
    assert(atexit(at_end) == 0);
    printf("no newline at the end, so that it stays in the buffer");
    fprintf(stderr, "and something on standard error\n");
    errno = 7;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
