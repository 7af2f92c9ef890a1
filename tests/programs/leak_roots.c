/* What keeps a block from being a leak: a pointer into its middle, thread-local storage and stacks of
 * threads that have not ended, the result of a thread that nobody has joined, libc's own memory.
 * OPTIONS --leaks
 * EXPECT every verified
 * EXPECT -DRETURNED all error kind=leak says=main
 * EXPECT -DIN_ENDED_THREAD all error kind=leak says=0.1
 * BEHIND: clang at -O0 leaves a copy of the pointer to the block in its frame, so nothing is lost there.
 * EXPECT -DBEHIND all error kind=leak compiler=gcc
 * EXPECT -O2 -DBEHIND all error kind=leak
 * EXPECT -D_EXIT every verified
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
char *volatile inside;
static __thread char *volatile local;

static void *blocks(void *arg)
{
    char *volatile mine = malloc(10);
    local = malloc(20);
#ifndef IN_ENDED_THREAD
    pthread_mutex_lock(&never);
#endif
    return mine[0] ? arg : local;
}

static void *gives(void *arg)
{
    (void)arg;
    return strdup("result");
}

int main(void)
{
    pthread_t a, b;
    char *volatile mine = malloc(30);
    inside = (char *)malloc(40) + 39;
#ifdef BEHIND
    inside += 1;
#endif
    printf("a buffer of libc\n");
    pthread_mutex_lock(&never);
    pthread_create(&a, NULL, blocks, NULL);
    pthread_create(&b, NULL, gives, NULL);
    (void)mine;
#ifdef _EXIT
    _exit(0);
#endif
#ifdef RETURNED
    return 0;
#endif
    exit(0);
}
