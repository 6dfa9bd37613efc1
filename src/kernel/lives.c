/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/lives.h"

#include <unistd.h>

#include "insns/life.h"
#include "kernel/bpf.h"
#include "kernel/store.h"

/* As many processes that exec or end at a time; the longest unused go first. */
#define MOST_LIVES 8192
#define LEAST_LIVES 1024
#define LIFE_BYTES 80  /* about what one takes */
#define MOST_SHARE 32  /* of the free memory */

static uint32_t lives_to_keep(void)
{
    uint64_t most = store_free_memory() / MOST_SHARE;
    uint32_t lives = MOST_LIVES;

    while (lives > LEAST_LIVES && lives * LIFE_BYTES > most)
        lives /= 2;
    return lives;
}

void lives_init(struct lives *lives)
{
    *lives = (struct lives){-1, TRACEPOINT_NONE, TRACEPOINT_NONE};
}

static int keep(struct tracepoint *tracepoint, const struct lives *lives, const char *name,
                bool ended)
{
    struct program program = {0};
    struct text log = {0};

    emit_life(&program, lives->map, ended);
    int result = tracepoint_open_raw(tracepoint, name, ended ? "life_ends" : "life_begins",
                                     &program, &log);
    text_free(&log);
    program_free(&program);
    return result;
}

int lives_open(struct lives *lives)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_LRU_HASH,
        .name = "lives",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint64_t),
        .entries = lives_to_keep(),
    };

    lives_init(lives);
    lives->map = bpf_create_map(&shape);
    int result = lives->map < 0 ? lives->map : 0;
    if (!result)
        result = keep(&lives->begins, lives, "sched_process_exec", false);
    if (!result)
        result = keep(&lives->ends, lives, "sched_process_exit", true);
    if (result)
        lives_close(lives);
    return result;
}

void lives_close(struct lives *lives)
{
    tracepoint_close(&lives->begins);
    tracepoint_close(&lives->ends);
    if (lives->map >= 0)
        close(lives->map);
    lives_init(lives);
}

uint64_t lives_missed(const struct lives *lives)
{
    return tracepoint_missed(&lives->begins) + tracepoint_missed(&lives->ends);
}
