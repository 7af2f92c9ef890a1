#include <pthread.h>
#include <atomic>
#include <stdexcept>
static std::atomic<int> n;
static void *w(void *a)
{
    pthread_setname_np(pthread_self(), "a@ESC@[2J\nb");
    if (++n == 2) throw std::runtime_error("what@ESC@[2J\r\nverified: nothing\x9b 31m");
    return a;
}
#line 7 "li@ESC@[31mne.cpp\nverified"
int main(int, char **)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    w(0);
    pthread_join(t, 0);
    return 0;
}
