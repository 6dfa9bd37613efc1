/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions that a runtime generated in a process, by the perf-PID.map that the runtime writes:
 * lines of `START SIZE NAME`, hexadecimal, streamed in one pass for any number of addresses.
 */
#ifndef STACKBOX_PROCESSES_JITMAP_H
#define STACKBOX_PROCESSES_JITMAP_H

#include <stdint.h>

#include "elf/elf_symbols.h"

/*
 * Finds for each of `count` addresses, sorted and without duplicates, the newest entry that covers
 * it: the last one in the file, which its writer appends to. Code moves and its memory is reused,
 * so older entries are wrong where a newer one applies. A last line without its newline is still
 * being written and does not count; neither does a malformed line.
 *
 * `fd` is an open regular file and stays the caller's, with its offset; what is written to it
 * meanwhile is left for the next pass. Only the last 1 GiB is read, or reading_budget() bytes.
 * Memory is 16 bytes per address and what is in `found`. found[i], which must be {0}, belongs to
 * addresses[i], and is not found if no entry covers it or the newest has no name. A name has at
 * most 1024 bytes from the file, anything but a newline. elf_found_free frees their contents, after
 * an error, too. 0 or a negative errno: -EINVAL if it is not a regular file.
 */
int jitmap_find(int fd, const uint64_t *addresses, size_t count, struct elf_found *found);

#endif
