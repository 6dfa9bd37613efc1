/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "checks/print.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"
#include "picture/svg_text.h"

/* ---- Text: a line each ---- */

static int print_line(FILE *out, const char *name, bool yes, const struct text *detail)
{
    struct text line = {0};

    text_format(&line, "%s: %s", name, yes ? "yes" : "no");
    if (detail->length) {
        text_add(&line, ": ");
        escape_bytes(&line, detail->data, detail->length);
    }
    int result = line.failed || detail->failed ? -ENOMEM : 0;
    if (!result)
        fprintf(out, "%s\n", line.data);
    text_free(&line);
    return result;
}

/* "yes: by perf's rings, without A (check), B", or why not, in the check's words. */
static int print_applet(FILE *out, const struct checks *checks, const struct judged *judged)
{
    const struct verdict *verdict = &judged->verdict;
    struct text detail = {0};

    if (!verdict->yes)
        return print_line(out, judged->applet, false, &checks->of[verdict->because].detail);
    if (verdict->way == COLLECT_RINGS)
        text_format(&detail, "%sby perf's rings%s",
                    verdict->walks ? "kernel functions by stackbox's own walk, all others " : "",
                    verdict->limit_count ? ", " : "");
    for (size_t i = 0; i < verdict->limit_count; i++) {
        const char *without = verdict->limits[i].without;
        const char *because = check_titles[verdict->limits[i].because].title;
        text_format(&detail, "%s%s", i ? ", " : "without ", without);
        if (strcmp(without, because))
            text_format(&detail, " (%s)", because);
    }
    int result = print_line(out, judged->applet, true, &detail);
    text_free(&detail);
    return result;
}

int checks_print_text(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count)
{
    int result = 0;

    for (size_t i = 0; i < CHECKS && !result; i++)
        result = print_line(out, check_titles[i].title, checks->of[i].yes, &checks->of[i].detail);
    for (size_t i = 0; i < count && !result; i++)
        result = print_applet(out, checks, &judged[i]);
    return result;
}

/* ---- JSON ---- */

static void add_member(struct text *json, const char *key, const char *text, size_t length)
{
    text_format(json, ", \"%s\": ", key);
    svg_add_json_bytes(json, text, length);
}

/* The first ": " separates why from what to do. */
static void add_answer(struct text *json, bool yes, const struct text *detail)
{
    const char *all = detail->data ? detail->data : "", *end = strstr(all, ": ");

    text_format(json, ", \"yes\": %s", yes ? "true" : "false");
    json->failed = json->failed || detail->failed;
    if (yes) {
        add_member(json, "detail", all, detail->length);
        return;
    }
    add_member(json, "why", all, end ? (size_t)(end - all) : detail->length);
    add_member(json, "what_to_do", end ? end + 2 : "", end ? strlen(end + 2) : 0);
}

static void add_check(struct text *json, enum check_name name, const struct check *check)
{
    const struct check_title *title = &check_titles[name];

    text_format(json, "%s\n    {\"key\": \"%s\"", name ? "," : "", title->key);
    add_member(json, "name", title->title, strlen(title->title));
    add_answer(json, check->yes, &check->detail);
    text_add(json, "}");
}

static void add_applet(struct text *json, const struct checks *checks, const struct judged *judged)
{
    const struct verdict *verdict = &judged->verdict;
    static const struct text nothing;

    text_add(json, "{\"name\": ");
    svg_add_json_bytes(json, judged->applet, strlen(judged->applet));
    add_answer(json, verdict->yes,
               verdict->yes ? &nothing : &checks->of[verdict->because].detail);
    if (verdict->way)
        text_format(json, ", \"by\": \"%s\"", verdict->way == COLLECT_RINGS ? "rings" : "bpf");
    text_add(json, ", \"without\": [");
    for (size_t i = 0; i < verdict->limit_count; i++) {
        const struct limit *limit = &verdict->limits[i];
        text_format(json, "%s{\"because\": \"%s\"", i ? ", " : "", check_titles[limit->because].key);
        add_member(json, "what", limit->without, strlen(limit->without));
        text_add(json, "}");
    }
    text_add(json, "]}");
}

int checks_print_json(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count)
{
    struct text json = {0};

    text_add(&json, "{\n  \"checks\": [");
    for (enum check_name i = 0; i < CHECKS; i++)
        add_check(&json, i, &checks->of[i]);
    text_add(&json, "\n  ],\n  \"applets\": [");
    for (size_t i = 0; i < count; i++) {
        text_add(&json, i ? ",\n    " : "\n    ");
        add_applet(&json, checks, &judged[i]);
    }
    text_add(&json, "\n  ]\n}\n");
    int result = json.failed ? -ENOMEM : 0;
    if (!result)
        fputs(json.data, out);
    text_free(&json);
    return result;
}
