/* Thread-local objects with constructors and destructors: each thread has its own, which is destroyed at its
 * end. Two destructors add to one atomic: two orders.
 * EXPECT every verified 2
 * EXPECT -DSHARED all error kind=data-race
 */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> sum;

struct counter {
    int value = 1;
    ~counter() { sum += value; }
};
#ifdef SHARED
static counter mine;
#else
static thread_local counter mine;
#endif

int main()
{
    std::thread a([] { mine.value += 1; }), b([] { mine.value += 2; });
    a.join();
    b.join();
    assert(sum == 5);
    return 0;
}
