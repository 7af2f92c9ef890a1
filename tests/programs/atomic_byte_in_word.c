/* A failed compare-exchange of a byte in a word that is also accessed as a whole.
 * EXPECT every verified 6
 */
#include <pthread.h>
#include <stdint.h>
static union {
    uint32_t w;
    uint8_t b[4];
} u = {1};
static void *t0(void *p)
{
    __atomic_store_n(&u.w, 0, __ATOMIC_SEQ_CST);
    return p;
}
static void *t1(void *p)
{
    uint32_t e = 0x10000;
    __atomic_compare_exchange_n(&u.w, &e, 5, 0, 5, 5);
    return p;
}
static void *t2(void *p)
{
    uint8_t e = 1;
    __atomic_compare_exchange_n(&u.b[3], &e, 0, 0, 5, 5);
    return p;
}
int main(void)
{
    void *(*f[])(void *) = {t0, t1, t2};
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, f[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
