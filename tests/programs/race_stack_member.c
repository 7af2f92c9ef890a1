/* A member of a structure on main's stack: another thread has a pointer to the structure and writes to the member while
 * main reads it by name. Compilers must not take the member for private because only the structure's address was given
 * away (clang 14 does, with optimization, unless it is told not to).
 * EXPECT all error kind=data-race
 * EXPECT -DWRITE all error kind=data-race
 * EXPECT -DJOINED every verified 1
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct shared {
    uint8_t before, member;
    unsigned sum;
};
static struct shared *given;

static void *writes(void *arg)
{
    given->member = 2;
    return arg;
}

int main(void)
{
    pthread_t t;
    struct shared s;
    memset(&s, 0, sizeof s);
    given = &s;
    pthread_create(&t, NULL, writes, NULL);
#ifdef JOINED
    pthread_join(t, NULL);
#endif
#ifdef WRITE
    s.member = 1;
#endif
    s.sum = s.sum * 31 + s.member + 1;
#ifndef JOINED
    pthread_join(t, NULL);
#endif
    return s.sum == 7777;
}
