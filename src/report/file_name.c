/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/file_name.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "report/formats.h"

#define NS_PER_SECOND 1000000000
#define NS_PER_MILLISECOND 1000000
#define DIGITS 5 /* of a number, at least */

int file_name_varies(const char *path)
{
    int does = 0;

    for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%')) {
        if (!at[1] || !strchr("nt%", at[1]))
            return -EINVAL;
        does |= at[1] == 'n' ? FILE_NAME_NUMBER : at[1] == 't' ? FILE_NAME_HAS_TIME : 0;
    }
    return does;
}

static void add_time(struct text *name, uint64_t began)
{
    time_t seconds = (time_t)(began / NS_PER_SECOND);
    struct tm when = {0};

    localtime_r(&seconds, &when);
    text_format(name, "%04d%02d%02d-%02d%02d%02d.%03u", 1900 + when.tm_year, 1 + when.tm_mon, when.tm_mday,
                when.tm_hour, when.tm_min, when.tm_sec, (unsigned)(began % NS_PER_SECOND / NS_PER_MILLISECOND));
}

static void add_number(struct text *name, uint64_t number)
{
    text_format(name, "%0*llu", DIGITS, (unsigned long long)number);
}

void file_name_add(struct text *name, const char *path, const struct report_turn *turn)
{
    bool numbered = !turn->last && file_name_varies(path) <= 0;
    const char *ending = path + strlen(path) - format_ending_length(path);

    for (const char *at = path;; at++) {
        if (at == ending && numbered) {
            text_add(name, ".");
            add_number(name, turn->number);
        }
        if (!*at)
            return;
        if (*at != '%')
            text_append(name, at, 1);
        else if (*++at == 'n')
            add_number(name, turn->number);
        else if (*at == 't')
            add_time(name, turn->began);
        else
            text_add(name, "%");
    }
}

/* As long as what add_time() appends, and all digits but two. */
static bool is_time(const char *name)
{
    static const char form[] = "dddddddd-dddddd.ddd";

    for (size_t i = 0; i < FILE_NAME_TIME; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)name[i]) : name[i] != form[i])
            return false;
    return true;
}

bool file_name_fits(const char *path, const char *name, char when[FILE_NAME_TIME + 1])
{
    when[0] = '\0';
    for (; *path; path++) {
        if (*path == '%' && *++path != '%') {
            size_t length = *path == 't' ? FILE_NAME_TIME : strspn(name, "0123456789");
            if (*path == 't' ? !is_time(name) : length < DIGITS)
                return false;
            if (*path == 't' && !when[0]) {
                memcpy(when, name, length);
                when[length] = '\0';
            }
            name += length;
        } else if (*path != *name++) {
            return false;
        }
    }
    return !*name;
}
