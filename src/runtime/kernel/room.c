/* The data of this room: see room.h. */
#include "runtime/kernel/room.h"

struct mz_kernel_room mz_kernel_room;
