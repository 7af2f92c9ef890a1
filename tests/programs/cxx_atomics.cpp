/* std::atomic of several kinds, and a lock made of std::atomic_flag that waits without a bound.
 * Two increments: two orders. A store and a load of a structure: two orders. Two sections under the lock: two
 * orders.
 * EXPECT every verified 2
 * EXPECT -DSTRUCTURE every verified 2
 * EXPECT -DFLAG every verified
 * EXPECT -O1 -DFLAG every verified 2 compiler=gcc
 * EXPECT -DFLAG -DRELAXED all error kind=data-race
 * EXPECT -DTORN all error kind=assertion
 */
#include <atomic>
#include <cassert>
#include <thread>

struct alignas(8) pair {
    int x, y;
};
static std::atomic<int> count;
static std::atomic<pair> both;
static std::atomic_flag flag = ATOMIC_FLAG_INIT;
static int plain;

#ifdef RELAXED
static const std::memory_order acquire = std::memory_order_relaxed, release = std::memory_order_relaxed;
#else
static const std::memory_order acquire = std::memory_order_acquire, release = std::memory_order_release;
#endif

static void increment()
{
#ifdef TORN
    count = count + 1;
#else
    count++;
#endif
}

static void locked()
{
    while (flag.test_and_set(acquire))
        ;
    plain++;
    flag.clear(release);
}

int main()
{
#ifdef STRUCTURE
    std::thread a([] { both.store(pair{1, 1}); });
    std::thread b([] {
        pair p = both.load();
        assert(p.x == p.y);
    });
    count = 2;
#elif defined FLAG
    std::thread a(locked), b(locked);
    count = 2;
#else
    std::thread a(increment), b(increment);
#endif
    a.join();
    b.join();
    assert(count == 2);
#ifdef FLAG
    assert(plain == 2);
#endif
    return 0;
}
