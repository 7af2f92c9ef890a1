#include "part.h"
_Atomic int shared;
void *worker(void *a) { int v = shared; shared = v + 1; return a; }
