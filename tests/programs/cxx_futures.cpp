/* Promises, futures, tasks; std::async; std::jthread with a stop token.
 * EXPECT all verified
 * EXPECT -DASYNC all verified
 * EXPECT -DTASK all verified
 * EXPECT -DJTHREAD all verified
 * EXPECT -DNEVER_SET all error kind=deadlock
 * EXPECT -DBROKEN_PROMISE all error kind=crash says=future_error
 * EXPECT -DJTHREAD -DBROKEN all error kind=assertion
 * OPTIONS -std=c++20
 */
#include <cassert>
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>

int main()
{
#ifdef ASYNC
    auto f = std::async(
        std::launch::async, [](int x) -> int { throw std::logic_error(x ? "yes" : "no"); }, 1);
    bool caught = false;
    try {
        f.get();
    } catch (const std::logic_error &) {
        caught = true;
    }
    assert(caught);
#elif defined TASK
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    auto f = task.get_future();
    std::thread t(std::move(task), 4);
    assert(f.get() == 5);
    t.join();
#elif defined JTHREAD
    std::atomic<int> rounds(0);
    {
        std::jthread t([&](std::stop_token stop) {
            rounds = 1;
            while (!stop.stop_requested()) std::this_thread::yield();
            rounds = 2;
        });
#ifdef BROKEN
        assert(rounds == 1);
#endif
    }
    assert(rounds == 2);
#else
    auto p = std::make_unique<std::promise<int>>();
    auto f = p->get_future();
    std::thread t([&] {
#ifdef NEVER_SET
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
#elif defined BROKEN_PROMISE
        p.reset();
#else
        p->set_value(5);
#endif
    });
    assert(f.get() == 5);
    t.join();
    std::cout << "got it" << std::endl;
#endif
    return 0;
}
