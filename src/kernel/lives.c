/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/lives.h"

#include <errno.h>
#include <unistd.h>

#include "insns/life.h"
#include "kernel/bpf.h"
#include "util.h"

/* As many processes that exec or end at a time; the longest unused go first. */
#define MOST_LIVES 8192

void lives_init(struct lives *lives)
{
    *lives = (struct lives){-1, {-1, -1}, {-1, -1}};
}

static int load(int map, bool ended)
{
    struct program program = {0};
    struct linked linked;
    struct text why = {0};

    emit_life(&program, map, ended);
    int result = program_link(&program, PROGRAM_LIMIT_OLD, &linked, &why);
    if (!result) {
        const struct bpf_load load = {
            .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
            .name = ended ? "life_ends" : "life_begins",
            .insns = linked.insns,
            .count = linked.count,
        };
        result = bpf_load_program(&load, &why);
    }
    text_free(&why);
    program_free(&program);
    return result;
}

static int keep(struct lives *lives, int which, const char *tracepoint, bool ended)
{
    lives->programs[which] = load(lives->map, ended);
    if (lives->programs[which] < 0)
        return lives->programs[which];
    lives->links[which] = bpf_open_raw_tracepoint(lives->programs[which], tracepoint);
    return lives->links[which] < 0 ? lives->links[which] : 0;
}

int lives_open(struct lives *lives)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_LRU_HASH,
        .name = "lives",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint64_t),
        .entries = MOST_LIVES,
    };

    lives_init(lives);
    lives->map = bpf_create_map(&shape);
    int result = lives->map < 0 ? lives->map : keep(lives, 0, "sched_process_exec", false);
    if (!result)
        result = keep(lives, 1, "sched_process_exit", true);
    if (result)
        lives_close(lives);
    return result;
}

void lives_close(struct lives *lives)
{
    for (size_t i = 0; i < COUNT_OF(lives->links); i++) {
        if (lives->links[i] >= 0)
            close(lives->links[i]);
        if (lives->programs[i] >= 0)
            close(lives->programs[i]);
    }
    if (lives->map >= 0)
        close(lives->map);
    lives_init(lives);
}

uint64_t lives_missed(const struct lives *lives)
{
    struct bpf_program_info info;
    uint64_t missed = 0;

    for (size_t i = 0; i < COUNT_OF(lives->programs); i++)
        if (lives->programs[i] >= 0 && !bpf_program_info(lives->programs[i], &info))
            missed += info.recursion_misses;
    return missed;
}
