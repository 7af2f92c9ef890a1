/* The data of this room: see room.h. */
#include "runtime/memory/room.h"

struct mz_memory_room mz_memory_room;
