/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "apart/apart.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"

void scope_init(struct scope *scope)
{
    *scope = (struct scope){.follow = FOLLOW_NONE};
    lives_init(&scope->lives);
}

void scope_close(struct scope *scope)
{
    if (scope->filter.cgroup)
        close(scope->filter.cgroup);
    apart_watch(NULL, NULL);
    own_close(&scope->own);
    follow_close(&scope->follow);
    lives_close(&scope->lives);
}

int scope_open_cgroup(const char *path, bool by_rings)
{
    struct statfs about;
    uint32_t zero = 0;
    int map, directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return -errno;
    if (by_rings && !fstatfs(directory, &about) && about.f_type == CGROUP2_SUPER_MAGIC)
        return directory;
    if (by_rings) {
        close(directory);
        return -EBADF;
    }
    int result = bpf_create_numbered(&map, BPF_MAP_TYPE_CGROUP_ARRAY, "cgroup", sizeof(uint32_t), 1);
    if (!result)
        result = bpf_update(map, &zero, &(uint32_t){(uint32_t)directory}, BPF_ANY);
    close(directory);
    if (result && map >= 0)
        close(map);
    return result ? result : map;
}

void scope_leave_own_out(struct scope *scope, bool by_rings)
{
    if (by_rings ? own_open_in_memory(&scope->own) : own_open(&scope->own))
        return;
    scope->filter.own = scope->own.map;
    apart_watch(own_watch, &scope->own);
}

int scope_ask(struct scope *scope, struct text *why)
{
    struct text refusal = {0};
    int result = follow_ask(&scope->follow, &scope->filter);

    if (!result)
        return 0;
    refusal_explain(REFUSED_MAPS, result, 0, &refusal);
    text_add(why, text_or_error(&refusal, result));
    text_free(&refusal);
    return result;
}

static bool exists(uint32_t number)
{
    return !kill((pid_t)number, 0) || errno != ESRCH;
}

bool scope_thread_lives(const struct scope *scope)
{
    const int asked = scope->follow.asked;
    const uint32_t went_on = __atomic_load_n(&scope->went_on, __ATOMIC_RELAXED);
    uint32_t number, bits = 0;

    if (asked < 0)
        return went_on && exists(went_on);
    for (int more = bpf_next_key(asked, NULL, &number); !more; more = bpf_next_key(asked, &number, &number))
        if (!bpf_lookup(asked, &number, &bits) && bits & ASKED_THREAD && exists(number))
            return true;
    return false;
}

int scope_watch_asked(struct scope *scope)
{
    return follow_asked(&scope->follow, &scope->filter);
}

int scope_follow(struct scope *scope, struct text *why)
{
    enum refused what;
    struct text refusal = {0};
    int result = follow_open(&scope->follow, &scope->filter, &what);

    if (!result)
        return 0;
    refusal_explain(what, result, scope->follow.size, &refusal);
    text_add(why, text_or_error(&refusal, result));
    text_free(&refusal);
    return result;
}

void scope_tell_lives(struct scope *scope)
{
    scope->lives_refused = lives_open(&scope->lives, &scope->filter);
}

struct scope_losses scope_losses(const struct scope *scope)
{
    struct scope_losses losses = {
        .follow_missed = follow_missed(&scope->follow),
        .outgrown = follow_is_outgrown(&scope->follow) ? scope->follow.size : 0,
        .lives_missed = lives_missed(&scope->lives),
    };

    losses.crowded_out = lives_crowded_out(&scope->lives, &losses.forgets);
    return losses;
}
