/* Arguments of the program come after --.
 * ARGS 3 word
 * EXPECT every verified 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int x;

static void *work(void *arg)
{
    atomic_fetch_add(&x, 1);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t[10];
    assert(argc == 3 && strcmp(argv[2], "word") == 0 && argv[3] == NULL);
    int n = atoi(argv[1]);
    for (int i = 0; i < n; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    assert(x == n);
    argv[2][0] = 'W'; /* ours to change; must be back next time */
    return 0;
}
