/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/manual_texts.h"

#include <string.h>

const struct manual_row manual_main_usage[] = {
    {"stackbox", "list the applets"},
    {"stackbox APPLET ...", "run an applet; so does a link named after it"},
    {"stackbox help APPLET", "the same as APPLET --help; APPLET --man prints its man page"},
    {0},
};

const struct manual_row manual_main_examples[] = {
    {"stackbox check", "what works here with your privileges, and how to fix the rest"},
    {"stackbox profile 5", "sample all CPUs for five seconds"},
    {"stackbox --install /usr/local/bin", "create links: then profile 5 is enough"},
    {"stackbox stackcount --man | man -l -", "read a man page without installing it"},
    {0},
};

const char manual_main_synopsis[] = "APPLET [options] [arguments]";

const char manual_main_about[] =
    "Stack-tracing applets for Linux in one static binary that needs nothing else: no compiler, "
    "kernel headers, BTF, interpreter or libraries. It assembles its own BPF programs and reads "
    "the kernel's symbols itself.";

void manual_option_names(const struct option *option, const struct option *const *tables,
                         struct text *names)
{
    if (option->letter)
        text_format(names, "-%c, ", option->letter);
    for (; *tables; tables++)
        for (const struct option *row = *tables; row->parse; row++)
            if (row->parse == option_letter && !strcmp(row->name, option->name))
                text_format(names, "-%c, ", row->letter);
    text_format(names, "--%s", option->name);
}

const char *manual_option_text(const struct option *option)
{
    return option->help + (option->help[0] == OFTEN[0]);
}

bool manual_lists(const struct option *option, const struct option *const *tables)
{
    if (!option->help || !option->name)
        return option->help;
    for (; *tables; tables++)
        for (const struct option *row = *tables; row->parse; row++)
            if (row->name && row->parse != option_letter && !strcmp(row->name, option->name))
                return row == option;
    return false;
}
