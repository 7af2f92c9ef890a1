/* What the workers of a stateful search share of the runtime. For worker.c.
 *
 * The engine says how finished states and facts are shared (engine/stateful/shared_states.c). Here are the facts of the
 * runtime that accumulate over executions and decide about the identity of states: how threads access places
 * (state/race_places.c), and which thread-specific keys are deleted while other threads exist (sync/keys.c). Everything
 * else that the runtime learns is seen in one execution, makes the search start over at once, and is sent to new workers
 * (put_knowledge in worker.c).
 *
 * Identities contain addresses. Workers with different addresses have different salts, so they share no states; each of
 * them explores alone. */
#include "runtime/core/facts.h"
#include "runtime/core/room.h"
#include "runtime/memory/races.h"
#include "runtime/sync/sync.h"

struct mz_finished *mz_facts_table(void *system, uint64_t *salt)
{
    const struct mz_layout *l = &rt.channel->layout;
    uint64_t h = 0x9e3779b97f4a7c15u;
    (void)system;
    for (uint32_t i = 0; i < l->count; i++)
        h = (((h ^ l->parts[i].id) * 0x100000001b3u) ^ l->parts[i].start) * 0xd6e8feb86659fd93u;
    *salt = h;
    return mz_core_room.worker.finished;
}

bool mz_facts_tell(void *system)
{
    struct mz_finished *f = mz_core_room.worker.finished;
    (void)system;
    return mz_places_tell(f) && mz_keys_tell(f);
}

void mz_facts_learn(void *system, const struct mz_fact *fact)
{
    (void)system;
    if (fact->kind == MZ_FACT_PLACE) mz_place_learn(fact);
    if (fact->kind == MZ_FACT_KEY) mz_key_learn(fact);
}

bool mz_facts_are_stale(void *system)
{
    (void)system;
    return mz_places_are_stale();
}

void mz_facts_settle(void *system)
{
    (void)system;
    mz_places_settle();
}
