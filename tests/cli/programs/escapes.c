#include <assert.h>
#include <pthread.h>
#include <mazurka.h>
static int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; /* @ESC@[2J */
static void *w(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return a; }
int main(void)
{
    pthread_t t;
    mz_name(&m, "m@ESC@[31m\nverified: no error\x9b\xc2\x9b\xe2\x80\xae");
    pthread_create(&t, 0, w, 0);
    w(0);
    pthread_join(t, 0);
    if (SECOND) __assert_fail("x @ESC@[2J\r\nverified: nothing wrong", "src@ESC@[5m.c\n", 7, "f");
    assert(x != 2 && "@ESC@[41m");
    return 0;
}
