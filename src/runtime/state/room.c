/* The data of this room: see room.h. */
#include "runtime/state/room.h"

struct mz_state_room mz_state_room;
