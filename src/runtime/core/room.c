/* The data of the core: see room.h. */
#include "runtime/core/room.h"

struct mz_runtime rt;
struct mz_core_room mz_core_room;
