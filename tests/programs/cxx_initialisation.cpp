/* std::call_once and static variables of functions, also with an initialisation that throws the first time.
 *
 * call_once: who is first. A static variable: who is first, and whether the other one looks at the guard
 * before or after it is set. When the first one throws, the other one must have looked before.
 * EXPECT every verified 2
 * EXPECT -DTHROW every verified 2
 * EXPECT -DSTATIC every verified 4
 * EXPECT -DSTATIC -DTHROW every verified 2
 * EXPECT -DSTATIC -DRECURSIVE every error kind=deadlock
 * EXPECT -DBY_HAND all error kind=data-race
 */
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<int> caught;
static int tries;

static int make()
{
    tries++;
#ifdef THROW
    if (tries == 1) throw 1;
#endif
    return 7;
}

#ifdef STATIC
static int get();
struct object {
    int value;
    object() : value(make())
    {
#ifdef RECURSIVE
        get();
#endif
    }
};
static int get()
{
    static object o;
    return o.value;
}
#elif defined BY_HAND
static int *value;
static int get()
{
    if (!value) value = new int(make());
    return *value;
}
#else
static std::once_flag flag;
static int value;
static int get()
{
    std::call_once(flag, [] { value = make(); });
    return value;
}
#endif

static void work()
{
    try {
        assert(get() == 7);
    } catch (int) {
        caught.store(1);
    }
}

int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
#ifdef THROW
    assert(caught == 1 && tries == 2);
#else
    assert(caught == 0 && tries == 1);
#endif
    return 0;
}
