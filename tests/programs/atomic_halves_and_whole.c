/* Two halves of a word that are accessed apart at first and as one later: all the search before counts anew.
 * EXPECT all error kind=assertion
 */
#include <pthread.h>
#include <stdint.h>
#include <assert.h>
static union {
    uint32_t w;
    uint16_t h[2];
} u;
static uint8_t flag, r3, r0;
static uint32_t seen;
#define S(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define L(p)    __atomic_load_n(p, __ATOMIC_SEQ_CST)
static void *t0(void *p)
{
    r0 = L(&flag);
    if (r0) seen = L(&u.w);
    return p;
}
static void *t1(void *p)
{
    S(&flag, 1);
    S(&u.h[0], 0x202);
    return p;
}
static void *t2(void *p)
{
    S(&u.h[1], 0x303);
    return p;
}
static void *t3(void *p)
{
    S(&u.h[0], 0x404);
    r3 = L(&flag);
    return p;
}
int main(void)
{
    void *(*f[])(void *) = {t0, t1, t2, t3};
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    assert(!(r0 == 1 && r3 == 0 && u.w == 0x3030202 && (seen == 0x202 || seen == 0x404)));
    return 0;
}
