/* An error in a program without threads is still an error.
 * EXPECT all error kind=assertion
 */
#include <assert.h>

static int x;

int main(void)
{
    assert(x == 1);
    return 0;
}
