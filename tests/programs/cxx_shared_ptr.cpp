/* Reference counts: the last owner destroys the object, exactly once, and nobody uses it afterwards.
 * EXPECT all verified
 * EXPECT -DWEAK all verified
 * EXPECT -DSAME_POINTER all error
 * EXPECT -DRAW all error
 */
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

static std::atomic<int> alive;

struct object {
    int value = 3;
    object() { alive++; }
    ~object()
    {
        value = 0;
        alive--;
    }
};

int main()
{
    auto p = std::make_shared<object>();
#ifdef WEAK
    std::thread a([w = std::weak_ptr<object>(p)] {
        if (auto q = w.lock()) assert(q->value == 3);
    });
    p.reset();
#elif defined SAME_POINTER
    std::thread a([&p] { auto q = p; });
    p.reset();
#elif defined RAW
    std::thread a([q = p.get()] { assert(q->value == 3); });
    p.reset();
#else
    std::thread a([q = p] { assert(q->value == 3); });
    p.reset();
#endif
    a.join();
    assert(alive == 0);
    return 0;
}
