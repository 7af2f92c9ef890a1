/* The example of 2017, section 2: p sends two messages to q, and q receives twice without waiting. The third class is that
 * q has received both; the first receive is in conflict only with the first send, not with the second. (In the paper, q dies
 * when it finds no message.)
 * EXPECT every verified 3
 */
#include <mazurka.h>
#include <pthread.h>

static mz_channel *c;

static void *p(void *unused)
{
    mz_channel_send(c, 0, 1);
    mz_channel_send(c, 0, 2);
    return unused;
}

static void *q(void *unused)
{
    uint64_t m1, m2;
    if (!mz_channel_try_receive(c, 0, &m1)) return unused;
    if (!mz_channel_try_receive(c, 0, &m2)) return unused;
    mz_assert(m1 == 1 && m2 == 2);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    c = mz_channel_create();
    pthread_create(&a, NULL, p, NULL);
    pthread_create(&b, NULL, q, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    mz_channel_destroy(c);
}
