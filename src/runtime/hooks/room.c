/* The data of this room: see room.h. */
#include "runtime/hooks/room.h"

struct mz_hooks_room mz_hooks_room;
