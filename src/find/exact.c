/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/exact.h"

#include <string.h>

#include "base/text.h"
#include "kernel/kallsyms.h"
#include "machine/machine.h"

#define ENTER "syscalls:sys_enter_"
#define EXIT "syscalls:sys_exit_"

struct look {
    const char *call;  /* getppid */
    bool preempts;     /* the kernel has the function that runs preemptible programs */
    bool has_kprobes;
    struct text found; /* __x64_sys_getppid */
};

/* Architectures' prefixes of sys_NAME; other ways into the kernel have their own prefixes. */
static bool is_function_of(const char *name, const char *call)
{
    for (size_t i = 0; machines[i]; i++) {
        size_t length = strlen(machines[i]->call_prefix);
        if (!strncmp(name, machines[i]->call_prefix, length) && !strncmp(name + length, "sys_", 4) &&
            !strcmp(name + length + 4, call))
            return true;
    }
    return false;
}

static int look_at(void *context, const struct kallsyms_symbol *symbol)
{
    struct look *look = context;

    look->preempts |= !strcmp(symbol->name, "trace_call_bpf_faultable");
    look->has_kprobes |= !strcmp(symbol->name, "register_kprobe");
    if (!look->found.length && is_function_of(symbol->name, look->call))
        text_add(&look->found, symbol->name);
    return 0;
}

static const struct place *first_call(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        if (place->kind == PLACE_TRACEPOINT && !place->error &&
            (!strncmp(place->name, ENTER, strlen(ENTER)) ||
             !strncmp(place->name, EXIT, strlen(EXIT))))
            return place;
    }
    return NULL;
}

const struct place *exact_instead(const struct places *places, int kallsyms, struct text *pattern)
{
    const struct place *place = first_call(places);
    struct look look = {0};

    if (!place || kallsyms < 0)
        return NULL;
    bool enters = !strncmp(place->name, ENTER, strlen(ENTER));
    look.call = place->name + strlen(enters ? ENTER : EXIT);
    bool looked = !kallsyms_each(kallsyms, look_at, &look) && look.preempts && look.has_kprobes;
    if (looked && look.found.length)
        text_format(pattern, "%s%s", enters ? "" : "r::", look.found.data);
    text_free(&look.found);
    return pattern->length ? place : NULL;
}
