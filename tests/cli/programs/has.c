#include <h.h>
#if __has_include("extra.h")
#include "extra.h"
#endif
int answer(void);
int answer(void) { return ANSWER; }
