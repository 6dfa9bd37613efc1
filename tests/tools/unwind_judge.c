/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind_judge [-amqv] PROGRAM [SHAPE...]: runs shapes (tests/workloads/shapes) under ptrace(2) and
 * compares walks by the tables of the program's files with the stacks that the shapes record:
 *
 *     wrong SHAPE: ...       a stack at a mark differs from the true one; both, frame by frame
 *     step\tCOUNT\tADDRESS\tFILE\tPLACE: END    wrong walks while single-stepping, by where they
 *                            began (in the file's own addresses) and how they ended
 *     total SHAPES STACKS WRONG STEPS WRONG-STEPS
 *
 * Steps are judged by a shadow stack of return addresses: a value that a step pushed is one if it
 * is the address after the instruction, until the stack pointer is above it.
 *
 * -a: each stack at a mark as a line, `at PID: ADDRESS...`, in hexadecimal. -m: main()'s caller has
 * no table (musl). -q: without the shapes that step through libraries for long. Exit: 0; 1 if a
 * stack at a mark is wrong or a shape ends otherwise than by exit(0); 2 if it cannot tell.
 */
#ifndef __x86_64__
int main(void)
{
    return 2;
}
#else
#include <signal.h>

#include "tests/workloads/shapes/shape.h"
#include "tracee.h"

#define MOST_STEPS 400000
#define LONGEST_ANY 24
#define MOST_PLACES 512

static bool is_musl, is_quick, is_verbose, shows_addresses;
static const char *shape_name;
static struct tracee tracee;

static struct {
    unsigned long shapes, stacks, wrong, steps, wrong_steps;
} total;

/* ---- the true stacks */

static struct shape told;

static bool read_told(void)
{
    return tracee_bytes(&tracee, tracee.registers.rdi, &told, sizeof(told)) && told.first <= told.count &&
           told.count <= sizeof(told.told) / sizeof(told.told[0]);
}

static const char *told_name(uint64_t index)
{
    static char name[64];

    memset(name, 0, sizeof(name));
    for (size_t i = 0; i < sizeof(name) - 1; i++)
        if (!tracee_bytes(&tracee, (uint64_t)(uintptr_t)told.told[index].name + i, name + i, 1) || !name[i])
            break;
    return name;
}

static void show_stacks(const struct walked *walked, const char *why, size_t at)
{
    char text[512];

    printf("wrong %s: %s, at frame %zu; the end is: %s\n", shape_name, why, at, tracee_end(walked->end));
    for (size_t i = 0; i < walked->count; i++)
        printf("    walked %s\n", tracee_describe(&tracee, walked->frames[i] - (i > 0), text, sizeof(text)));
    for (uint64_t i = told.count; i-- > told.first;) {
        const uint64_t returns = (uint64_t)(uintptr_t)told.told[i].returns;

        printf("    told %s", told_name(i));
        printf(", returns to %s\n", returns ? tracee_describe(&tracee, returns, text, sizeof(text)) : "?");
    }
}

static size_t find_function(const struct walked *walked, size_t from, const char *name)
{
    size_t i = from;

    while (i < walked->count && i - from <= LONGEST_ANY &&
           !tracee_is_in(&tracee, walked->frames[i] - 1, name))
        i++;
    return i;
}

static size_t find_address(const struct walked *walked, size_t from, uint64_t address)
{
    size_t i = from;

    while (i < walked->count && i - from <= LONGEST_ANY && walked->frames[i] != address)
        i++;
    return i;
}

/* NULL, or why the walk's end is wrong. */
static const char *compare_ends(const struct walked *walked)
{
    if (told.end == SHAPE_BEGINS)
        return walked->end == UNWIND_END_ROOT || walked->end == UNWIND_END_NO_TABLE ? NULL : "it is cut off";
    if (is_musl && walked->end == UNWIND_END_NO_TABLE)
        return NULL;
    return walked->end == told.end ? NULL : told.end ? "it has another end" : "it is not whole";
}

/* NULL, or why the frames differ from the true ones; *at is the first frame that does. */
static const char *compare(const struct walked *walked, size_t *at)
{
    uint64_t expected = 0; /* the address of the next frame; 0: not known */
    bool any = false;
    size_t i = 0;

    for (uint64_t t = told.count; t-- > told.first;) {
        const uint64_t returns = (uint64_t)(uintptr_t)told.told[t].returns;
        const char *name = told_name(t);
        const bool is_any = !strcmp(name, ANY);

        if (any && !is_any)
            i = find_function(walked, i, name);
        any = false;
        *at = i;
        if (i == walked->count)
            return walked->end == UNWIND_END_DEPTH && i == TRACEE_DEPTH ? NULL : "it is too short";
        if (expected && walked->frames[i] != expected)
            return "it is another address";
        if (!is_any && !tracee_is_in(&tracee, walked->frames[i] - (i > 0), name))
            return "it is another function";
        /* The trampoline that musl's handlers return to has no table. */
        if (is_any && is_musl && i + 1 == walked->count && walked->end == UNWIND_END_NO_TABLE)
            return NULL;
        any = is_any && !returns;
        i += !any; /* ANY can be no frame at all, after a library's tail call */
        expected = returns;
        if (is_any && returns)
            i = find_address(walked, i, returns);
    }
    *at = i;
    if (expected && !told.end && !is_musl && (i == walked->count || walked->frames[i] != expected))
        return "it returns elsewhere";
    return compare_ends(walked);
}

/* Compares the walk at a mark with the true stack, and shows both if it is wrong. */
static bool check_stack(struct walked *walked)
{
    size_t at = 0;

    tracee_read_mappings(&tracee);
    tracee_walk(&tracee, walked);
    total.stacks++;
    if (shows_addresses) {
        printf("at %d:", (int)tracee.pid);
        for (size_t i = 0; i < walked->count; i++)
            printf(" %llx", (unsigned long long)walked->frames[i]);
        printf("\n");
    }
    const char *why = read_told() ? compare(walked, &at) : "nothing is told";
    if (why) {
        total.wrong++;
        show_stacks(walked, why, at);
    } else if (is_verbose) {
        printf("right %s: %zu frames\n", shape_name, walked->count);
    }
    return !why;
}

/* ---- steps */

/* Where wrong walks began */
static struct place {
    char text[1024];
    enum unwind_end end;
    unsigned long count;
} places[MOST_PLACES];

static void note_place(const struct walked *walked)
{
    const uint64_t pc = tracee.registers.rip;
    const struct traced_mapping *mapping = tracee_mapping(&tracee, pc);
    char text[1024], place[512];
    uint64_t address = pc;
    const bool is_file = mapping && mapping->object &&
                         elf_address_of(&mapping->object->elf, pc - mapping->start + mapping->offset, &address);

    snprintf(text, sizeof(text), "%llx\t%.400s\t%s", (unsigned long long)address,
             is_file ? mapping->object->path : "-", tracee_describe(&tracee, pc, place, sizeof(place)));
    for (size_t i = 0; i < MOST_PLACES; i++) {
        if (places[i].count && (strcmp(places[i].text, text) || places[i].end != walked->end))
            continue;
        snprintf(places[i].text, sizeof(places[i].text), "%s", text);
        places[i].end = walked->end;
        places[i].count++;
        return;
    }
}

static void show_places(void)
{
    for (size_t i = 0; i < MOST_PLACES && places[i].count; i++)
        printf("step\t%lu\t%s: %s\n", places[i].count, places[i].text, tracee_end(places[i].end));
}

/* The shadow stack: the current return addresses, and where each is on the stack. */
static struct {
    uint64_t address, at;
} calls[256];
static size_t call_count;

static void push_call(uint64_t address, uint64_t at)
{
    if (call_count < sizeof(calls) / sizeof(calls[0])) {
        calls[call_count].address = address;
        calls[call_count++].at = at;
    }
}

static void follow_calls(const struct user_regs_struct *before)
{
    const uint64_t sp = tracee.registers.rsp;
    uint64_t word;

    while (call_count && sp > calls[call_count - 1].at)
        call_count--;
    if (sp == before->rsp - 8 && tracee_word(&tracee, sp, &word) && word - before->rip - 1 < 15)
        push_call(word, sp);
}

/* A handler runs: it returns to the trampoline, whose caller is the interrupted function. */
static void follow_signal(const struct user_regs_struct *before)
{
    const uint64_t sp = tracee.registers.rsp;
    uint64_t word;

    if (tracee.registers.rip != before->rip && tracee_word(&tracee, sp, &word)) {
        push_call(before->rip + 1, sp + 8);
        push_call(word, sp);
    }
}

static void show_step(const struct walked *walked)
{
    char text[512];

    printf("wrong step in %s\n", shape_name);
    for (size_t i = 0; i < walked->count; i++)
        printf("    walked %s\n",
               tracee_describe(&tracee, walked->frames[i] - (i > 0), text, sizeof(text)));
    for (size_t i = call_count; i > 0; i--)
        printf("    called %s\n", tracee_describe(&tracee, calls[i - 1].address, text, sizeof(text)));
}

static void judge_step(const struct walked *begin)
{
    struct walked walked;
    size_t i = 1;

    tracee_walk(&tracee, &walked);
    total.steps++;
    bool right = walked.count == 1 + call_count + begin->count - 1 && walked.end == begin->end &&
                 walked.frames[0] == tracee.registers.rip;
    for (size_t call = call_count; right && call > 0; call--, i++)
        right = walked.frames[i] == calls[call - 1].address;
    for (size_t rest = 1; right && rest < begin->count; rest++, i++)
        right = walked.frames[i] == begin->frames[rest];
    if (right)
        return;
    total.wrong_steps++;
    note_place(&walked);
    if (is_verbose)
        show_step(&walked);
}

static bool at_mark(void)
{
    unsigned char before;

    return (uint32_t)tracee.registers.rax == SHAPE_MAGIC &&
           tracee_bytes(&tracee, tracee.registers.rip - 1, &before, 1) && before == 0xcc;
}

/* Steps to the next mark. Returns waitpid's last status: the process may have ended before. */
static int step_through(const struct walked *begin)
{
    int status = 0, number = 0;

    call_count = 0;
    for (long steps = 0; steps < MOST_STEPS; steps++) {
        const struct user_regs_struct before = tracee.registers;

        if (ptrace(PTRACE_SINGLESTEP, tracee.pid, NULL, (void *)(intptr_t)number) ||
            waitpid(tracee.pid, &status, __WALL) != tracee.pid || !WIFSTOPPED(status) ||
            !tracee_stopped(&tracee, tracee.pid))
            return status;
        if (number)
            follow_signal(&before);
        else
            follow_calls(&before);
        number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (!number && at_mark())
            return status;
        if (!number)
            judge_step(begin);
    }
    printf("wrong %s: more than %d steps\n", shape_name, MOST_STEPS);
    total.wrong++;
    return status;
}

/* ---- running */

/* Handles a stop. Returns the signal to deliver when the process goes on. */
static int stopped(int status)
{
    struct walked walked;

    if (WSTOPSIG(status) != SIGTRAP || status >> 16)
        return status >> 16 || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
    if (!at_mark())
        return 0;
    const uint64_t what = tracee.registers.rsi;
    if (check_stack(&walked) && what == SHAPE_STEP)
        step_through(&walked);
    return 0;
}

static void follow(pid_t first)
{
    int status = 0;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            if (tracee_stopped(&tracee, pid))
                ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)stopped(status));
        } else if (pid == first && status) {
            printf("wrong %s: it ended with status 0x%x\n", shape_name, status);
            total.wrong++;
        }
    }
}

/* Runs one shape; a NULL name lists them. The program's stdout goes to `out` if that is not -1. */
static void run_shape(const char *program, const char *name, int out)
{
    int status;

    shape_name = name ? name : "(before main)";
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        if (out >= 0)
            dup2(out, STDOUT_FILENO);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(program, program, name, NULL);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL,
               PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)) {
        fprintf(stderr, "%s cannot be traced\n", program);
        exit(2);
    }
    const unsigned long stacks = total.stacks;
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    follow(pid);
    total.shapes += name != NULL;
    if (name && total.stacks == stacks) {
        printf("wrong %s: it marked nothing\n", name);
        total.wrong++;
    }
}

static bool is_long(const char *name)
{
    static const char *const names[] = {"step_clock", "step_memory", "step_strings", "step_print", "step_sort"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* Runs all shapes that the program lists. Its list fits into a pipe. */
static void run_all(const char *program)
{
    char names[256][64];
    int ends[2];
    size_t count = 0;

    if (pipe2(ends, O_CLOEXEC))
        exit(2);
    run_shape(program, NULL, ends[1]);
    close(ends[1]);
    FILE *list = fdopen(ends[0], "r");
    while (list && count < 256 && fscanf(list, "%63s", names[count]) == 1)
        count++;
    if (!count) {
        fprintf(stderr, "%s tells no shapes\n", program);
        exit(2);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_quick || !is_long(names[i]))
            run_shape(program, names[i], -1);
}

int main(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "amqv")) > 0) {
        shows_addresses = shows_addresses || option == 'a';
        is_musl = is_musl || option == 'm';
        is_quick = is_quick || option == 'q';
        is_verbose = is_verbose || option == 'v';
    }
    if (optind == argc)
        return 2;
    const char *program = argv[optind++];
    if (optind == argc)
        run_all(program);
    while (optind < argc)
        run_shape(program, argv[optind++], -1);
    show_places();
    printf("total %lu %lu %lu %lu %lu\n", total.shapes, total.stacks, total.wrong, total.steps,
           total.wrong_steps);
    return total.wrong != 0;
}
#endif
