// Each synchronization object of C++20 in a program that uses it right, and in one that does not (-DBROKEN).
// Freed right after use: what wakes others may still run then.
//
// OPTIONS -std=c++20
// EXPECT -DWHAT=1 optimal verified
// EXPECT -DWHAT=1 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=2 optimal verified
// EXPECT -DWHAT=2 -DBROKEN optimal error kind=deadlock
// EXPECT -DWHAT=3 optimal verified
// EXPECT -DWHAT=3 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=4 optimal verified
// EXPECT -DWHAT=4 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=5 optimal verified
// EXPECT -DWHAT=5 -DBROKEN optimal error kind=deadlock
// EXPECT -DWHAT=6 optimal verified
// EXPECT -DWHAT=6 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=7 optimal verified
// EXPECT -DWHAT=7 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=8 optimal verified
// EXPECT -DWHAT=8 -DBROKEN optimal error kind=deadlock
// EXPECT -DWHAT=9 optimal verified
// EXPECT -DWHAT=9 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=10 optimal verified
// EXPECT -DWHAT=10 -DBROKEN optimal error kind=deadlock
// EXPECT -DWHAT=11 optimal verified
// EXPECT -DWHAT=11 -DBROKEN optimal error kind=assertion
// EXPECT -DWHAT=12 optimal verified
// EXPECT -DWHAT=12 -DBROKEN optimal error kind=data-race
// EXPECT -DWHAT=13 optimal verified
// EXPECT -DWHAT=13 -DBROKEN optimal error kind=deadlock
// EXPECT -DWHAT=14 optimal verified
// EXPECT -DWHAT=14 -DBROKEN optimal error kind=data-race
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>

#ifdef BROKEN
constexpr bool broken = true;
#else
constexpr bool broken = false;
#endif

static int x;

#if WHAT == 1 // mutex, lock_guard
static void run()
{
    std::mutex m;
    std::jthread t([&] {
        std::lock_guard<std::mutex> g(m);
        x++;
    });
    if (broken) {
        x++;
    } else {
        std::lock_guard<std::mutex> g(m);
        x++;
    }
}
#elif WHAT == 2  // scoped_lock of two
static void run()
{
    std::mutex a, b;
    std::jthread t([&] {
        if (broken) {
            std::lock_guard<std::mutex> g(b);
            std::lock_guard<std::mutex> h(a);
        } else {
            std::lock_guard<std::mutex> g(a);
            std::lock_guard<std::mutex> h(b);
        }
    });
    std::lock_guard<std::mutex> g(a);
    std::lock_guard<std::mutex> h(b);
}
#elif WHAT == 3  // shared_mutex
static void run()
{
    std::shared_mutex m;
    std::jthread t([&] {
        std::shared_lock<std::shared_mutex> g(m);
        if (broken) x++;
    });
    std::shared_lock<std::shared_mutex> g(m);
    if (broken) x++;
}
#elif WHAT == 4  // call_once
static void run()
{
    std::once_flag f;
    std::jthread t([&] {
        if (broken)
            x++;
        else
            std::call_once(f, [] { x++; });
    });
    std::call_once(f, [] { x++; });
}
#elif WHAT == 5  // condition_variable
static void run()
{
    std::mutex m;
    std::condition_variable c;
    bool ready = false;
    std::jthread t([&] {
        {
            std::lock_guard<std::mutex> g(m);
            ready = true;
        }
        c.notify_one();
    });
    std::unique_lock<std::mutex> g(m);
    if (broken)
        c.wait(g);
    else
        c.wait(g, [&] { return ready; });
    g.unlock();
    t.join();
}
#elif WHAT == 6  // binary_semaphore, freed by the one that waited
static void run()
{
    auto s = std::make_unique<std::binary_semaphore>(0);
    std::jthread t([&, p = s.get()] {
        if (broken) p->release();
        x++;
        if (!broken) p->release();
    });
    s->acquire();
    s.reset();
    assert(x == 1);
}
#elif WHAT == 7  // latch, freed after the wait
static void run()
{
    auto l = std::make_unique<std::latch>(1);
    std::jthread t([&, p = l.get()] {
        if (broken) p->count_down();
        x++;
        if (!broken) p->count_down();
    });
    l->wait();
    l.reset();
    assert(x == 1);
}
#elif WHAT == 8  // counting_semaphore
static void run()
{
    std::counting_semaphore<4> s(0);
    std::jthread t([&] { s.release(broken ? 1 : 2); });
    s.acquire();
    s.acquire();
}
#elif WHAT == 9  // promise, future
static void run()
{
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::jthread t([&] {
        x = 1;
        p.set_value(1);
    });
    if (!broken) assert(f.get() == 1);
    x++;
}
#elif WHAT == 10 // atomic wait and notify
static void run()
{
    std::atomic<int> a = 0;
    std::jthread t([&] {
        a = 1;
        if (!broken) a.notify_one();
    });
    a.wait(0);
}
#elif WHAT == 11 // atomic_ref, atomic_flag
static void run()
{
    std::atomic_flag f;
    int y = 0;
    std::jthread t([&] {
        std::atomic_ref<int>(y).fetch_add(1);
        f.test_and_set();
        f.notify_all();
    });
    std::atomic_ref<int>(y).fetch_add(1);
    if (!broken) f.wait(false);
    assert(std::atomic_ref<int>(y) == 2);
}
#elif WHAT == 12 // stop_callback: its destructor waits for one that runs in another thread
static void run()
{
    std::stop_source s;
    std::jthread t([&] { s.request_stop(); });
    {
        std::stop_callback c(s.get_token(), [&] { x++; });
        if (broken) x++;
    }
    if (!broken) x++;
}
#elif WHAT == 13 // condition_variable_any with a stop token
static void run()
{
    std::mutex m;
    std::condition_variable_any c;
    std::jthread t([&](std::stop_token s) {
        std::unique_lock<std::mutex> g(m);
        if (broken)
            c.wait(g, [] { return false; });
        else
            c.wait(g, s, [] { return false; });
    });
}
#elif WHAT == 14 // barrier with a completion function
static void run()
{
    auto f = []() noexcept { x++; };
    std::barrier<decltype(f)> b(2, f);
    std::jthread t([&] {
        b.arrive_and_wait();
        if (broken) x++;
    });
    b.arrive_and_wait();
    if (broken) x++;
    t.join();
    assert(broken || x == 1);
}
#endif

int main() { run(); }
