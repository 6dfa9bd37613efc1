/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* perf's rings: can they be used, and, if no program collects, with which events. */
#include <errno.h>

#include "checks/look.h"
#include "rings/rings_try.h"

struct ring_source *check_rings;

static struct scope scope;
static struct ring_source source;
static struct ring_unwind by_the_kernel; /* stacks do not matter here */

static int take_nothing(void *context, const struct ring_record *record)
{
    (void)context;
    (void)record;
    return 0;
}

static int open_source(void)
{
    struct text unwanted = {0};

    scope_init(&scope);
    scope.filter.cpu = -1;
    source.wishes = (struct ring_wishes){.scope = &scope, .unwind = &by_the_kernel, .kernel = true, .user = true,
                                          .raw = true};
    int result = ring_source_open(&source, take_nothing, NULL, &unwanted);
    text_free(&unwanted);
    return result;
}

static void decide(struct check *check, int result)
{
    check->yes = !result;
    if (result)
        rings_explain(result, &check->detail);
}

void check_rings_open(struct checks *checks)
{
    struct check *own = &checks->of[CHECK_OWN_RINGS];
    const int refused = rings_try(false, true);
    const bool needed = !refused && checks->found[0].way == COLLECT_RINGS;

    decide(own, rings_try(true, false));
    if (own->yes && refused)
        text_format(&own->detail, "profile with -p PID or -- COMMAND%s",
                    rings_try(true, true) ? ", without kernel stacks" : "");
    decide(&checks->of[CHECK_RINGS], needed ? open_source() : refused);
    if (needed && checks->of[CHECK_RINGS].yes)
        check_rings = &source;
    else
        check_rings_close();
}

void check_rings_close(void)
{
    ring_source_close(&source);
    check_rings = NULL;
}

int check_ring_event(uint32_t type, uint64_t config)
{
    static const struct ring_place nowhere = {.flags = 0};
    const struct rings_event event = {.type = type, .config = config, .period = 1000000000};
    int result = ring_source_add(check_rings, &event, &nowhere);

    ring_source_detach(check_rings);
    return result;
}
