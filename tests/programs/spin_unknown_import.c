/* Functions of libc that nothing is known of do not keep loops that wait from being recognised, unless the loop calls
 * them: then what it changes is not known.
 * EXPECT every verified 1
 * EXPECT -O2 all verified 1
 * EXPECT -DCALLED all verified 1
 * EXPECT -DPOINTER all verified 1
 * EXPECT -DINSIDE --max-steps=1000 all incomplete says=tzset
 * EXPECT -DKNOWN all verified 1
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_int flag;
static void (*volatile chosen)(void);

static int unknown(void)
{
    tzset();
    return 0;
}

static void *waits(void *argument)
{
    while (!atomic_load(&flag)) {
#ifdef INSIDE
        unknown();
#elif defined KNOWN
        if (difftime(1, 0) < 0.5) break;
#endif
    }
    return argument;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 100)
        return unknown() + sigaction(1, NULL, NULL) + (int)difftime(3, 2) + (int)strtod(argv[1], NULL);
#ifdef CALLED
    unknown();
#endif
#ifdef POINTER
    chosen = tzset;
    chosen();
#endif
    pthread_t t;
    pthread_create(&t, NULL, waits, NULL);
    atomic_store(&flag, 1);
    pthread_join(t, NULL);
    return 0;
}
