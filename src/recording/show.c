/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/show.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "recording/read.h"
#include "report/blocks.h"
#include "sandbox/sandbox.h"

/* stackbox writes no larger recordings. */
#define MOST_BYTES ((size_t)256 << 20)
/* All reports together: the sandbox's answer has a limit, too. */
#define MOST_REPORT_MB 200

struct showing {
    const struct show_options *asked;
    struct shown *shown; /* the reader's own copy */
    const char *cache;
};

/* ---- In the sandbox ---- */

static int take_all(struct showing *showing, struct recording *recording)
{
    int result = 0;

    for (size_t i = 0; i < showing->asked->count && !result; i++) {
        struct text bytes = {0};
        showing->shown->failed = i;
        recording->path = showing->asked->count > 1 ? showing->asked->paths[i] : NULL;
        result = read_to_end(showing->asked->fds[i], MOST_BYTES, &bytes);
        if (!result)
            result = recording_take(recording, bytes.data, bytes.length);
        if (!result && showing->asked->by == GROUP_BY_THREAD && recording->by != GROUP_BY_THREAD)
            result = -EINVAL;
        text_free(&bytes);
    }
    return result;
}

static int name_all(const struct showing *showing, struct recording *recording,
                    struct symbolize_notes *notes)
{
    const struct show_options *asked = showing->asked;
    const struct traced_file program = {*recording->program ? recording->program : NULL, -1};
    struct recorded recorded = recording_source(recording);
    struct symbolize_options symbolize = {
        .kallsyms = -1,
        .readable = recording->raw_names ? NULL : &recording->names,
        .symfs = asked->symfs,
        .recorded = &recorded,
    };

    for (size_t i = 0; i < asked->format_count; i++)
        if (asked->formats[i] == REPORT_PPROF)
            symbolize.mapped_for = &program;
    recorded.cache = showing->cache;
    recorded.missing = asked->missing ? &showing->shown->missing : NULL;
    return symbols_name_all(&recording->symbols, &symbolize, notes);
}

static void choose_view(const struct show_options *asked, struct recording *recording)
{
    struct report_options *options = &recording->options;

    options->narrow = TREE_PERCENT;
    options->delimited = (options->delimited && !asked->compared) || asked->delimited;
    options->offset = (options->offset && !asked->compared) || asked->offset;
    options->verbose = options->verbose || asked->verbose;
    options->annotations = options->annotations || asked->annotations;
    options->inverted = asked->inverted;
    if (asked->by)
        options->by = asked->by;
    if (asked->functions)
        options->functions = asked->functions;
    if (asked->top)
        recording->top = asked->top;
}

static int write_one(struct recording *recording, enum report_format format, struct shown *shown,
                     struct text *report)
{
    const bool is_cut = format == REPORT_TEXT || format == REPORT_FOLDED;
    struct report_summary summary = {0};
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);

    if (!out)
        return -ENOMEM;
    recording->options.format = format;
    recording->options.top = is_cut ? recording->top : 0;
    int result = report_write(out, &recording->tally, &recording->symbols, &recording->options,
                              &recording->when,
                              &summary);
    if (fclose(out) && !result)
        result = -ENOMEM;
    if (!result)
        text_append(report, bytes, length);
    if (summary.left_blocks && !strstr(text_string(&shown->lines), "--top"))
        text_format(&shown->lines, "--top left out %" PRIu64 " more stacks with %" PRIu64 " %s\n",
                    summary.left_blocks, summary.left_value, blocks_left_name(&recording->options));
    free(bytes);
    return result;
}

/* One line, whatever bytes are in it. */
static __attribute__((format(printf, 2, 3))) void tell(struct text *lines, const char *format, ...)
{
    struct text raw = {0};
    va_list list;

    va_start(list, format);
    text_format_list(&raw, format, list);
    va_end(list);
    escape_text(lines, &raw);
    text_add(lines, "\n");
}

static void tell_notes(const struct show_options *asked, const struct recording *recording,
                       const struct symbolize_notes *notes, struct text *lines)
{
    if (recording->losses.length)
        text_add(lines, recording->losses.data);
    if (recording->refused_map.length)
        tell(lines, "names of JIT-compiled code were ignored: %s", recording->refused_map.data);
    if (recording->kernel_hidden)
        tell(lines, "the kernel hid its addresses, so kernel functions have no names");
    if (notes->missing_files)
        tell(lines, "%u file%s, so their functions have no names: look for them elsewhere "
                    "with --symfs DIR; --missing lists their build ids", notes->missing_files,
                    notes->missing_files == 1 ? " is not here" : "s are not here");
    if (notes->unopened_file.length)
        tell(lines, "functions of this file%s have no names: %s",
                    notes->more_unopened ? " and others" : "", notes->unopened_file.data);
    if (notes->changed_file.length)
        tell(lines, "%s was modified after it was mapped: its functions have no names",
                    notes->changed_file.data);
    if (notes->packed_file.length)
        tell(lines, "functions of this file%s may have no names: %s",
                    notes->more_packed ? " and others" : "", notes->packed_file.data);
    if (recording->names_left_out)
        tell(lines, "%zu names were left out: names take more than %zu MB",
             recording->names_left_out,
                    RECORDING_MOST_NAME_BYTES >> 20);
    if (!recording->tally.count)
        tell(lines, "no events in %s", asked->count > 1 ? "them" : "it");
}

static void tell_run(const struct recording *recording, struct text *lines)
{
    const struct report_about *about = &recording->about;
    const struct recording_account *account = &recording->account;

    tell(lines, "recorded by stackbox %s on %s (%s, Linux %s) in %.1f s: %s", recording->version,
                about->host, recording->machine, about->kernel,
                    (double)(about->ended - about->began) / 1e9,
                about->command_line);
    tell(lines, "account: %" PRIu64 " seen = %" PRIu64 " counted + %" PRIu64 " filtered out + "
                                                                             "%" PRIu64
                " lost when it was written", account->seen, account->counted, account->filtered,
                    account->lost);
}

/* Recordings of different kinds cannot be compared. */
static void add_kind(struct text *kind, const struct report_options *options)
{
    const char *value = blocks_value_name(options), *events = blocks_events_name(&options->measure);

    text_add(kind, value);
    if (strcmp(value, events))
        text_format(kind, " of %s", events);
    if (blocks_show_wakers(options))
        text_add(kind, options->layout == LAYOUT_WAKEUPTIME ? " by waker" : " and wakers");
}

static int make(struct showing *showing, struct recording *recording, struct symbolize_notes *notes)
{
    const struct show_options *asked = showing->asked;
    int result = take_all(showing, recording);

    if (!result)
        result = name_all(showing, recording, notes);
    if (result)
        return result;
    choose_view(asked, recording);
    showing->shown->began = recording->about.began;
    add_kind(&showing->shown->kind, &recording->options);
    if (asked->debug)
        tell_run(recording, &showing->shown->lines);
    size_t bytes = 0;
    for (size_t i = 0; i < asked->format_count && !result; i++) {
        struct text *report = &showing->shown->reports[i];
        result = write_one(recording, asked->formats[i], showing->shown, report);
        bytes += report->length;
        if (bytes >> 20 >= MOST_REPORT_MB)
            result = -E2BIG;
    }
    tell_notes(asked, recording, notes, &showing->shown->lines);
    return result;
}

/* For a bad recording the sandbox does not fail, but answers with the error. */
static int show_in_sandbox(void *context, struct text *answer)
{
    struct showing *showing = context;
    struct recording recording = {
        .raw_names = showing->asked->raw_names,
        .names = showing->asked->names,
    };
    struct symbolize_notes notes = {0};
    struct shown *shown = showing->shown;
    const int result = make(showing, &recording, &notes);

    answer_put_number(answer, (uint64_t)-(int64_t)result);
    answer_put_number(answer, shown->failed);
    answer_put_number(answer, shown->began);
    answer_put_number(answer, notes.unopened_file.length);
    answer_put_text(answer, &shown->lines);
    answer_put_text(answer, &shown->missing);
    answer_put_text(answer, &shown->kind);
    for (size_t i = 0; i < showing->asked->format_count && !result; i++)
        answer_put_text(answer, &shown->reports[i]);
    symbolize_notes_free(&notes);
    recording_free(&recording);
    return 0;
}

/* ---- In this process ---- */

/* Reports may contain any bytes: only their length is checked. */
static int take_answer(struct answer *answer, const struct show_options *asked, struct shown *shown)
{
    const uint64_t result = answer_take_number(answer);

    shown->failed = answer_take_number(answer);
    shown->began = answer_take_number(answer);
    shown->unread = answer_take_number(answer);
    answer_take_text(answer, MOST_BYTES, &shown->lines);
    answer_take_text(answer, MOST_BYTES, &shown->missing);
    answer_take_text(answer, MOST_BYTES, &shown->kind);
    for (size_t i = 0; i < asked->format_count && !result; i++)
        answer_take_raw(answer, MOST_BYTES, &shown->reports[i]);
    if (answer->failed)
        return -ENOMEM;
    if (answer->is_bad || result > 4095 || (asked->count && shown->failed >= asked->count))
        return -EBADMSG;
    return -(int)result;
}

/* Adds the directory in which elfutils' debuginfod client keeps files. */
static void add_cache(struct text *cache)
{
    const char *path = getenv("DEBUGINFOD_CACHE_PATH"), *base = getenv("XDG_CACHE_HOME"), *home =
        getenv("HOME");

    if (path && *path)
        text_add(cache, path);
    else if (base && *base)
        text_format(cache, "%s/debuginfod_client", base);
    else if (home && *home)
        text_format(cache, "%s/.cache/debuginfod_client", home);
}

/* A name with a typo would be as good as none. 0 or -ECHILD. */
static int check_symfs(const char *symfs, struct text *lines)
{
    const int fd = symfs ? open(symfs, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

    if (symfs && fd < 0) {
        tell(lines, "--symfs: cannot search \"%s\": %s", symfs, strerror(errno));
        return -ECHILD;
    }
    close_fd(fd);
    return 0;
}

int recordings_show(const struct show_options *asked, struct shown *shown)
{
    struct text cache = {0}, bytes = {0};
    struct showing showing = {.asked = asked, .shown = shown};
    const struct sandbox_job job = {
        .work = show_in_sandbox,
        .context = &showing,
        .keep = asked->fds,
        .keep_count = asked->count,
        .waits = true,
    };
    int signal = 0;

    *shown = (struct shown){0};
    if (check_symfs(asked->symfs, &shown->lines))
        return -ECHILD;
    add_cache(&cache);
    showing.cache = cache.data;
    int result = sandbox_run(&job, &bytes, &signal);
    if (result) {
        text_add(&shown->lines, "the process that reads recordings ");
        sandbox_explain(result, signal, &shown->lines);
        text_add(&shown->lines, "\n");
        result = -ECHILD;
    } else {
        struct answer answer = {.at = bytes.data, .end = bytes.data + bytes.length, .for_good =
                                true};
        result = take_answer(&answer, asked, shown);
    }
    text_free(&bytes);
    text_free(&cache);
    return result;
}

/* What a pipe will give first; it stays there. */
static ssize_t peek(int pipe, char *bytes, size_t most)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    ssize_t got = tee(pipe, ends[1], most, 0);
    if (got > 0)
        got = read(ends[0], bytes, (size_t)got);
    close(ends[0]);
    close(ends[1]);
    return got;
}

bool recording_is_at(int fd)
{
    char head[8];
    ssize_t got = pread(fd, head, sizeof(head), 0);

    if (got < 0 && errno == ESPIPE)
        got = peek(fd, head, sizeof(head));
    return got > 0 && recording_is_one(head, (size_t)got);
}

void recordings_explain(int result, struct text *why)
{
    switch (result) {
    case -ENOEXEC:
        text_add(why, "is not a recording: make one with -o FILE.sbx of an applet that counts");
        break;
    case -ENOTSUP:
        text_add(why, "was recorded by a later version of stackbox: use that one");
        break;
    case -EBADMSG: text_add(why, "is truncated or corrupt"); break;
    case -EXDEV:
        text_add(why, "counts something different from those before it, so they cannot be added "
                      "up");
        break;
    case -E2BIG:
        text_format(why, "makes a report of more than %d MB: take report's --top N, --flat, or "
                    "-o FILE.svg", MOST_REPORT_MB);
        break;
    case -EINVAL: text_add(why, "has no threads: record it with --by thread"); break;
    default:
        text_format(why, "cannot be read: %s", error_words(result));
    }
}

void shown_free(struct shown *shown)
{
    for (size_t i = 0; i < SHOWN_FORMATS; i++)
        text_free(&shown->reports[i]);
    text_free(&shown->lines);
    text_free(&shown->missing);
    text_free(&shown->kind);
}
