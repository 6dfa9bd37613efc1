/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads our SVG files back, as strictly as an XML reader, and independently. */
#ifndef STACKBOX_TEST_SVG_READER_H
#define STACKBOX_TEST_SVG_READER_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define READER_DEPTH 16

struct xml {
    const char *at, *end;
    const char *wrong; /* NULL: nothing */
    char open[READER_DEPTH][32];
    size_t depth, elements;
};

static inline bool starts(const struct xml *xml, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(xml->end - xml->at) >= length && !memcmp(xml->at, text, length);
}

/* Moves past the next `text`; only what was skipped may be there. */
static inline bool skip_past(struct xml *xml, const char *text, const char *wrong)
{
    char *found = memmem(xml->at, (size_t)(xml->end - xml->at), text, strlen(text));

    if (!found) {
        xml->wrong = wrong;
        return false;
    }
    xml->at = found + strlen(text);
    return true;
}

static inline bool is_entity(struct xml *xml)
{
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (starts(xml, known[i])) {
            xml->at += strlen(known[i]);
            return true;
        }
    xml->wrong = "an & that begins no entity";
    return false;
}

/* The whole file has only XML 1.0 characters, in UTF-8. */
static inline const char *wrong_characters(const char *text, size_t length)
{
    const unsigned char *byte = (const unsigned char *)text, *end = byte + length;

    while (byte < end) {
        unsigned more = *byte < 0x80   ? 0
                        : *byte < 0xc2 ? 9
                        : *byte < 0xe0 ? 1
                        : *byte < 0xf0 ? 2
                                       : 3;
        unsigned code = more ? *byte & (0x3f >> more) : *byte;
        if (more > 3 || *byte > 0xf4 || more >= (size_t)(end - byte))
            return "no UTF-8";
        if (!more && code < 0x20 && code != '\n')
            return "a control byte";
        byte++;
        for (; more; more--, byte++) {
            if ((*byte & 0xc0) != 0x80)
                return "no UTF-8";
            code = code << 6 | (*byte & 0x3f);
        }
        if ((code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff || code > 0x10ffff)
            return "no character";
    }
    return NULL;
}

static inline void read_attributes(struct xml *xml)
{
    while (!xml->wrong && *xml->at == ' ') {
        size_t name = strspn(++xml->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
        xml->at += name;
        if (!name || !starts(xml, "=\"")) {
            xml->wrong = "an attribute without a name or a value";
            return;
        }
        for (xml->at += 2; xml->at < xml->end && *xml->at != '"' && !xml->wrong;)
            if (*xml->at == '<')
                xml->wrong = "< in an attribute";
            else if (*xml->at != '&')
                xml->at++;
            else
                is_entity(xml);
        xml->at++;
    }
}

static inline void read_element(struct xml *xml)
{
    bool closes = xml->at[1] == '/';
    char name[32] = "";

    xml->at += closes ? 2 : 1;
    size_t length = strspn(xml->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (!length || length >= sizeof(name)) {
        xml->wrong = "no name of an element";
        return;
    }
    memcpy(name, xml->at, length);
    xml->at += length;
    if (closes) {
        if (!xml->depth || strcmp(xml->open[--xml->depth], name) || *xml->at++ != '>')
            xml->wrong = "an end that nothing began";
        return;
    }
    read_attributes(xml);
    xml->elements++;
    if (starts(xml, "/>")) {
        xml->at += 2;
    } else if (xml->wrong || *xml->at++ != '>' || xml->depth == READER_DEPTH) {
        xml->wrong = xml->wrong ? xml->wrong : "no end of a tag";
    } else {
        strcpy(xml->open[xml->depth++], name);
    }
}

static inline void read_comment(struct xml *xml)
{
    const char *inside = xml->at += 4;

    if (!skip_past(xml, "--", "a comment without an end"))
        return;
    if (*xml->at != '>' || xml->at - 3 < inside)
        xml->wrong = "-- in a comment";
    xml->at++;
}

/* What is wrong with it as XML; NULL: nothing. */
static inline const char *wrong_xml(const char *text, size_t length)
{
    struct xml xml = {.at = text, .end = text + length};

    xml.wrong = wrong_characters(text, length);
    if (!xml.wrong && !starts(&xml, "<?xml "))
        xml.wrong = "no declaration";
    if (!xml.wrong)
        skip_past(&xml, "?>", "no end of the declaration");
    while (!xml.wrong && xml.at < xml.end) {
        if (!xml.depth && xml.elements && *xml.at != '\n')
            xml.wrong = "something behind the end";
        else if (starts(&xml, "<!--"))
            read_comment(&xml);
        else if (starts(&xml, "<![CDATA["))
            skip_past(&xml, "]]>", "CDATA without an end");
        else if (*xml.at == '<')
            read_element(&xml);
        else if (*xml.at == '&')
            is_entity(&xml);
        else if (starts(&xml, "]]>"))
            xml.wrong = "]]> in a text";
        else
            xml.at++;
    }
    if (!xml.wrong && (xml.depth || !xml.elements))
        xml.wrong = "not all ends";
    return xml.wrong;
}

/* ---- Frames ---- */

struct seen {
    double x, width; /* percent */
    long y;
    unsigned fill;
    char title[256], label[256]; /* as XML; "" without */
};

static inline void copy_between(char *to, size_t room, const char *line, const char *from, const char *until)
{
    const char *start = strstr(line, from), *end = start ? strstr(start, until) : NULL;

    *to = '\0';
    if (!end)
        return;
    start += strlen(from);
    size_t length = (size_t)(end - start);
    if (length >= room)
        length = room - 1;
    memcpy(to, start, length);
    to[length] = '\0';
}

static inline double number_behind(const char *line, const char *name)
{
    const char *found = strstr(line, name);

    return found ? strtod(found + strlen(name), NULL) : -1;
}

static inline void see(struct seen *seen, const char *line)
{
    const char *fill = strstr(line, " fill=\"#");

    seen->x = number_behind(line, " x=\"");
    seen->width = number_behind(line, " width=\"");
    seen->y = (long)number_behind(line, " y=\"");
    seen->fill = fill ? (unsigned)strtoul(fill + 8, NULL, 16) : 0;
    copy_between(seen->title, sizeof(seen->title), line, "<title>", "</title>");
    copy_between(seen->label, sizeof(seen->label), line, "y=\"11.5\">", "</text>");
}

/* All frames of a file, one per line. The caller frees *seen. */
static inline size_t see_frames(const char *text, struct seen **seen)
{
    const char *at = strstr(text, "<svg id=\"frames\"");
    size_t count = 0, room = 0;

    *seen = NULL;
    for (at = at ? strchr(at, '\n') + 1 : NULL; at && strncmp(at, "</svg>", 6);) {
        const char *end = strchr(at, '\n');
        char *line = strndup(at, (size_t)(end - at));
        if (count == room) {
            room = room ? room * 2 : 64;
            *seen = realloc(*seen, room * sizeof(**seen));
        }
        see(&(*seen)[count++], line);
        free(line);
        at = end + 1;
    }
    return count;
}

#endif
