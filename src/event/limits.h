/* Sizes of the fixed arrays in the channel (event/channel.h). They are limits of what mazurka can check or show. */
#ifndef MZ_EVENT_LIMITS_H
#define MZ_EVENT_LIMITS_H

#define MZ_MAX_THREADS       64
#define MZ_MAX_FINDINGS      256
#define MZ_MAX_MODULES       64
#define MZ_MAX_FRAMES        24 /* of a call stack */
#define MZ_MAX_UNSEEN        32 /* texts about what the search did not see */
#define MZ_MAX_UNSEEN_WRITES 16
#define MZ_MAX_WARNINGS      16
#define MZ_WARNING_STEPS     4 /* mutexes in one cycle */
#define MZ_MAX_REORDERS      4
#define MZ_MAX_ASSERTIONS    256
#define MZ_MAX_LOCATIONS     4096 /* variables with allowed data races */
#define MZ_MAX_AREAS         (3 * MZ_MAX_THREADS)
#define MZ_MAX_PARTS         (MZ_MAX_MODULES + MZ_MAX_THREADS + 16)
#define MZ_MAX_NAMES         64          /* given with mz_name() */
#define MZ_MOST_STEPS        1000000000u /* largest value of --max-steps */
#define MZ_TEXT              256         /* bytes of a text, with the final zero */
#define MZ_LONG_TEXT         512

#endif
