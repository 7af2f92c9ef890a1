/* A sequence lock: the writer makes the number odd while it writes, readers try again if it was odd or has
 * changed.
 * EXPECT all verified
 * EXPECT -DWRITES=2 all verified
 * EXPECT -DNO_CHECK all error kind=assertion
 * EXPECT -DNO_ODD all error kind=assertion
 */
#include "classic.h"

#ifndef WRITES
#define WRITES 1
#endif

static _Atomic unsigned sequence;
static _Atomic int x, y;

static void *writer(void *unused)
{
    for (int i = 1; i <= WRITES; i++) {
#ifndef NO_ODD
        sequence++;
#endif
        x = i;
        y = i;
        sequence++;
    }
    return unused;
}

static void *reader(void *unused)
{
    unsigned before;
    int a, b;
    for (;;) {
        before = sequence;
        if (before % 2
#ifdef NO_ODD
            && false
#endif
        )
            continue;
        a = x;
        b = y;
#ifdef NO_CHECK
        break;
#else
        if (sequence == before) break;
#endif
    }
    assert(a == b);
    return unused;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    return 0;
}
