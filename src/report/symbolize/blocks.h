/* Blocks of the heap in reports: which one an address belongs to, and its history. */
#ifndef MZ_REPORT_SYMBOLIZE_BLOCKS_H
#define MZ_REPORT_SYMBOLIZE_BLOCKS_H

#include "report/report.h"
#include "report/symbolize/symbolize.h"

/* "block@a.c:12", "block@a.c:12#2+16": the second one allocated there; NULL if no block is known at the
 * address that was allocated before record `moment`. A new string. */
char *mz_block_name(struct mz_symbols *s, uint64_t address, uint32_t moment);

/* What is wrong with memory, for people: "use after free: read of 4 bytes, 8 bytes into a block of ...". */
char *mz_describe_memory(struct mz_symbols *s, const struct mz_finding *f);
/* "16 bytes into a block of 24 bytes allocated by 0.1 at a.c:12 (make_node)" */
void mz_describe_position(struct mz_symbols *s, const struct mz_finding *f, struct mz_strbuf *out);

/* Which threads allocated and freed the block of the finding; leaked blocks. */
void mz_collect_history(struct mz_symbols *s, const struct mz_finding *f, struct mz_finding_report *finding);

#endif
