/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * 32-bit ARM: this program's own stack, at a system call below four functions with a frame of each kind,
 * walked by the tables in its own file, and by rows that are made from its code.
 */
#include "test.h"

#if defined(__arm__)
#include <fcntl.h>

#include "elf/elf.h"
#include "machine/machine.h"
#include "unwind/table.h"
#include "unwind/walk.h"

#define STACK_BYTES 512

/* r0 to r15 at the system call in exidx_leaf(), and the stack there. */
static uint32_t captured[16], stack[STACK_BYTES / 4];

void exidx_capture(const uint32_t *sp);
void exidx_capture(const uint32_t *sp)
{
    memcpy(stack, sp, sizeof(stack));
}

void exidx_outer(uint32_t *registers);
extern const char exidx_in_outer[], exidx_in_middle[], exidx_in_inner[], exidx_back[];

/* The labels are where each of them returns to, without the Thumb bit. */
__asm__(".syntax unified\n"
        ".text\n"
        ".thumb\n"
        ".macro function name\n"
        ".p2align 4\n"
        ".global \\name\n"
        ".type \\name, %function\n"
        "\\name: .fnstart\n"
        ".endm\n"
        "function exidx_outer\n" /* relative to the stack pointer */
        "push {r4, r7, r11, lr}\n"
        ".save {r4, r7, r11, lr}\n"
        "sub sp, #40\n"
        ".pad #40\n"
        "bl exidx_middle\n"
        "exidx_in_outer: add sp, #40\n"
        "pop {r4, r7, r11, pc}\n"
        ".fnend\n"
        "function exidx_middle\n" /* by r11 */
        "push {r7, r11, r12, lr}\n"
        ".save {r7, r11, r12, lr}\n"
        "add r11, sp, #8\n"
        ".setfp r11, sp, #8\n"
        "sub sp, #72\n"
        "bl exidx_inner\n"
        "exidx_in_middle: sub r11, #8\n"
        "mov sp, r11\n"
        "pop {r7, r11, r12, pc}\n"
        ".fnend\n"
        "function exidx_inner\n" /* by r7 */
        "push {r7, lr}\n"
        ".save {r7, lr}\n"
        "mov r7, sp\n"
        ".setfp r7, sp\n"
        "sub sp, #24\n"
        "bl exidx_leaf\n"
        "exidx_in_inner: mov sp, r7\n"
        "pop {r7, pc}\n"
        ".fnend\n"
        "function exidx_leaf\n"
        "push {r4, r7, r8, lr}\n"
        ".save {r4, r7, r8, lr}\n"
        "stm r0, {r0-r12}\n"
        "mov r1, sp\n"
        "str r1, [r0, #52]\n"
        "str lr, [r0, #56]\n"
        "mov r0, r1\n"
        "bl exidx_capture\n"
        "movs r7, #20\n" /* getpid */
        "svc 0\n"
        "exidx_back: pop {r4, r7, r8, pc}\n"
        ".fnend\n");

static struct table table;
static uint64_t bias;

static void find(void *context, uint64_t pc, struct walk_object *object)
{
    (void)context;
    *object = (struct walk_object){.end = UNWIND_END_UNMAPPED, .bias = bias};
    if (pc - bias < table.object.pages << UNWIND_PAGE_BITS)
        object->table = &table;
}

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    const uint64_t at = address - captured[13];

    (void)context;
    if (at >= sizeof(stack) || at % 4)
        return false;
    *word = stack[at / 4];
    return true;
}

static bool open_own_table(void)
{
    AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct frame_counts counts;
    uint64_t offset;
    struct elf elf;

    if (fd < 0 || elf_open(&elf, fd))
        return false;
    const uint64_t address = (uintptr_t)exidx_back;
    const bool is_made = !table_build(&elf, &table, &counts) && !table_check(&table) &&
                         elf_offset_of(&elf, address, &offset);
    bias = address - offset;
    elf_close(&elf);
    return is_made;
}

static size_t walk(uint64_t pc, uint64_t *frames, enum unwind_end *end)
{
    const struct walk_options config = {.machine = machine_ours(), .find = find, .read = read_stack, .depth = 8};
    struct walk_registers registers = {.pc = pc};

    for (size_t i = 0; i < 16; i++)
        registers.by_dwarf[i] = captured[i];
    return walk_stack(&config, &registers, frames, end);
}

__attribute__((noinline)) TEST(own_stack)
{
    const uint64_t back = (uintptr_t)exidx_back;
    enum unwind_end end;
    uint64_t frames[9];

    CHECK(open_own_table());
    exidx_outer(captured);
    captured[7] = 20;
    const size_t count = walk(back, frames, &end);
    CHECK(count >= 5);
    CHECK_NUMBER(frames[0], back);
    CHECK_NUMBER(frames[1], (uintptr_t)exidx_in_inner);
    CHECK_NUMBER(frames[2], (uintptr_t)exidx_in_middle);
    CHECK_NUMBER(frames[3], (uintptr_t)exidx_in_outer);
    CHECK(frames[4] - (uintptr_t)own_stack < 512);
    /* After the first instruction, which pushes all registers, the code's own rows are right. */
    for (uint64_t pc = back - 22; pc <= back; pc += 2) {
        CHECK(walk(pc, frames, &end) >= 5);
        CHECK_NUMBER(frames[1], (uintptr_t)exidx_in_inner);
        CHECK_NUMBER(frames[3], (uintptr_t)exidx_in_outer);
    }
    table_free(&table);
}

#else
#include "elf/frame_entries.h"

/* Other builds have no .ARM.exidx: reading it would only take memory. */
TEST(own_stack)
{
    CHECK(!HAS_EXIDX);
}
#endif

TEST_MAIN
