/* What a function does to memory that is not its own stack, from its machine code. */
#ifndef MZ_BUILD_SCAN_CODE_H
#define MZ_BUILD_SCAN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Could the function access memory that other threads access? is_constant: can nobody write to this address? Without
 * a decoder (Zydis) the answer is always yes. */
bool mz_scan_code(const uint8_t *code, size_t size, uint64_t address,
                  bool (*is_constant)(void *data, uint64_t address), void *data);

#endif
