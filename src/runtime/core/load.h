/* Looking at the loaded modules. Private to load.c, scan.c and phases.c. */
#ifndef MZ_RUNTIME_CORE_LOAD_H
#define MZ_RUNTIME_CORE_LOAD_H

#include <stdbool.h>
#include <stddef.h>

struct dl_phdr_info;

void mz_load_init(void);
/* `plugin`: the module has notes of our compiler plug-in, which list its atomic instructions without
 * hooks. */
void mz_scan_code(const struct dl_phdr_info *info, const unsigned char *p, size_t size, bool plugin);

#endif
