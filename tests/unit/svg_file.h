/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Flames made from hand-written stacks, and the contents of their files. */
#ifndef STACKBOX_TEST_SVG_FILE_H
#define STACKBOX_TEST_SVG_FILE_H

#include "flame/svg.h"
#include "test.h"
#include "unit/svg_reader.h"

struct file {
    char *text;
    size_t length;
    struct seen *frames;
    size_t count;
};

static inline void add(struct flame *flame, enum flame_side side, const char *stack, uint64_t value)
{
    struct flame_slice frames[64];
    size_t count = 0;

    for (const char *at = stack; *at; count++) {
        frames[count] = (struct flame_slice){at, strcspn(at, ";")};
        at += frames[count].length + (at[frames[count].length] == ';');
    }
    CHECK_NUMBER(flame_add(flame, side, frames, count, value), 0);
}

static inline struct file write_file(const struct flame *flame, const struct svg_options *options)
{
    struct file file = {0};
    FILE *out = open_memstream(&file.text, &file.length);

    CHECK_NUMBER(svg_write(out, flame, options), 0);
    fclose(out);
    const char *wrong = wrong_xml(file.text, file.length);
    if (wrong)
        WRONG(wrong);
    file.count = see_frames(file.text, &file.frames);
    return file;
}

static inline void free_file(struct file *file)
{
    free(file->text);
    free(file->frames);
}

/* The frame whose tooltip begins this way. */
static inline const struct seen *find(const struct file *file, const char *title)
{
    static const struct seen none;

    for (size_t i = 0; i < file->count; i++)
        if (!strncmp(file->frames[i].title, title, strlen(title)))
            return &file->frames[i];
    printf("  no frame \"%s\"\n", title);
    WRONG("a frame is not there");
    return &none;
}

static inline bool is_near(double number, double other)
{
    return number - other < 0.0001 && other - number < 0.0001;
}

/* b before a, with a quarter and a half of the total; the rest ends in main itself. */
static inline void add_few(struct flame *flame)
{
    flame_init(flame);
    add(flame, FLAME_NOW, "tar;main;b", 500);
    add(flame, FLAME_NOW, "tar;main;a;read_[k]", 250);
    add(flame, FLAME_NOW, "tar;main", 1250);
}

#endif
