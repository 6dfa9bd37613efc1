/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * jit [-n N] [-r ROUNDS] [-s SHAPE] [-b MS] [-u UID] [-N COMM] [-w] [-k]
 *
 * Writes code as a JIT compiler does, and its perf map /tmp/perf-PID.map. In each round it
 * makes two functions, jit_outer_R and jit_inner_R with R the number of the round, adds them to the
 * map and calls jit_target() N times through main > jit_outer_R > jit_inner_R. Each call makes one
 * getppid(2). The rounds before wait for no one: the map grows while the code already runs.
 * Prints `count R N` for each round and `done CALLS=`, or `skip` where it has no code for this CPU.
 *
 *   -n N         1000
 *   -r ROUNDS    1
 *   -s SHAPE     plain: one line for each function
 *                0x: addresses and sizes begin with 0x
 *                overlap: first one stale entry for all of the code, then the right ones
 *                replaced: first an entry for each function with another name, then the right ones
 *                reversed: the right entries first, then each again by a name that begins with new_
 *                hostile: the right ones between lines that are none
 *                none: no map at all
 *                link: the map is a symbolic link to a file elsewhere
 *                trampoline: plain, but CPython's perf trampolines, without frame pointer; they
 *                call their 4th argument: main > jit_outer_R > jit_evaluate > jit_inner_R
 *                frameless: plain, but jit_inner keeps no frame pointer: 0 is in its register when it
 *                makes the getppid(2) itself
 *   -b MS        runs for so long before it maps the memory for its code: 0
 *   -u UID       the map's owner
 *   -N COMM, -w, -k   as in other workloads. The map of the first round is there before `ready`; -k also removes
 *                it at the very end, else it stays.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#define CODE_SIZE 65536
#define FUNCTION_SIZE 32

static uint64_t made;
static char map_path[4096];
static const char *shape = "plain";
static unsigned char *code;
static size_t code_used;

void jit_target(void);

APART void jit_target(void)
{
    FRAME;
    made++;
    call_kernel(SYS_getppid, 0);
}

/* push %rbp; mov %rsp, %rbp; mov $callee, %rax; call *%rax; pop %rbp; ret */
static unsigned char *write_function(uintptr_t callee)
{
    static const unsigned char head[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8 };
    static const unsigned char tail[] = { 0xff, 0xd0, 0x5d, 0xc3 };
    unsigned char *function = code + code_used, *to = function;

    if (code_used + FUNCTION_SIZE > CODE_SIZE)
        exit(2);
    code_used += FUNCTION_SIZE;
    memcpy(to, head, sizeof(head));
    to += sizeof(head);
    memcpy(to, &callee, sizeof(callee));
    to += sizeof(callee);
    memcpy(to, tail, sizeof(tail));
    return function;
}

/* What CPython's Python/asm_trampoline.S is assembled to. */
static const unsigned char trampoline_code[] = {
#if defined(__x86_64__) && !defined(__ILP32__)
    0x48, 0x83, 0xec, 0x08,                         /* sub $8, %rsp */
    0xff, 0xd1,                                     /* call *%rcx */
    0x48, 0x83, 0xc4, 0x08,                         /* add $8, %rsp */
    0xc3,                                           /* ret */
#elif defined(__aarch64__)
    0xfd, 0x7b, 0xbf, 0xa9,                         /* stp x29, x30, [sp, #-16]! */
    0xfd, 0x03, 0x00, 0x91,                         /* mov x29, sp */
    0x60, 0x00, 0x3f, 0xd6,                         /* blr x3 */
    0xfd, 0x7b, 0xc1, 0xa8,                         /* ldp x29, x30, [sp], #16 */
    0xc0, 0x03, 0x5f, 0xd6,                         /* ret */
#elif defined(__riscv) && __riscv_xlen == 64
    0x41, 0x11, 0x06, 0xe4,                         /* addi sp, sp, -16; sd ra, 8(sp) */
    0x82, 0x96,                                     /* jalr a3 */
    0xa2, 0x60, 0x41, 0x01, 0x82, 0x80,             /* ld ra, 8(sp); addi sp, sp, 16; ret */
#endif
};

static unsigned char *write_trampoline(void)
{
    unsigned char *function = code + code_used;

    if (code_used + FUNCTION_SIZE > CODE_SIZE)
        exit(2);
    code_used += FUNCTION_SIZE;
    memcpy(function, trampoline_code, sizeof(trampoline_code));
    __builtin___clear_cache((char *)function, (char *)function + FUNCTION_SIZE);
    return function;
}

/* push %rbp; xor %ebp, %ebp; mov $SYS_getppid, %eax; syscall; pop %rbp; ret */
static unsigned char *write_frameless(void)
{
    static const unsigned char all[] = {0x55, 0x31, 0xed, 0xb8, 0x6e, 0, 0, 0, 0x0f, 0x05, 0x5d, 0xc3};
    unsigned char *function = code + code_used;

    code_used += FUNCTION_SIZE;
    return memcpy(function, all, sizeof(all));
}

typedef void trampoline(void *context, void *frame, int thrown, void *evaluator);
typedef void evaluator(void *context, void *frame, int thrown);
evaluator jit_evaluate;

APART void jit_evaluate(void *inner, void *unused, int none)
{
    FRAME;
    (void)unused, (void)none;
    ((trampoline *)(uintptr_t)inner)(NULL, NULL, 0, (void *)(uintptr_t)jit_target);
    NO_TAIL_CALL;
}

static void call(unsigned char *outer, unsigned char *inner)
{
    if (!strcmp(shape, "trampoline"))
        ((trampoline *)(uintptr_t)outer)(inner, NULL, 0, (void *)(uintptr_t)jit_evaluate);
    else
        ((void (*)(void))(uintptr_t)outer)();
}

/* Each call appends one piece in a single write, as JIT compilers do. */
static __attribute__((format(printf, 1, 2))) void add_to_map(const char *format, ...)
{
    char line[512];
    va_list arguments;
    int fd, size;

    va_start(arguments, format);
    size = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fd = open(map_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, line, (size_t)size) != size)
        die(map_path);
    close(fd);
}

static int is_shape(const char *name)
{
    return !strcmp(shape, name);
}

static void add_entry(const void *at, const char *before, const char *name, unsigned round)
{
    const char *prefix = is_shape("0x") ? "0x" : "";

    add_to_map("%s%lx %s%x %s%s_%u\n", prefix, (unsigned long)(uintptr_t)at, prefix, FUNCTION_SIZE,
               before, name, round);
}

static void add_hostile_lines(const void *at)
{
    unsigned long address = (unsigned long)(uintptr_t)at;

    add_to_map("%lx 20\n", address);
    add_to_map("%lx\n\n \n", address);
    add_to_map("%lx zz wrong_size\n", address);
    add_to_map("zz%lx 20 wrong_address\n", address);
    add_to_map("%lx 0 wrong_empty\n", address);
    add_to_map("1%lx00000000000000000000 20 wrong_long\n", address);
    add_to_map("ffffffffffffffff ffffffffffffffff wrong_end\n");
    add_to_map("%lx ", address + 4096);
    for (unsigned i = 0; i < 200; i++)
        add_to_map("wrong_name_without_end_wrong_name_without_end_wrong_name_without_end_");
    add_to_map("\n");
}

static void make_map(const void *outer, const void *inner, unsigned round)
{
    if (is_shape("none"))
        return;
    if (is_shape("overlap") && !round)
        add_to_map("%lx %x stale_all\n", (unsigned long)(uintptr_t)code, CODE_SIZE);
    if (is_shape("replaced")) {
        add_entry(outer, "stale_", "jit_outer", round);
        add_entry(inner, "stale_", "jit_inner", round);
    }
    if (is_shape("hostile"))
        add_hostile_lines(outer);
    add_entry(outer, "", "jit_outer", round);
    add_entry(inner, "", "jit_inner", round);
    if (is_shape("hostile"))
        add_to_map("%lx 20", (unsigned long)(uintptr_t)inner); /* truncated in the middle */
    if (is_shape("reversed")) {
        add_entry(outer, "new_", "jit_outer", round);
        add_entry(inner, "new_", "jit_inner", round);
    }
}

static void begin_map(const char *owner)
{
    char elsewhere[4200];
    int fd;

    snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
    unlink(map_path);
    if (is_shape("none"))
        return;
    if (is_shape("link")) {
        snprintf(elsewhere, sizeof(elsewhere), "%s.elsewhere", map_path);
        unlink(elsewhere);
        if (symlink(elsewhere, map_path))
            exit(2);
    }
    fd = open(map_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || (owner && fchown(fd, (uid_t)number_of(owner), (gid_t)-1)))
        die(map_path);
    close(fd);
}

int main(int argc, char **argv)
{
    unsigned long wanted = 1000, rounds = 1, busy = 0;
    const char *owner = NULL;
    int option;
    unsigned char *outer, *inner;
    uint64_t before;

    while ((option = next_option(argc, argv, "n:r:s:b:u:")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        case 'r': rounds = number_of(optarg); break;
        case 's': shape = optarg; break;
        case 'b': busy = number_of(optarg); break;
        case 'u': owner = optarg; break;
        default: return 2;
        }
    }
    begin(asked.comm);
#if defined(__x86_64__)
    int has_code = 1;
#else
    int has_code = is_shape("trampoline") && sizeof(trampoline_code);
#endif
    if (!has_code) {
        printf("skip: no code for this CPU\n");
        return 0;
    }
    while (clock() < (clock_t)busy * (CLOCKS_PER_SEC / 1000))
        continue;
    code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (code == MAP_FAILED) {
        printf("skip: no memory that is both writable and executable\n");
        return 0;
    }
    begin_map(owner);
    for (unsigned round = 0; round < rounds; round++) {
        inner = is_shape("trampoline")  ? write_trampoline()
                : is_shape("frameless") ? write_frameless()
                                        : write_function((uintptr_t)jit_target);
        outer = is_shape("trampoline") ? write_trampoline() : write_function((uintptr_t)inner);
        make_map(outer, inner, round);
        if (!round)
            wait_if_asked();
        before = made;
        for (unsigned long i = 0; i < wanted; i++)
            call(outer, inner);
        printf("count %u %llu\n", round, (unsigned long long)(made - before));
    }
    say_done(made);
    if (asked.stays)
        unlink(map_path);
    return 0;
}
