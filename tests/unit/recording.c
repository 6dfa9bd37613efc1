/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Recordings: the file of version 1, written by hand from the format's documentation, has the same
 * contents on every machine; what is written is read back; a truncated file is refused.
 */
#include "recording/read.h"

#include <fcntl.h>
#include <signal.h>

#include "recording/tables.h"
#include "sandbox/sandbox.h"
#include "unit/report_scene.h"

__asm__(".section .rodata\n.globl version1, version1_end\nversion1: .incbin \"tests/recordings/version1.sbx\"\n"
        "version1_end: .byte 0\n.previous\n");
extern const char version1[], version1_end[];

/* The recording's contents as text, without reading any other file. */
static void text_of(struct recording *recording, char **text)
{
    struct recorded recorded = recording_source(recording);
    AUTO(symbolize_notes_free) struct symbolize_notes notes = {0};
    struct report_summary summary;
    size_t length;
    const struct symbolize_options config = {
        .kallsyms = -1, .symfs = "/dev/null", .readable = &recording->names, .recorded = &recorded};
    FILE *out = open_memstream(text, &length);

    CHECK_NUMBER(symbols_name_all(&recording->symbols, &config, &notes), 0);
    recording->options.format = REPORT_FOLDED;
    CHECK_NUMBER(report_write(out, &recording->tally, &recording->symbols, &recording->options, &recording->when,
                              &summary), 0);
    fclose(out);
}

TEST(of_version_1)
{
    AUTO(recording_free) struct recording recording = {0};
    char *text = NULL;

    CHECK_NUMBER(recording_take(&recording, version1, (size_t)(version1_end - version1)), 0);
    CHECK_NUMBER(recording.tally.count, 3);
    const struct tally_task *task = &recording.tally.entries[0].task;
    CHECK_NUMBER(recording.tally.addresses[task->kernel.first], 0xc0008100);
    CHECK_NUMBER(recording.tally.addresses[task->user.first], 0xb6f01010);
    CHECK_NUMBER(recording.when.tm_hour, 6);
    CHECK_NUMBER(recording.about.ended, 6000000000);
    CHECK_NUMBER(recording.account.lost, 2);
    text_of(&recording, &text);
    CHECK(!strcmp(text, "w;[stack storage full] 3\n"
                        "w;__vdso_time;jitted;[written];nfs_read 4\n"
                        "init;[unknown];[libgone.so];[libgone.so];cpu_startup;do_idle 5\n"));
    free(text);
}

TEST(cut_off)
{
    const size_t length = (size_t)(version1_end - version1);

    for (size_t i = 0; i < length; i++) {
        AUTO(recording_free) struct recording recording = {0};
        int result = recording_take(&recording, version1, i);
        CHECK_NUMBER(result, i < 4 ? -ENOEXEC : -EBADMSG);
        CHECK_NUMBER(recording.tally.count, 0);
    }
}

/* Written here, and read here. */
TEST(there_and_back)
{
    AUTO_SCENE scene = {0};
    const struct report_about about = {.applet = "profile", .command_line = "profile 'a b'", .host = "h",
                                       .kernel = "k", .began = 7, .ended = UINT64_MAX, .events = 3, .losses = ""};
    const struct report_options options = {.layout = LAYOUT_PROFILE, .show_process = true, .kernel = true,
                                           .user = true, .measure = {.events = "samples"}, .about = &about};
    struct symbolize_notes notes = {0};
    const struct recording_source source = {.tally = &scene.tally, .symbols = &scene.symbols, .options = &options,
                                            .when = &six_oclock, .notes = &notes, .kallsyms = -1};
    AUTO(recording_free) struct recording recording = {0};
    char *bytes = NULL, *text = NULL;
    size_t length;
    FILE *out = open_memstream(&bytes, &length);

    uint32_t leaf = add_symbol(&scene, true, UINT64_MAX - 7, "leaf", "", 5);
    uint32_t middle = add_symbol(&scene, true, 1, "middle", "nfs", 0);
    add_entry(&scene, UINT64_MAX, 1, "x", FRAMES(leaf, middle, leaf), NO_FRAMES)->events = 3;
    CHECK_NUMBER(recording_write(out, &source), 0);
    fclose(out);
    CHECK_NUMBER(recording_take(&recording, bytes, length), 0);
    CHECK_NUMBER(recording.tally.entries[0].value, UINT64_MAX);
    CHECK_NUMBER(recording.tally.entries[0].events, 3);
    const struct stack *stack = &recording.tally.entries[0].task.kernel;
    CHECK_NUMBER(recording.tally.addresses[stack->first], UINT64_MAX - 7);
    CHECK_NUMBER(recording.about.ended, UINT64_MAX);
    CHECK(!strcmp(recording.about.command_line, "profile 'a b'"));
    text_of(&recording, &text);
    CHECK(!strcmp(text, "x;leaf;middle;leaf 18446744073709551615\n"));
    /* The same twice counts as one kind. */
    CHECK_NUMBER(recording_take(&recording, bytes, length), 0);
    CHECK_NUMBER(recording_take(&recording, version1, (size_t)(version1_end - version1)), -EXDEV);
    free(text);
    free(bytes);
}

static void end_reader(void *context, bool begins, unsigned role)
{
    (void)context;
    if (begins && role == SANDBOX_READER)
        kill(getpid(), SIGKILL);
}

/* What a recording says about files is lost with its reader: that is said. */
TEST(identities_lost)
{
    struct mapped_file file = {.kind = MAPPED_FILE, .path = "/bin/a", .label = "a",
                               .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
    struct file_row whole = {.file = &file}, lost = {.file = &file};
    AUTO_TEXT unread = {0};

    CHECK(file.fd >= 0 && !fstat(file.fd, &file.about));
    CHECK_NUMBER(identities_read(&whole, 1, &unread), 0);
    CHECK(!unread.length && whole.identity.kind != IDENTITY_UNKNOWN && whole.segment_count);
    sandbox_watch(end_reader, NULL);
    CHECK_NUMBER(identities_read(&lost, 1, &unread), 0);
    sandbox_watch(NULL, NULL);
    CHECK(unread.data && strstr(unread.data, "was killed by signal 9"));
    CHECK(lost.identity.kind == IDENTITY_UNKNOWN && !lost.segment_count);
    free(whole.segments);
    free(lost.segments);
    close(file.fd);
}

TEST_MAIN
