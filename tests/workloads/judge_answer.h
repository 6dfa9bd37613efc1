/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads what stackbox printed: folded stacks, events in JSON, and its own account on stderr. */
#ifndef STACKBOX_WORKLOADS_JUDGE_ANSWER_H
#define STACKBOX_WORKLOADS_JUDGE_ANSWER_H

#include "judge_run.h"

static struct row *new_row(struct answer *answer)
{
    if (!(answer->count & (answer->count - 1)) || !answer->rows)
        answer->rows = realloc(answer->rows, (answer->count ? 2 * answer->count : 1) * sizeof(struct row));
    if (!answer->rows)
        exit(2);
    answer->rows[answer->count] = (struct row){.count = 0};
    return &answer->rows[answer->count++];
}

/* "NAME (PID)", "NAME (PID/TID)", or only a name */
static void read_task(const char *text, size_t length, char *task, size_t size, int32_t *pid, int32_t *tid)
{
    char *numbers;
    char end = 0;

    snprintf(task, size, "%.*s", (int)length, text);
    *pid = *tid = 0;
    numbers = strrchr(task, '(');
    if (numbers && numbers > task && numbers[-1] == ' ') {
        if (sscanf(numbers, "(%d/%d%c", pid, tid, &end) == 3 && end == ')')
            numbers[-1] = 0;
        else if (sscanf(numbers, "(%d%c", pid, &end) == 2 && end == ')')
            numbers[-1] = 0, *tid = *pid;
        else
            *pid = 0;
    }
}

/* A line "TASK;FRAME;FRAME COUNT" */
static void read_folded(struct answer *answer, char *text)
{
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n'), *count, *frames;
        struct row *row;
        next = end ? end + 1 : line + strlen(line);
        if (end)
            *end = 0;
        count = strrchr(line, ' ');
        if (!*line || !count)
            continue;
        if (!count[1] || count[1 + strspn(count + 1, "0123456789")]) {
            fails("no folded stack: %.200s", line);
            continue;
        }
        row = new_row(answer);
        row->count = strtoull(count + 1, NULL, 10);
        *count = 0;
        frames = strchr(line, ';');
        read_task(line, frames ? (size_t)(frames - line) : strlen(line), row->name, sizeof(row->name), &row->pid,
                  &row->tid);
        row->stack = frames ? frames : "";
    }
}

/* Each event is one line; its fields are found by their names. */
static void read_events(struct answer *answer, char *text)
{
    double last = -1, at;

    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n'), *comm, *pid, *tid;
        struct row *row;
        next = end ? end + 1 : line + strlen(line);
        if (end)
            *end = 0;
        if (!*line)
            continue;
        comm = strstr(line, "\"comm\":\"");
        pid = strstr(line, "\"pid\":");
        tid = strstr(line, "\"tid\":");
        if (sscanf(line, "{\"time\":%lf", &at) != 1 || !comm || !pid || !tid) {
            fails("no event: %.200s", line);
            continue;
        }
        if (at < last)
            fails("events are out of order: %f after %f", at, last);
        last = at;
        row = new_row(answer);
        comm += 8;
        snprintf(row->name, sizeof(row->name), "%.*s", (int)strcspn(comm, "\""), comm);
        row->pid = atoi(pid + 6);
        row->tid = atoi(tid + 6);
        row->count = 1;
        row->stack = strstr(line, "\"event\":");
    }
}

static uint64_t number_before(const char *text, const char *words)
{
    const char *at = strstr(text, words), *begin = at;

    if (!at)
        return 0;
    while (begin > text && ((begin[-1] >= '0' && begin[-1] <= '9') || begin[-1] == ','))
        begin--;
    uint64_t number = 0;
    for (; begin < at; begin++) {
        if (*begin != ',')
            number = number * 10 + (uint64_t)(*begin - '0');
    }
    return number;
}

/* "account: 234 seen = 234 counted + 0 filtered out + 0 lost + 0 not ended; 0 missed by the kernel" */
static void read_account(struct answer *answer, const char *err)
{
    const char *account = strstr(err, ": account: ");

    if (!account)
        return;
    answer->has_account = 1;
    answer->seen = number_before(account, " seen");
    answer->lost = number_before(account, " lost");
    answer->missed = number_before(account, " missed by the kernel");
}

static char *run_report(const struct place *place, const char *recording)
{
    struct words words = {.count = 0};
    char out[320];
    int status;
    pid_t pid;

    snprintf(out, sizeof(out), "%s/reported", place->directory);
    add_word(&words, place->stackbox);
    add_word(&words, "report");
    add_word(&words, "-f");
    add_word(&words, recording);
    pid = start(&words, out, place->more);
    waitpid(pid, &status, 0);
    if (status)
        fails("report of a recording ends with status %d", as_shell(status));
    return read_whole(out, NULL);
}

/* All files of a run: one, or one per interval. */
static void read_files(const struct draw *draw, const struct place *place, struct answer *answer, const char *extension)
{
    int is_recording = !strcmp(extension, "sbx");
    char path[400];

    for (unsigned i = 1;; i++) {
        if (draw->interval)
            snprintf(path, sizeof(path), "%s/r%05u.%s", place->directory, i, extension);
        else
            snprintf(path, sizeof(path), "%s/r.%s", place->directory, extension);
        if (access(path, R_OK))
            return;
        read_folded(answer, is_recording ? run_report(place, path) : read_whole(path, NULL));
        if (!draw->interval)
            return;
    }
}

static void read_answer(const struct draw *draw, const struct place *place, struct answer *answer, struct answer *second)
{
    char *err = read_whole(place->err, NULL);

    read_account(answer, err);
    if (draw->applet == STACKSNOOP) {
        read_events(answer, read_whole(place->out, NULL));
    } else if (draw->output == TO_STDOUT) {
        read_folded(answer, read_whole(place->out, NULL));
    } else {
        read_files(draw, place, answer, draw->output == TO_RECORDING ? "sbx" : "folded");
        if (draw->output == TO_BOTH)
            read_files(draw, place, second, "sbx");
    }
    answer->text = err;
}

#endif
