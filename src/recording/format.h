/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The bytes of a recording, as src/docs/recordings.md describes them: shared by its writer and its
 * reader. Numbers are varints: seven bits a byte, the lowest first, the highest bit set in all
 * bytes but the last.
 */
#ifndef STACKBOX_RECORDING_FORMAT_H
#define STACKBOX_RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "report/report.h"

#define RECORDING_MAGIC "SBX\x1a"
#define RECORDING_MAGIC_BYTES 4
/*
 * A reader accepts its own version and older ones, and skips sections that it does not know:
 * additions go into new sections.
 */
#define RECORDING_VERSION 1

/* A section's number, before its length. Sections are in this order. */
enum recording_section {
    SECTION_END, /* the last: CRC-32 of all bytes before its own four */
    SECTION_STRINGS,
    SECTION_RUN,
    SECTION_FILES,
    SECTION_PROCESSES,
    SECTION_SYMBOLS,
    SECTION_ENTRIES,
    SECTIONS,
};

/* Bits of the run's first number. */
enum recorded_run {
    RUN_KERNEL = 1 << 0, /* which stacks were asked for */
    RUN_USER = 1 << 1,
    RUN_DELIMITED = 1 << 2,
    RUN_OFFSET = 1 << 3,
    RUN_VERBOSE = 1 << 4,
    RUN_ANNOTATIONS = 1 << 5,
    RUN_SHOWS_PROCESS = 1 << 6,
    RUN_ONE_PROCESS = 1 << 7,
    RUN_TIMESTAMP = 1 << 8,
    RUN_TIME_AS_ROOT = 1 << 9,
    RUN_PAIRS = 1 << 10,
    RUN_RAW_NAMES = 1 << 11,
    RUN_SHORTEN = 1 << 12,
    RUN_KERNEL_HIDDEN = 1 << 13, /* the kernel showed no addresses */
    RUN_WAITS = 1 << 14,         /* in --flat, frames that only lead to a wait are not functions */
    RUN_FLAGS = 1 << 15,
};

static const struct {
    enum recorded_run flag;
    size_t member; /* of struct report_options: a bool */
} recorded_options[] = {
    {RUN_KERNEL, offsetof(struct report_options, kernel)},
    {RUN_USER, offsetof(struct report_options, user)},
    {RUN_DELIMITED, offsetof(struct report_options, delimited)},
    {RUN_OFFSET, offsetof(struct report_options, offset)},
    {RUN_VERBOSE, offsetof(struct report_options, verbose)},
    {RUN_ANNOTATIONS, offsetof(struct report_options, annotations)},
    {RUN_SHOWS_PROCESS, offsetof(struct report_options, show_process)},
    {RUN_ONE_PROCESS, offsetof(struct report_options, one_process)},
    {RUN_TIMESTAMP, offsetof(struct report_options, timestamp)},
    {RUN_TIME_AS_ROOT, offsetof(struct report_options, time_as_root)},
    {RUN_PAIRS, offsetof(struct report_options, pairs)},
};

static inline bool *recorded_option(const struct report_options *options, size_t row)
{
    return (bool *)((uintptr_t)options + recorded_options[row].member);
}

/* What a group's addresses are in: the first five as in enum mapped_kind. */
enum recorded_file {
    RECORDED_NOTHING,   /* unknown, or nothing was mapped there */
    RECORDED_FILE,
    RECORDED_VDSO,
    RECORDED_ANONYMOUS, /* memory: of a JIT, for one */
    RECORDED_OTHER,
    RECORDED_KERNEL,
    RECORDED_MODULE,
    RECORDED_FILES,
};

/* How a file is identified: the enum of file_identity; plus this bit. */
#define RECORDED_CHANGED 4 /* it was written to since it was mapped */

/* Flags of a process. */
enum { PROCESS_FOREIGN = 1, PROCESS_NAMED = 2 };

/* Flags of an entry: this bit, and its enum tally_mark, whose third bit is moved above it. */
#define ENTRY_HAS_WAKER 4
#define ENTRY_MARK(mark) (((mark) & 3) | ((mark) & 4) << 1)

/* Differences, encoded so that small negative ones are short, too. */
static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t unzigzag(uint64_t number)
{
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

#endif
