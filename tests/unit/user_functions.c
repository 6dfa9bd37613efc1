/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions and addresses in hand-made programs, and the messages about those that do not exist. */
#include "unit/test.h"

#include "find/find.h"
#include "find/user_file.h"
#include "unit/user_image.h"

static struct text error;

/* What find() has found last. */
static struct found {
    struct places places;
    size_t matched;
} found;

/* Resolves PREFIX PATH : `rest` in the file at PATH. */
static int find(const char *prefix, const char *rest)
{
    static const struct library_where ours = {.root = ""};
    AUTO_TEXT word = {0};
    AUTO(pattern_free) struct pattern pattern;
    struct user_file file;

    places_free(&found.places);
    found = (struct found){0};
    text_clear(&error);
    text_format(&word, "%s%s:%s", prefix, path, rest);
    CHECK_NUMBER(pattern_parse(&pattern, word.data, false, &error), 0);
    int result = user_file_open(&file, &ours, pattern.library, &error);
    if (!result) {
        result = user_functions_find(&file, &pattern, &found.places, &found.matched, &error);
        user_file_close(&file);
    }
    places_remove_doubles(&found.places);
    return result;
}

static void put_functions(struct user_image *image)
{
    user_image_symbol(image, "alpha", STT_FUNC, CODE + 0x10, 0x10);
    user_image_symbol(image, "_alpha", STT_FUNC, CODE + 0x10, 0x10);
    user_image_symbol(image, "__a_alpha", STT_FUNC, CODE + 0x10, 0x10);
    user_image_symbol(image, "beta", STT_FUNC, CODE + 0x20, 0x20);
    user_image_symbol(image, "twin", STT_FUNC, CODE + 0x40, 8);
    user_image_symbol(image, "twin", STT_FUNC, CODE + 0x48, 8);
    user_image_symbol(image, "label", STT_NOTYPE, CODE + 0x50, 0);
    user_image_symbol(image, "outside", STT_FUNC, CODE + CODE_SIZE + 4, 8);
    user_image_symbol(image, "copy", STT_GNU_IFUNC, CODE + 0x60, 8);
    user_image_symbol(image, "copy", STT_FUNC, CODE + 0x68, 8);
    user_image_symbol(image, "__copy_fast", STT_FUNC, CODE + 0x70, 8);
    user_image_symbol(image, "copy_slow", STT_FUNC, CODE + 0x78, 8);
    user_image_symbol(image, "copying", STT_FUNC, CODE + 0x80, 8);
    image->elf.bytes[CODE_OFFSET + 0x10] = 0x55;
    memcpy(image->elf.bytes + CODE_OFFSET + 0x20, "\xf3\x0f\x1e\xfa", 4);
}

static void write_functions(bool is_64, bool big)
{
    static struct user_image image;

    user_image_begin(&image, is_64, big);
    put_functions(&image);
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
}

static const char *const starts[] = {
    [START_NONE] = "none", [START_PUSH] = "push", [START_MARK] = "mark", [START_OTHER] = "other",
};

/* A function whose start is not recognized by its instructions is like any other. */
static char *expected_here(const char *expected)
{
    static char here[512];

    snprintf(here, sizeof(here), "%s", expected);
    if (machine_of(user_image_machine())->push)
        return here;
    for (char *at = here; (at = strstr(at, ",push")) || (at = strstr(here, ",mark"));) {
        memmove(at + 6, at + 5, strlen(at + 5) + 1);
        memcpy(at, ",other", 6);
    }
    return here;
}

/* `expected`: the places' names, addresses relative to the start of the code, and starts. */
static void check_found(const char *prefix, const char *rest, const char *expected)
{
    AUTO_TEXT seen = {0};

    CHECK_NUMBER(find(prefix, rest), 0);
    if (error.length)
        printf("  %s\n", error.data);
    for (size_t i = 0; i < found.places.count; i++) {
        const struct place *place = &found.places.items[i];
        text_format(&seen, "%s%s=%llx,%s%s", i ? " " : "", place_own_name(place),
                    (unsigned long long)(place->address - CODE), starts[place->start],
                    place->at_return ? ",return" : "");
        CHECK_NUMBER(place->file_offset, place->address - CODE + CODE_OFFSET);
        CHECK_NUMBER(place->kind, PLACE_USER);
        CHECK_STRING(place->file, path);
        CHECK_STRING(place->path, path);
    }
    CHECK_STRING(seen.data, expected_here(expected));
}

static void check_refused(const char *prefix, const char *rest, int result, const char *reason)
{
    CHECK_NUMBER(find(prefix, rest), result);
    if (!error.data || !strstr(error.data, reason))
        printf("  \"%s\" instead of \"%s\"\n", error.data ? error.data : "", reason);
    CHECK(error.data && strstr(error.data, reason) && !strchr(error.data, '\n'));
}

TEST(names)
{
    for (int form = 0; form < 4; form++) {
        write_functions(form & 1, form & 2);
        check_found("", "alpha", "alpha=10,push");
        check_found("p:", "_alpha", "_alpha=10,push");
        check_found("r:", "beta", "beta=20,mark,return");
        check_found("", "twin", "twin=40,other twin=48,other");
        check_found("", "label", "label=50,other");
        check_found("", "alpha+4", "alpha=14,none");
        check_found("", "alpha+0", "alpha=10,push");
        /* Of aliases the plainest; no labels, no IFUNC resolvers, nothing outside. */
        check_found("", "*", "alpha=10,push beta=20,mark twin=40,other twin=48,other copy=68,other __copy_fast=70,other "
                    "copy_slow=78,other copying=80,other");
        check_found("", "*alpha", "alpha=10,push");
        check_found("", "__*", "__a_alpha=10,push __copy_fast=70,other");
    }
}

static void put(struct user_image *image, const char *name, unsigned at)
{
    user_image_symbol(image, name, STT_FUNC, CODE + at, 4);
}

/* Names as in source code: operators whose characters are special in patterns, and parts of names. */
TEST(readable_names)
{
    static struct user_image image;

    user_image_begin(&image, true, false);
    put(&image, "_ZN1AmlES_", 0x80);           /* A::operator*(A) */
    put(&image, "_ZN1AmlEi", 0x84);            /* A::operator*(int) */
    put(&image, "_ZN1ApLES_", 0x88);           /* A::operator+=(A) */
    put(&image, "_ZN1BIPcE1fEv", 0x90);        /* B<char*>::f() */
    put(&image, "_ZN1BIPKcE1fEv", 0x94);       /* B<char const*>::f() */
    put(&image, "_ZN1A1gEPc", 0xa0);           /* A::g(char*) */
    put(&image, "_ZN1A1gEPc.cold", 0xa4);
    put(&image, "_ZN1A1gEPc.part.0", 0xa8);
    put(&image, "_ZN1A1hEv.isra.0", 0xb0);
    put(&image, "_ZN1A1hEv.isra.0.cold", 0xb4);
    put(&image, "_RNvC1r1f.llvm.5", 0xb8);
    put(&image, "_RNvC1r1f.llvm.5.cold", 0xbc);
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
    check_found("", "A::operator*", "_ZN1AmlES_=80,other _ZN1AmlEi=84,other");
    check_found("", "A::operator*(int)", "_ZN1AmlEi=84,other");
    check_found("", "A::operator**",
                "_ZN1AmlES_=80,other _ZN1AmlEi=84,other _ZN1ApLES_=88,other");
    check_found("", "A::operator+=", "_ZN1ApLES_=88,other");
    check_found("", "A::operator+=(A)+2", "_ZN1ApLES_=8a,none");
    check_found("", "B<char*>::f", "_ZN1BIPcE1fEv=90,other");
    check_found("", "B<char*>::*", "_ZN1BIPcE1fEv=90,other _ZN1BIPKcE1fEv=94,other");
    check_found("", "A::g", "_ZN1A1gEPc=a0,other");
    check_found("", "A::g(char*)", "_ZN1A1gEPc=a0,other");
    check_found("", "A::g(char*) [clone .cold]", "_ZN1A1gEPc.cold=a4,other");
    check_found("", "A::h", "_ZN1A1hEv.isra.0=b0,other");
    check_found("", "A::h*", "_ZN1A1hEv.isra.0=b0,other _ZN1A1hEv.isra.0.cold=b4,other");
    check_found("", "r::f", "_RNvC1r1f.llvm.5=b8,other");
    check_found("", "r::f (.llvm.5.cold)", "_RNvC1r1f.llvm.5.cold=bc,other");
    check_found("", "A::g(char*)+2", "_ZN1A1gEPc=a2,none");
    check_refused("", "A::g(cha*)+2", -EINVAL, "an offset needs one function, not a *");
    check_refused("", "A::g(cahr)", -ENOENT, "; near: A::g(char*)");
    check_refused("", "A::hh", -ENOENT, "; near: A::h");
}

TEST(addresses)
{
    write_functions(true, false);
    check_found("", "0x401010", "0x401010=10,push");
    check_found("", "0x401011", "0x401011=11,none");
    check_found("", "0x4013ff", "0x4013ff=3ff,none");
    check_found("r:", "0x401020", "0x401020=20,mark,return");
    check_found("r:", "0x401100", "0x401100=100,none,return"); /* in no known function */
    check_refused("r:", "0x401021", -ERANGE, "is within beta: a return is traced from the start");
    check_refused("", "0x401400", -EFAULT, "has no address 0x401400");
    check_refused("", "0x603400", -EFAULT, "has no address"); /* data */
    check_refused("", "0xffffffffffffffff", -EFAULT, "has no address");
    check_refused("", "0x0", -EFAULT, "has no address 0x0");
}

TEST(refusals)
{
    static struct user_image image;

    write_functions(true, false);
    check_refused("", "alhpa", -ENOENT, "\"; near: alpha");
    check_refused("", "zzzzzz", -ENOENT, "0 functions matched by");
    check_refused("", "z*", -ENOENT, "0 functions matched by");
    check_refused("", "outside", -ENOENT, "0 functions matched by");
    check_refused("", "alpha+0x10", -ENOENT, "alpha+0x10\" is past the end of alpha");
    check_refused("", "alpha+0xffffffff", -ENOENT, "alpha+0xffffffff\" is past the end of alpha");
    check_refused("", "copy", -ENOENT, "copy only chooses one of several functions when a program "
                  "starts (an IFUNC); trace those: __copy_fast, copy_slow");
    user_image_begin(&image, true, false);
    user_image_symbol(&image, "copy", STT_GNU_IFUNC, CODE + 0x60, 8);
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
    check_refused("", "copy", -ENOENT, "whose names this file does not have");
    check_refused("", "c*y", -ENOENT, "copy only chooses");

    image.is_stripped = true;
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
    check_refused("", "copy", -ENOENT, "is stripped, and names no functions; an address of it can");
    check_found("", "0x401060", "0x401060=60,none");
    image_put(&image.elf, 16, 2, ET_REL);
    CHECK(user_image_write(&image, path, image.elf.length));
    check_refused("", "copy", -ENOEXEC, "an object file or a core dump");
    image_put(&image.elf, 18, 2, 0x7777);
    CHECK(user_image_write(&image, path, image.elf.length));
    check_refused("", "copy", -ENOEXEC, "another kind of machine (ELF machine 30583)");
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0);
    if (file)
        fclose(file);
}

TEST(no_programs)
{
    write_text("#!/bin/sh\necho\n");
    check_refused("", "main", -ENOEXEC, "is a script: it has no functions of its own; trace its "
                  "interpreter, /bin/sh");
    write_text("#! /usr/bin/env python3");
    check_refused("", "main", -ENOEXEC, "interpreter, python3");
    write_text("#!/usr/bin/env -S python3\n");
    check_refused("", "main", -ENOEXEC, "interpreter, /usr/bin/env");
    write_text("#!");
    check_refused("", "main", -ENOEXEC, "of its own");
    write_text("hello\n");
    check_refused("", "main", -ENOEXEC, "is no ELF file");
    write_text("");
    check_refused("", "main", -ENOEXEC, "is no ELF file");
    write_text("\x7f" "ELF");
    check_refused("", "main", -ENOEXEC, "is no sound ELF file");
}

/* --list: sorted, each once, and usable as patterns. */
TEST(lists)
{
    AUTO(places_free) struct places places = {0};
    AUTO_TEXT lines = {0};
    struct place given[] = {
        {.kind = PLACE_TRACEPOINT, .name = (char *)"sched:sched_switch", .address = 3},
        {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"vfs_read", .offset = 16},
        {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"vfs_read", .at_return = true},
        {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"twin", .address = 8},
        {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"twin", .address = 16},
        {.kind = PLACE_USER, .name = (char *)"b:f", .offset = 4, .file = "/r/b", .path = "/b"},
        {.kind = PLACE_USER, .name = (char *)"b:f", .at_return = true, .file = "/r/b",
         .path = "/b"},
        {.kind = PLACE_USER, .name = (char *)"b:p:x", .is_usdt = true, .file = "/r/b",
         .path = "/b", .address = 7},
        {.kind = PLACE_USER, .name = (char *)"b:p:x", .is_usdt = true, .file = "/r/b",
         .path = "/b", .address = 8},
        {.kind = PLACE_USER, .name = (char *)"b:0x12", .file = "/r/b", .path = "/b",
         .address = 0x12},
        {.kind = PLACE_USER, .name = (char *)"b:main.(*T).f", .file = "/r/b", .path = "/b", .address = 0x20},
        /* Taken as patterns, these would mean an offset, an address, and another byte. */
        {.kind = PLACE_USER, .name = (char *)"b:f+0x30", .file = "/r/b", .path = "/b", .address = 0x31},
        {.kind = PLACE_USER, .name = (char *)"b:0x99", .file = "/r/b", .path = "/b", .address = 0x32},
        {.kind = PLACE_USER, .name = (char *)"b:\n", .file = "/r/b", .path = "/b", .address = 0x33,
         .at_return = true},
        {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"core::f"},
    };

    CHECK_NUMBER(list_places(&places, NULL, &lines), 0);
    CHECK_NUMBER(lines.length, 0);
    for (size_t i = 0; i < COUNT_OF(given); i++)
        CHECK_NUMBER(places_add(&places, &given[i]), 0);
    CHECK_NUMBER(list_places(&places, NULL, &lines), 0);
    CHECK_STRING(lines.data, "/b:0x12\n/b:0x31\n/b:0x32\n/b:f+0x4\n/b:main.(*T).f\np::core::f\nr:/b:0x33\nr:/b:f\nr::vfs_read\nt:sched:sched_switch\ntwin\n"
                 "u:/b:p:x\nvfs_read+0x10\n");
}

/* C++ functions by what users type. */
TEST(mangled_names)
{
    static const struct {
        const char *typed;
        uint64_t addresses; /* a bit for each 0x10 bytes of code */
    } rows[] = {
        {"_ZN1A1fEPc", 1}, {"A::f(char*)", 1}, {"A::f(char const*)", 2}, {"A::f", 3}, {"A::*", 7},
        {"A::g", 0}, {"A::g<int>", 4}, {"A::g*", 4}, {"int A::g<int>(int)", 4}, {"*f(char*", 3},
        {"f", 8}, {"f+4", 8}, {"*::f", 3}, {"A::f(char *)", 2}, {"A", 0},
        {"main.(*T).f", 0x10}, {"main.(*AT).f", 0x20}, {"main.(*).f", 0x30}, {"a*b", 0x40}, {"a*", 0xc0},
    };
    static struct user_image image;

    user_image_begin(&image, true, false);
    user_image_symbol(&image, "_ZN1A1fEPc", STT_FUNC, CODE + 0x00, 0x10);
    user_image_symbol(&image, "_ZN1A1fEPKc", STT_FUNC, CODE + 0x10, 0x10);
    user_image_symbol(&image, "_ZN1A1gIiEEiT_", STT_FUNC, CODE + 0x20, 0x10);
    user_image_symbol(&image, "f", STT_FUNC, CODE + 0x30, 0x10);
    user_image_symbol(&image, "main.(*T).f", STT_FUNC, CODE + 0x40, 0x10);
    user_image_symbol(&image, "main.(*AT).f", STT_FUNC, CODE + 0x50, 0x10);
    user_image_symbol(&image, "a*b", STT_FUNC, CODE + 0x60, 0x10);
    user_image_symbol(&image, "axb", STT_FUNC, CODE + 0x70, 0x10);
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t addresses = 0;
        int result = find("", rows[i].typed);
        for (size_t j = 0; j < found.places.count; j++)
            addresses |= (uint64_t)1 << ((found.places.items[j].address - CODE) >> 4);
        if (addresses != rows[i].addresses || !result != !!rows[i].addresses)
            printf("  %s\n", rows[i].typed);
        CHECK_NUMBER(addresses, rows[i].addresses);
    }
}

IMAGE_TEST_MAIN
