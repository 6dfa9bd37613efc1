/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "output/svg.h"

#include <string.h>

bool svg_has_colors(const char *name)
{
    return !strcmp(name, "kinds");
}

void svg_add_colors(struct text *names)
{
    text_add(names, "kinds");
}

static void write_escaped(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr("<>&\"'", text[i]))
            fprintf(out, "&#%d;", text[i]);
        else
            fputc(text[i], out);
}

static void write_node(FILE *out, const struct flame *flame, uint32_t index, double left,
                       unsigned depth)
{
    const struct flame_node *node = &flame->nodes[index];
    const struct flame_name *name = &flame->names[node->name];
    double scale = 1200 / (double)flame->nodes[0].value;

    fprintf(out, "<g><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"15\" fill=\"#e07030\"/><text x=\"%.2f\" "
            "y=\"%u\">", left, 2000 - 16 * depth, (double)node->value * scale, left + 3, 2012 - 16 * depth);
    write_escaped(out, name->text, name->length);
    fputs("</text></g>\n", out);
    for (uint32_t child = node->first_child; child; child = flame->nodes[child].next) {
        write_node(out, flame, child, left, depth + 1);
        left += (double)flame->nodes[child].value * scale;
    }
}

int svg_write(FILE *out, const struct flame *flame, const struct svg_options *options)
{
    (void)options;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 2020\">\n", out);
    if (flame->nodes[0].value)
        write_node(out, flame, 0, 0, 0);
    fputs("</svg>\n", out);
    return 0;
}
