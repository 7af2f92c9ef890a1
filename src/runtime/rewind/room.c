/* The data of this room: see room.h. */
#include "runtime/rewind/room.h"

struct mz_rewind_room mz_rewind_room;
