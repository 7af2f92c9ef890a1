/* Condition variables of C++. The waiter comes first or second: two orders. Without a predicate it waits for
 * a signal that has come already.
 * EXPECT every verified 2
 * EXPECT -DANY all verified
 * EXPECT -DBROKEN every error kind=deadlock line=24
 */
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex m;
#ifdef ANY
static std::condition_variable_any c;
#else
static std::condition_variable c;
#endif
static bool ready;

static void wait()
{
    std::unique_lock<std::mutex> guard(m);
#ifdef BROKEN
    c.wait(guard);
#else
    c.wait(guard, [] { return ready; });
    assert(ready);
#endif
}

int main()
{
    std::thread t(wait);
    {
        std::lock_guard<std::mutex> guard(m);
        ready = true;
        c.notify_one();
    }
    t.join();
    return 0;
}
