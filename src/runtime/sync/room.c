/* The data of this room: see room.h. */
#include "runtime/sync/room.h"

struct mz_sync_room mz_sync_room;
