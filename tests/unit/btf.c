/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's types: from a file by clang, with a struct that this test's compiler lays out, too;
 * from self-contradicting files made here; and from all of these, truncated or changed at any byte.
 */
#include "tests/unit/btf_member.h"

#include <fcntl.h>

#include "base/reading.h"
#include "machine/machine.h"
#include "unit/files.h"

/* The same as in tests/fuzz/seeds.sh; both are for 64-bit machines with the same alignment. */
struct list {
    struct list *next;
};
struct task_struct {
    long first;
    volatile long state;
    struct {
        int lock;
        union {
            const pid_t pid;
            long word;
        };
    };
    unsigned int narrow : 3, wide : 13;
    int exit_state;
    char comm[16];
    struct task_struct *parent;
    struct list children;
    enum { A, B } kind;
};

enum { HEADER_BYTES = 24, AT_TYPES_SIZE = 12 };

static int read_bytes(struct btf *btf, const void *bytes, size_t size)
{
    AUTO_FD fd = file_of(bytes, size);

    return btf_read(btf, fd);
}

/* As for a big-endian machine: everything before the strings is 32-bit words. */
static void turn_round(struct text *bytes)
{
    uint16_t magic;
    uint32_t word, end = HEADER_BYTES;

    memcpy(&magic, bytes->data, sizeof(magic));
    magic = __builtin_bswap16(magic);
    memcpy(bytes->data, &magic, sizeof(magic));
    for (uint32_t at = 4; at < end; at += 4) {
        memcpy(&word, bytes->data + at, sizeof(word));
        word = __builtin_bswap32(word);
        memcpy(bytes->data + at, &word, sizeof(word));
        if (at == AT_TYPES_SIZE)
            end += word;
    }
}

static void load_fixture(struct text *bytes)
{
    const char *tests = getenv("TESTS");
    struct text path = {0};

    text_format(&path, "%s/fuzz/corpus/btf/clang", tests ? tests : "tests");
    CHECK_NUMBER(read_file(AT_FDCWD, path.data, 65536, bytes), 0);
    text_free(&path);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        turn_round(bytes);
}

static void check_member(const struct btf *btf, const char *name, size_t offset, size_t size)
{
    struct btf_member found = {0};

    CHECK_NUMBER(btf_find_member(btf, "task_struct", name, &found), 0);
    CHECK_NUMBER(found.offset, offset);
    CHECK_NUMBER(found.size, size);
}

#define CHECK_MEMBER(btf, name) \
    check_member(btf, #name, offsetof(struct task_struct, name), \
                 sizeof(((struct task_struct *)0)->name))

TEST(members_are_where_a_compiler_puts_them)
{
    AUTO_TEXT bytes = {0};
    AUTO(btf_free) struct btf btf;
    struct btf_member found;

    load_fixture(&bytes);
    CHECK_NUMBER(read_bytes(&btf, bytes.data, bytes.length), 0);
    if (sizeof(long) == 8) {
        CHECK_MEMBER(&btf, first);
        CHECK_MEMBER(&btf, state);
        CHECK_MEMBER(&btf, lock);
        CHECK_MEMBER(&btf, pid);
        CHECK_MEMBER(&btf, word);
        CHECK_MEMBER(&btf, exit_state);
        CHECK_MEMBER(&btf, parent);
        CHECK_MEMBER(&btf, children);
        CHECK_MEMBER(&btf, kind);
    }
    /* Pointers have the kernel's width, whatever this program's is. */
    CHECK_NUMBER(btf_find_member(&btf, "task_struct", "parent", &found), 0);
    CHECK_NUMBER(found.size, machine_of_kernel()->bits / 8);
    CHECK_NUMBER(btf_find_member(&btf, "task_struct", "narrow", &found), -EINVAL);
    CHECK_NUMBER(btf_find_member(&btf, "task_struct", "wide", &found), -EINVAL);
    CHECK_NUMBER(btf_find_member(&btf, "task_struct", "comm", &found), 0);
    CHECK_NUMBER(found.size, 0);
    CHECK_NUMBER(btf_find_member(&btf, "task_struct", "next", &found), -ENOENT);
    CHECK_NUMBER(btf_find_member(&btf, "task_struct", "", &found), -ENOENT);
    CHECK_NUMBER(btf_find_member(&btf, "task", "pid", &found), -ENOENT);
    CHECK_NUMBER(btf_find_member(&btf, "pid_t", "pid", &found), -ENOENT);
    CHECK_NUMBER(btf_find_member(&btf, "list", "next", &found), 0);
}

TEST(parameters_are_counted)
{
    AUTO_TEXT bytes = {0};
    AUTO(btf_free) struct btf btf;
    uint32_t count = 0;

    load_fixture(&bytes);
    CHECK_NUMBER(read_bytes(&btf, bytes.data, bytes.length), 0);
    CHECK_NUMBER(btf_count_parameters(&btf, "btf_trace_sched_switch", &count), 0);
    CHECK_NUMBER(count, 5);
    CHECK_NUMBER(btf_count_parameters(&btf, "btf_trace_sched_waking", &count), 0);
    CHECK_NUMBER(count, 2);
    CHECK_NUMBER(btf_count_parameters(&btf, "not_a_function", &count), -EINVAL);
    CHECK_NUMBER(btf_count_parameters(&btf, "btf_trace_sched", &count), -ENOENT);
    CHECK_NUMBER(btf_count_parameters(&btf, "task_struct", &count), -ENOENT);
}

/* Sanitizers check that the reader stays within bounds. */
static void look_at_all(const void *bytes, size_t size)
{
    struct btf_member found;
    struct btf btf;
    uint32_t count;

    if (read_bytes(&btf, bytes, size))
        return;
    (void)btf_find_member(&btf, "task_struct", "pid", &found);
    (void)btf_find_member(&btf, "task_struct", "kind", &found);
    (void)btf_count_parameters(&btf, "btf_trace_sched_switch", &count);
    btf_free(&btf);
}

TEST(what_is_cut_off_is_refused)
{
    AUTO_TEXT bytes = {0};
    struct btf btf;

    load_fixture(&bytes);
    for (size_t size = 0; size < bytes.length; size++)
        CHECK_NUMBER(read_bytes(&btf, bytes.data, size), -ENOEXEC);
}

TEST(any_byte_may_be_wrong)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    AUTO_TEXT bytes = {0};

    load_fixture(&bytes);
    for (size_t at = 0; at < bytes.length; at++) {
        char before = bytes.data[at];
        for (size_t i = 0; i < COUNT_OF(values); i++) {
            bytes.data[at] = (char)values[i];
            look_at_all(bytes.data, bytes.length);
        }
        bytes.data[at] = before;
    }
}

/* ---- Made by hand ---- */

static const char strings[] = "\0task_struct\0pid\0btf_trace_sched_switch";
enum { TASK = 1, PID = 13, SWITCH = 17 };
enum { OF_INT = 1, OF_PTR = 2, OF_STRUCT = 4, OF_TYPEDEF = 8, OF_FUNC_PROTO = 13 };
#define INFO(kind, count) ((uint32_t)(kind) << 24 | (count))

static int read_types(struct btf *btf, const uint32_t *types, size_t size)
{
    const uint16_t magic = 0xeb9f;
    const uint32_t header[] = {HEADER_BYTES, 0, (uint32_t)size, (uint32_t)size, sizeof(strings)};
    AUTO_TEXT bytes = {0};

    text_append(&bytes, (const char *)&magic, sizeof(magic));
    text_append(&bytes, "\1\0", 2); /* version, flags */
    text_append(&bytes, (const char *)header, sizeof(header));
    text_append(&bytes, (const char *)types, size);
    text_append(&bytes, strings, sizeof(strings));
    return read_bytes(btf, bytes.data, bytes.length);
}

static int find_pid(const uint32_t *types, size_t size, struct btf_member *found)
{
    struct btf btf;
    int result = read_types(&btf, types, size);

    if (result)
        return result;
    result = btf_find_member(&btf, "task_struct", "pid", found);
    btf_free(&btf);
    return result;
}

TEST(by_hand)
{
    static const uint32_t plain[] = {
        0, INFO(OF_INT, 0), 4, 32, /* 1 */
        TASK, INFO(OF_STRUCT, 1), 64, PID, 1, 17 * 8, /* 2 */
    };
    static const uint32_t within_a_byte[] = {
        0, INFO(OF_INT, 0), 4, 32, TASK, INFO(OF_STRUCT, 1), 64, PID, 1, 17 * 8 + 1,
    };
    static const uint32_t not_there[] = {TASK, INFO(OF_STRUCT, 1), 64, PID, 7, 8};
    static const uint32_t unknown_kind[] = {TASK, INFO(20, 0), 64};
    static const uint32_t too_many[] = {TASK, INFO(OF_STRUCT, 2), 64, PID, 1, 8};
    struct btf_member found = {0};

    CHECK_NUMBER(find_pid(plain, sizeof(plain), &found), 0);
    CHECK_NUMBER(found.offset, 17);
    CHECK_NUMBER(find_pid(within_a_byte, sizeof(within_a_byte), &found), -EINVAL);
    CHECK_NUMBER(find_pid(not_there, sizeof(not_there), &found), -EINVAL);
    CHECK_NUMBER(find_pid(unknown_kind, sizeof(unknown_kind), &found), -ENOEXEC);
    CHECK_NUMBER(find_pid(too_many, sizeof(too_many), &found), -ENOEXEC);
    CHECK_NUMBER(find_pid(NULL, 0, &found), -ENOENT);
}

TEST(circles_end)
{
    static const uint32_t named_in_a_circle[] = {
        TASK, INFO(OF_STRUCT, 1), 64, PID, 2, 0, /* 1 */
        0, INFO(OF_TYPEDEF, 0), 3,               /* 2 */
        0, INFO(OF_TYPEDEF, 0), 2,               /* 3 */
    };
    static const uint32_t pointer_to_itself[] = {
        SWITCH, INFO(OF_TYPEDEF, 0), 2, /* 1 */
        0, INFO(OF_PTR, 0), 2,          /* 2 */
    };
    /* Each of its members is the struct itself, without a name: 16 to the power of any depth. */
    uint32_t in_itself[3 + 16 * 3] = {TASK, INFO(OF_STRUCT, 16), 64};
    struct btf_member found;
    AUTO(btf_free) struct btf btf;
    uint32_t count;

    for (size_t i = 0; i < 16; i++)
        in_itself[3 + i * 3 + 1] = 1;
    CHECK_NUMBER(find_pid(named_in_a_circle, sizeof(named_in_a_circle), &found), -EINVAL);
    CHECK_NUMBER(find_pid(in_itself, sizeof(in_itself), &found), -EINVAL);
    CHECK_NUMBER(read_types(&btf, pointer_to_itself, sizeof(pointer_to_itself)), 0);
    CHECK_NUMBER(btf_count_parameters(&btf, "btf_trace_sched_switch", &count), -EINVAL);
}

TEST_MAIN
