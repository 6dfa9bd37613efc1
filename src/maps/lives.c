/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/lives.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/task_fields.h"
#include "maps/store.h"

/*
 * How many processes that execute a program while tracing runs are remembered while they live; and
 * how many after they ended.
 */
#define MOST_LIVES 16384
#define LEAST_LIVES 1024
#define LIFE_BYTES 80  /* roughly what one takes */
#define MOST_SHARE 64  /* of the free memory, for each */
#define MOST_HELD 2    /* the kernel may begin to forget when its map is half full */

static uint32_t lives_to_keep(void)
{
    uint64_t most = kernel_free_memory() / MOST_SHARE;
    uint32_t lives = MOST_LIVES;

    while (lives > LEAST_LIVES && lives * LIFE_BYTES > most)
        lives /= 2;
    return lives;
}

void lives_init(struct lives *lives)
{
    *lives = (struct lives){LIFE_MAPS_NONE, 0, TRACEPOINT_NONE, TRACEPOINT_NONE};
}

static int open_maps(struct lives *lives)
{
    struct life_maps *maps = &lives->maps;
    uint32_t most = lives_to_keep();
    int result = bpf_create_numbered(&maps->living, BPF_MAP_TYPE_HASH, "living", sizeof(uint64_t),
                                     most);

    if (!result)
        result = bpf_create_numbered(&maps->ended, BPF_MAP_TYPE_LRU_HASH, "ended", sizeof(uint64_t),
                                     most);
    lives->most_ended = most;
    return result ? result : bpf_create_numbered(&maps->account, BPF_MAP_TYPE_ARRAY, "life_account",
                                                 sizeof(struct life_account), 1);
}

static int attach(struct tracepoint *tracepoint, const char *name, const char *program_name,
                  struct program *program)
{
    struct text log = {0};
    int result = tracepoint_open_raw(tracepoint, name, program_name, program, &log);

    text_free(&log);
    program_free(program);
    return result;
}

static int keep_begins(struct lives *lives, const struct event_filter *filter)
{
    struct program program = {0};

    emit_life_begins(&program, &lives->maps, filter);
    return attach(&lives->begins, "sched_process_exec", "life_begins", &program);
}

static int keep_ends(struct lives *lives, enum life_telling telling, const struct event_filter *filter)
{
    struct program program = {0};
    struct task_fields fields = {0};

    if (telling == LIFE_READ) {
        (void)task_fields_find(&fields);
        if (!fields.has_live)
            return -EINVAL;
    }
    emit_life_ends(&program, &lives->maps, telling, &fields, filter);
    return attach(&lives->ends, "sched_process_exit", "life_ends", &program);
}

static int open_ends(struct lives *lives, const struct event_filter *filter)
{
    int result = -EINVAL;

    for (enum life_telling telling = LIFE_TOLD; telling <= LIFE_GUESSED && result == -EINVAL; telling++) {
        tracepoint_close(&lives->ends); /* the last one is refused, as there is no such field */
        result = keep_ends(lives, telling, filter);
    }
    return result;
}

int lives_open(struct lives *lives, const struct event_filter *filter)
{
    lives_init(lives);
    int result = open_maps(lives);

    if (!result)
        result = keep_begins(lives, filter);
    if (!result)
        result = open_ends(lives, filter);
    if (result)
        lives_close(lives);
    return result;
}

static void close_map(int map)
{
    if (map >= 0)
        close(map);
}

void lives_close(struct lives *lives)
{
    tracepoint_close(&lives->begins);
    tracepoint_close(&lives->ends);
    close_map(lives->maps.living);
    close_map(lives->maps.ended);
    close_map(lives->maps.account);
    lives_init(lives);
}

uint64_t lives_missed(const struct lives *lives)
{
    return tracepoint_missed(&lives->begins) + tracepoint_missed(&lives->ends);
}

uint64_t lives_crowded_out(const struct lives *lives, bool *forgets)
{
    struct life_account account = {0};
    uint32_t zero = 0;

    if (lives->maps.account >= 0)
        (void)bpf_lookup(lives->maps.account, &zero, &account);
    *forgets = account.ends + account.living_full > lives->most_ended / MOST_HELD;
    return account.living_full;
}
