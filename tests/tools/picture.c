/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * picture [--separator CHARACTER] [--inverted] [--diff OLD] FILE: folded lines as an SVG.
 *
 * With another separator it draws what applets cannot read as text: names with a `;`.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flame/svg.h"

#define MOST_FRAMES 4096

static int add_line(struct flame *flame, enum flame_side side, char *line, int separator)
{
    static struct flame_slice frames[MOST_FRAMES];
    size_t count = 0;
    char *blank = strrchr(line, ' ');

    if (!blank)
        return 0;
    *blank = '\0';
    for (char *end, *frame = line; frame && count < MOST_FRAMES; frame = end ? end + 1 : NULL) {
        end = strchr(frame, separator);
        frames[count++] = (struct flame_slice){frame, end ? (size_t)(end - frame) : strlen(frame)};
    }
    return flame_add(flame, side, frames, count, strtoull(blank + 1, NULL, 10));
}

static int add_file(struct flame *flame, enum flame_side side, const char *path, int separator)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int result = file ? 0 : -errno;

    while (!result && getline(&line, &room, file) > 0)
        result = add_line(flame, side, line, separator);
    free(line);
    if (file)
        fclose(file);
    return result;
}

int main(int argc, char **argv)
{
    static const struct option words[] = {
        {"separator", required_argument, NULL, 's'},
        {"inverted", no_argument, NULL, 'i'},
        {"diff", required_argument, NULL, 'd'},
        {0},
    };
    struct svg_options options = {0};
    struct flame flame;
    const char *old = NULL;
    int separator = ';', result = flame_init(&flame);

    for (int option; (option = getopt_long(argc, argv, "", words, NULL)) != -1;)
        switch (option) {
        case 's': separator = optarg[0]; break;
        case 'i': options.inverted = true; break;
        case 'd': old = optarg, options.differential = true; break;
        default: return 2;
        }
    if (!result && optind < argc)
        result = add_file(&flame, FLAME_NOW, argv[optind], separator);
    if (!result && old)
        result = add_file(&flame, FLAME_BEFORE, old, separator);
    if (!result)
        result = svg_write(stdout, &flame, &options);
    flame_free(&flame);
    if (result)
        fprintf(stderr, "picture: %s\n", strerror(-result));
    return result || fflush(stdout) != 0;
}
