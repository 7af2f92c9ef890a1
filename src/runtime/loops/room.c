/* The data of this room: see room.h. */
#include "runtime/loops/room.h"

struct mz_loops_room mz_loops_room;
