/* Three threads that call a data structure, for the clients of 2023, section 5.
 *
 * The calls are text: -DT1=a1,r2 -DT2=... -DT3=... for the threads, -DT0=... for the calls that main makes
 * before it creates the threads. A call is a letter and a digit; set_client.h and queue_client.h give them
 * their meaning. The program keeps the results of the calls of each thread, in their order. At the end main
 * checks them (check()).
 *
 * A structure is a program: one file that includes set_client.h or queue_client.h and defines the functions
 * declared there. No structure has a data race, not even with -DBUG. With -DBUG the structure is broken: no
 * order of the calls explains all their results and the final content of the structure. */
#ifndef CLIENT_H
#define CLIENT_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef T0
#define T0
#endif
#ifndef T1
#define T1
#endif
#ifndef T2
#define T2
#endif
#ifndef T3
#define T3
#endif

#define TEXT_(...) #__VA_ARGS__
#define TEXT(...)  TEXT_(__VA_ARGS__)
#define THREADS    3
#define MOST       5 /* most calls of a thread */

static const char calls[1 + THREADS][3 * MOST + 1] = {TEXT(T0), TEXT(T1), TEXT(T2), TEXT(T3)};
static int results[1 + THREADS][MOST];

static void setup(void);
static int call(char operation, int digit, int t, int i);
static void check(void);

static bool is_call(int t, int i) { return i < MOST && calls[t][3 * i]; }
static char operation_of(int t, int i) { return calls[t][3 * i]; }
static int digit_of(int t, int i) { return calls[t][3 * i + 1] - '0'; }

static void *client(void *arg)
{
    int t = (int)(intptr_t)arg;
    for (int i = 0; is_call(t, i); i++) results[t][i] = call(operation_of(t, i), digit_of(t, i), t, i);
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    setup();
    client(NULL);
    for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, client, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    check();
    return 0;
}

#endif
