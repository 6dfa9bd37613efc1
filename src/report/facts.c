/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/facts.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/util.h"

/* These need no quotes in a shell. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-+=:,./@%^";

static uint64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A word as one would type it in a shell. */
static void add_word(struct text *line, const char *word)
{
    if (*word && !word[strspn(word, plain)]) {
        text_add(line, word);
        return;
    }
    text_add(line, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(line, "'\\''");
        else
            text_append(line, word, 1);
    text_add(line, "'");
}

int facts_init(struct facts *facts, const char *applet, char *const *words)
{
    *facts = (struct facts){.about.applet = applet};
    uname(&facts->system);
    text_add(&facts->command_line, applet);
    for (char *const *word = words + 1; words[0] && *word; word++) {
        text_add(&facts->command_line, " ");
        add_word(&facts->command_line, *word);
    }
    facts->about.host = facts->system.nodename;
    facts->about.kernel = facts->system.release;
    facts->about.command_line = facts->command_line.data;
    facts->about.losses = "";
    return facts->command_line.failed ? -ENOMEM : 0;
}

void facts_begin(struct facts *facts)
{
    if (!facts->next_began)
        facts->start = now_ns();
    facts->about.began = facts->next_began ? facts->next_began : clock_now();
    facts->about.losses = "";
    text_clear(&facts->losses);
}

/* The monotonic clock tells how long it took: the time of day may be set meanwhile. */
void facts_end(struct facts *facts)
{
    uint64_t now = now_ns();

    facts->about.ended = facts->about.began + (now - facts->start);
    facts->next_began = clock_now();
    facts->start = now;
}

void facts_count(struct facts *facts, uint64_t events)
{
    facts->about.events = events;
    facts->about.losses = facts->losses.length && !facts->losses.failed ? facts->losses.data : "";
}

void facts_free(struct facts *facts)
{
    text_free(&facts->command_line);
    text_free(&facts->losses);
    *facts = (struct facts){0};
}
