/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The bytes and texts of tests/unit/forms.h compared with LLVM, which had no part in either: its assembler
 * makes our bytes from our texts, and its disassembler our texts from our bytes. The newest LLVM found is used;
 * LLVM=14 in the environment chooses one. Numbers may be written in another base, and LLVM says w0 where it
 * loads or stores 32 bits and less of r0: that is undone first.
 */
#include "unit/test.h"

#include <ctype.h>
#include <fcntl.h>

#include "base/reading.h"
#include "unit/forms.h"

#define ALL_KNOWN_SINCE 19 /* an older LLVM may not know the forms marked YOUNG */

static int version; /* of LLVM; 0 if there is none */
static char suffix[16]; /* "-19" after the names of its programs, or "" */
static char directory[] = "/tmp/stackbox-llvm-XXXXXX";

/* Runs a command in the directory, with the suffix for @ and the argument for #; returns its exit status. */
static int run(const char *format, const char *argument)
{
    AUTO_TEXT command = {0};

    text_format(&command, "cd %s && ", directory);
    for (const char *at = format; *at; at++) {
        if (*at == '@')
            text_add(&command, suffix);
        else if (*at == '#')
            text_add(&command, argument);
        else
            text_append(&command, at, 1);
    }
    int status = system(command.data);
    return status;
}

static void read_whole(const char *name, struct text *text)
{
    AUTO_TEXT path = {0};

    text_format(&path, "%s/%s", directory, name);
    CHECK_NUMBER(read_file(AT_FDCWD, path.data, 1 << 20, text), 0);
    text_add(text, "");
}

static void write_whole(const char *name, const struct text *text)
{
    AUTO_TEXT path = {0};

    text_format(&path, "%s/%s", directory, name);
    FILE *file = fopen(path.data, "w");
    CHECK(file && fwrite(text->data, 1, text->length, file) == text->length);
    if (file)
        fclose(file);
}

static bool has_bpf(void)
{
    return !run("{ llvm-mc@ --triple=bpfel --filetype=obj /dev/null -o empty.o &&"
                " llvm-objcopy@ --version && llvm-objdump@ --version; } >output 2>&1", "");
}

static void find_llvm(void)
{
    const char *wanted = getenv("LLVM");

    for (int candidate = 40; candidate >= 14; candidate--) {
        if (wanted && candidate != atoi(wanted))
            continue;
        snprintf(suffix, sizeof(suffix), "-%d", candidate);
        if (has_bpf()) {
            version = candidate;
            return;
        }
    }
    suffix[0] = '\0';
    if (wanted || !has_bpf())
        return;
    AUTO_TEXT output = {0};
    read_whole("output", &output);
    const char *number = strstr(output.data, "LLVM version ");
    version = number ? atoi(number + strlen("LLVM version ")) : 0;
}

static bool may_be_unknown(const struct form *form)
{
    return form->young && version < ALL_KNOWN_SINCE;
}

static void say_unknown(const char *test, const struct text *unknown)
{
    if (unknown->length)
        printf("SKIP %s, in part: LLVM %d does not know%s\n", test, version, unknown->data);
}

/* Makes LLVM's spelling and ours the same if they mean the same. */
static void normalize(struct text *out, const char *text, bool any_width)
{
    char before = ' ';

    /* After a jump LLVM prints in <> where it leads. */
    for (const char *at = text; *at && *at != '\n' && strncmp(at, " <.", 3); before = *at++) {
        bool begins = !isalnum((unsigned char)before) && before != '_';
        if (begins && isdigit((unsigned char)*at)) {
            char *end;
            text_format(out, "%llu", strtoull(at, &end, 0));
            at = end - 1;
        } else if (begins && !strncmp(at, "pc", 2)) {
            at++;
        } else if (begins && any_width && at[0] == 'w' && isdigit((unsigned char)at[1])) {
            text_add(out, "r");
        } else {
            text_append(out, *at == '\t' ? " " : at, 1);
        }
    }
}

/* Our text, or LLVM's if that differs; NULL if its assembler has none. */
static const char *llvm_text(const struct form *form)
{
    const char *text = form->llvm ? form->llvm : form->text;

    return *text ? text : NULL;
}

static size_t form_bytes(const struct form *form)
{
    return (strlen(form->bytes) + 1) / 3;
}

/* ---- The assembler ---- */

/* Assembles all forms that are not `left_out`: one on each line, so that an error shows which. */
static int assemble(const bool *left_out)
{
    struct text source = {0};

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const char *text = left_out[i] ? NULL : llvm_text(&forms[i]);
        AUTO_TEXT line = {0};
        if (text)
            normalize(&line, text, false);
        text_format(&source, "%s\n", text ? line.data : "");
    }
    write_whole("forms.s", &source);
    text_free(&source);
    return run("llvm-mc@ --triple=bpfel --mcpu=# --filetype=obj forms.s -o forms.o 2>errors",
               version < 18 ? "v3" : "v4");
}

static void take_errors(bool *left_out, struct text *unknown)
{
    AUTO_TEXT errors = {0};

    read_whole("errors", &errors);
    for (char *line = strtok(errors.data, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned number;
        if (sscanf(line, "forms.s:%u:", &number) != 1 || number < 1 || number > COUNT_OF(forms) ||
            left_out[number - 1])
            continue;
        const struct form *form = &forms[number - 1];
        left_out[number - 1] = true;
        if (may_be_unknown(form)) {
            text_format(unknown, " %s", form->macro);
        } else {
            printf("  %s: %s\n", form->macro, line);
            test_failures_here++;
        }
    }
}

TEST(llvm_assembles_our_texts_to_our_bytes)
{
    static bool left_out[COUNT_OF(forms)];
    AUTO_TEXT unknown = {0}, code = {0};
    size_t at = 0, compared = 0;

    if (assemble(left_out)) {
        take_errors(left_out, &unknown);
        CHECK_NUMBER(assemble(left_out), 0);
    }
    CHECK_NUMBER(run("llvm-objcopy@ -O binary --only-section=.text forms.o code", ""), 0);
    read_whole("code", &code);
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct text bytes = {0};
        if (left_out[i] || !llvm_text(&forms[i]))
            continue;
        for (size_t end = at + form_bytes(&forms[i]); at < end && at < code.length; at++)
            text_format(&bytes, bytes.length ? " %02x" : "%02x", (unsigned char)code.data[at]);
        CHECK_STRING(bytes.data, forms[i].bytes);
        text_free(&bytes);
        compared++;
    }
    CHECK_NUMBER(at, code.length);
    CHECK(compared > 100);
    say_unknown(__func__, &unknown);
}

/* ---- The disassembler ---- */

static void disassemble(struct text *listing)
{
    struct text source = {0};

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        text_add(&source, ".byte ");
        for (const char *byte = forms[i].bytes; *byte; byte += byte[2] ? 3 : 2)
            text_format(&source, "0x%.2s%s", byte, byte[2] ? "," : "\n");
    }
    write_whole("bytes.s", &source);
    text_free(&source);
    CHECK_NUMBER(run("llvm-mc@ --triple=bpfel --filetype=obj bytes.s -o bytes.o && llvm-objdump@ -d"
                     " --no-show-raw-insn --mattr=+alu32 bytes.o >listing", ""), 0);
    read_whole("listing", listing);
}

/* The listing's line for `slot`: what follows its colon. NULL if there is none. */
static const char *find_slot(const struct text *listing, size_t slot)
{
    AUTO_TEXT begin = {0};

    text_format(&begin, "\n%8zu:", slot);
    const char *found = strstr(listing->data, begin.data);
    if (found)
        found += begin.length;
    return found ? found + strspn(found, " \t") : NULL;
}

static void compare_texts(const struct form *form, const char *line, struct text *unknown)
{
    int class = BPF_CLASS(form->insn->code.code);
    bool any_width = class == BPF_LDX || (class == BPF_STX && BPF_MODE(form->insn->code.code) == BPF_MEM);
    AUTO_TEXT theirs = {0}, ours = {0};

    normalize(&theirs, line, any_width);
    normalize(&ours, llvm_text(form), false);
    if (may_be_unknown(form) && strcmp(theirs.data, ours.data))
        text_format(unknown, " %s", form->macro);
    else
        CHECK_STRING(theirs.data, ours.data);
}

TEST(llvm_disassembles_our_bytes_to_our_texts)
{
    AUTO_TEXT listing = {0}, unknown = {0};
    size_t slot = 0;

    disassemble(&listing);
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const char *line = find_slot(&listing, slot);
        CHECK(line);
        if (line && llvm_text(&forms[i]))
            compare_texts(&forms[i], line, &unknown);
        slot += form_bytes(&forms[i]) / 8;
    }
    say_unknown(__func__, &unknown);
}

int main(void)
{
    if (!mkdtemp(directory)) {
        printf("FAIL llvm: no directory in /tmp\n");
        return 1;
    }
    find_llvm();
    if (version)
        run_tests();
    else
        printf("SKIP llvm: no llvm-mc that knows bpf, with llvm-objcopy and llvm-objdump\n");
    run("rm -f empty.o output forms.s forms.o errors code bytes.s bytes.o listing", "");
    rmdir(directory);
    return tests_done();
}
