/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Draws applet, options, collector and environment from a seed, and makes the command line. */
#ifndef STACKBOX_WORKLOADS_JUDGE_DRAW_H
#define STACKBOX_WORKLOADS_JUDGE_DRAW_H

#include "judge.h"

static const char *const applet_names[APPLETS] = {
    "stackcount", "stacksnoop", "profile", "offcputime", "wakeuptime", "offwaketime", "walltime",
};

/* Each trait is drawn independently: taking one away does not change another. */
static const char *const traits[] = {
    "whose", "by", "stacks", "unwind", "output", "interval", "collect", "attach", "early", "ending", "one-cpu",
    "pid-namespace", "time-namespace", "tracefs", "memory", "debug", "event",
};

/* The bit of a trait in draw.without; 0: it cannot be taken away. */
static uint32_t trait_bit(const char *trait, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(traits); i++) {
        if (strlen(traits[i]) == length && !strncmp(traits[i], trait, length))
            return 1u << i;
    }
    return 0;
}

/* One of `of` numbers, or 0 if the trait is taken away. */
static unsigned draw_trait(const struct draw *draw, const char *trait, unsigned of)
{
    struct dice dice = {mix(draw->seed)};

    for (const char *at = trait; *at; at++)
        dice.state = mix(dice.state + (unsigned char)*at);
    unsigned drawn = between(&dice, 0, of - 1);
    return draw->without & trait_bit(trait, strlen(trait)) ? 0 : drawn;
}

static int probes_programs(const struct draw *draw)
{
    return draw->applet <= STACKSNOOP && draw->event <= DEEP_RETURN;
}

static void draw_event(struct draw *draw, const struct place *place)
{
    static const enum event events[] = {ALPHA, ALPHA, ALPHA, TRACEPOINT, TRACEPOINT, ALPHA_RETURN, DEEP_ENTRY,
                                        DEEP_RETURN, KERNEL_FUNCTION, KERNEL_RETURN, KERNEL_FUNCTION};
    static const char *const ways[] = {NULL, NULL, NULL, NULL, "pmu", "tracefs", "multi"};

    draw->event = events[draw_trait(draw, "event", place->kprobes ? 11 : 8)];
    if (draw->event != TRACEPOINT)
        draw->attach = ways[draw_trait(draw, "attach", COUNT_OF(ways))];
}

static void draw_all(struct draw *draw, const struct place *place)
{
    static const enum applet applets[] = {STACKCOUNT, STACKCOUNT, STACKCOUNT, STACKCOUNT, STACKCOUNT, STACKSNOOP,
                                          STACKSNOOP, PROFILE, OFFCPUTIME, OFFCPUTIME, WAKEUPTIME, OFFWAKETIME, WALLTIME,
                                          WALLTIME, WALLTIME};
    static const enum whose whose[] = {COMMAND, COMMAND, COMMAND, COMMAND, COMMAND, ONE_PID, ONE_PID, ONE_PID, ONE_PID,
                                       TWO_PIDS, TWO_PIDS, FOLLOWED, FOLLOWED, ONE_TID, ALL_OF_THEM, ALL_OF_THEM};
    static const enum by by[] = {BY_PROCESS, BY_PROCESS, BY_PROCESS, BY_THREAD, BY_THREAD, BY_NAME, BY_DEFAULT};
    static const char *const intervals[] = {NULL, NULL, NULL, NULL, NULL, "0.1", "0.05", "0.3"};
    static const char *const collectors[] = {NULL, NULL, NULL, NULL, "bpf", "rings", "rings"};
    static const unsigned memories[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 400, 200, 100, 64};

    draw->applet = applets[draw_trait(draw, "applet", COUNT_OF(applets))];
    if (draw->applet <= STACKSNOOP)
        draw_event(draw, place);
    draw->whose = whose[draw_trait(draw, "whose", COUNT_OF(whose))];
    draw->by = by[draw_trait(draw, "by", COUNT_OF(by))];
    draw->stacks = (enum stacks)(draw_trait(draw, "stacks", 6) % 3 * (draw_trait(draw, "stacks", 6) < 3));
    draw->unwinding = (enum unwinding)(draw_trait(draw, "unwind", 8) % 3 * (draw_trait(draw, "unwind", 8) < 3));
    draw->output = (enum output)(draw_trait(draw, "output", 6) % 4);
    draw->interval = intervals[draw_trait(draw, "interval", COUNT_OF(intervals))];
    draw->collect = collectors[draw_trait(draw, "collect", COUNT_OF(collectors))];
    draw->ending = (enum ending)(draw_trait(draw, "ending", 6) % 3);
    draw->early = draw_trait(draw, "early", 6) == 1 ? 1 + (int)draw_trait(draw, "early-at", 150) : 0;
    draw->silent = draw_trait(draw, "debug", 8) == 1;
    draw->one_cpu = draw_trait(draw, "one-cpu", 8) == 1;
    draw->pid_namespace = draw_trait(draw, "pid-namespace", 6) == 1;
    draw->time_namespace = draw_trait(draw, "time-namespace", 8) == 1;
    draw->tracefs = draw_trait(draw, "tracefs", 2) == 1;
    draw->memory = memories[draw_trait(draw, "memory", COUNT_OF(memories))];

    /* Other processes may make the same events: pids tell theirs from the life's. */
    if (draw->whose == ALL_OF_THEM && !probes_programs(draw)) {
        if (draw->pid_namespace)
            draw->whose = COMMAND;
        else if (draw->by == BY_NAME || draw->by == BY_DEFAULT)
            draw->by = BY_PROCESS;
    }
    if (draw->whose == ALL_OF_THEM && draw->applet == WALLTIME)
        draw->whose = COMMAND; /* walltime needs a target */
    if (draw->applet == STACKSNOOP) {
        draw->interval = NULL;
        draw->output = TO_STDOUT;
        draw->by = BY_THREAD; /* each event has pid and tid */
        draw->stacks = BOTH_STACKS;
    }
    if (draw->whose == COMMAND)
        draw->early = 0; /* stackbox ends with the command */
    if (draw->stacks == KERNEL_STACKS && draw->by == BY_DEFAULT)
        draw->by = BY_PROCESS; /* -K alone does not tell processes apart */
    if (draw->applet == WALLTIME)
        draw->collect = NULL; /* walltime needs BPF programs, as multi links do */
    if (draw->collect && !strcmp(draw->collect, "rings") && draw->attach && !strcmp(draw->attach, "multi"))
        draw->attach = NULL;
}

struct words {
    const char *word[64];
    unsigned count;
    char text[4096], *end;
};

static void add_word(struct words *words, const char *word)
{
    if (words->count + 1 < COUNT_OF(words->word))
        words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

static __attribute__((format(printf, 2, 3))) void add_made(struct words *words, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    add_word(words, words->end);
    words->end += vsnprintf(words->end, (size_t)(words->text + sizeof(words->text) - words->end), format, values) + 1;
    va_end(values);
}

static void add_pattern(const struct draw *draw, const struct place *place, struct words *words)
{
    switch (draw->event) {
    case ALPHA: add_made(words, "%s:life_alpha", place->life); break;
    case ALPHA_RETURN: add_made(words, "r:%s:life_alpha", place->life); break;
    case DEEP_ENTRY: add_made(words, "%s:life_deep", place->life); break;
    case DEEP_RETURN: add_made(words, "r:%s:life_deep", place->life); break;
    case TRACEPOINT: add_word(words, "t:syscalls:sys_enter_getppid"); break;
    case KERNEL_FUNCTION: add_word(words, "sys_getppid"); break;
    case KERNEL_RETURN: add_word(words, "r::sys_getppid"); break;
    }
}

/* The life's command line, for stackbox (after --) or for run_beside(). */
static void add_life(const struct draw *draw, const struct place *place, struct words *words)
{
    add_word(words, place->life);
    add_made(words, "%llu", (unsigned long long)draw->seed);
    add_word(words, "--log");
    add_word(words, place->log);
    add_word(words, "--dir");
    add_word(words, place->directory);
    if (draw->only) {
        add_word(words, "--only");
        add_word(words, draw->only);
    }
    if (place->loads) {
        add_word(words, "--loads");
        add_word(words, place->loads);
    }
    if (place->switches_cpus)
        add_word(words, "--cpus");
    if (place->alone || draw->pid_namespace)
        add_word(words, "--pids");
    if (draw->whose != COMMAND)
        add_word(words, "--hold");
}

static void add_whose(const struct draw *draw, const struct run *run, struct words *words)
{
    switch (draw->whose) {
    case ONE_PID: case FOLLOWED: add_made(words, "-p%d", run->pids[0]); break;
    case TWO_PIDS:
        add_word(words, "-p");
        if (run->targets > 1)
            add_made(words, "%d,%d", run->pids[0], run->pids[1]);
        else
            add_made(words, "%d", run->pids[0]);
        break;
    case ONE_TID: add_made(words, "-t%d", run->tid); break;
    default: break;
    }
    if (draw->whose == FOLLOWED)
        add_word(words, "--follow");
}

static void write_words(const struct draw *draw, const struct place *place, const struct run *run, struct words *words)
{
    static const char *const by_words[] = {NULL, "process", "thread", "name"};

    words->count = 0;
    words->end = words->text;
    add_word(words, place->stackbox);
    add_word(words, applet_names[draw->applet]);
    if (draw->applet == STACKSNOOP) {
        add_word(words, "--format=json");
    } else {
        if (draw->by != BY_DEFAULT)
            add_made(words, "--by=%s", by_words[draw->by]);
        if (draw->output == TO_STDOUT)
            add_word(words, "-f");
        if (draw->output == TO_FOLDED || draw->output == TO_BOTH)
            add_made(words, "-o%s/r%s.folded", place->directory, draw->interval ? "%n" : "");
        if (draw->output == TO_RECORDING || draw->output == TO_BOTH)
            add_made(words, "-o%s/r%s.sbx", place->directory, draw->interval ? "%n" : "");
        if (draw->interval)
            add_made(words, "-i%s", draw->interval);
    }
    if (draw->stacks != BOTH_STACKS)
        add_word(words, draw->stacks == USER_STACKS ? "-U" : "-K");
    if (draw->unwinding != BY_TABLES)
        add_word(words, draw->unwinding == BY_FRAMES ? "--unwind=fp" : "--unwind=none");
    if (draw->collect)
        add_made(words, "--collect=%s", draw->collect);
    if (draw->attach)
        add_made(words, "--attach-by=%s", draw->attach);
    if (!draw->silent)
        add_word(words, "--debug");
    add_whose(draw, run, words);
    if (draw->applet <= STACKSNOOP)
        add_pattern(draw, place, words);
    if (draw->whose == COMMAND) {
        add_word(words, "--");
        add_life(draw, place, words);
    }
}

static void print_environment(FILE *out, const struct draw *draw)
{
    if (draw->one_cpu)
        fprintf(out, " one-cpu");
    if (draw->pid_namespace)
        fprintf(out, " pid-namespace");
    if (draw->time_namespace)
        fprintf(out, " time-namespace");
    if (draw->tracefs)
        fprintf(out, " tracefs");
    if (draw->memory)
        fprintf(out, " memory-%u", draw->memory);
    if (draw->early)
        fprintf(out, " ends-after-%d-ms", draw->early);
    if (draw->ending)
        fprintf(out, draw->ending == BY_TERM ? " SIGTERM" : " SIGTERM-twice");
}

#endif
