/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "machine/system_calls.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/util.h"

/* CALL(name) for each: made by the Makefile from the C library's header */
#define CALL(name) __NR_##name,
static const uint16_t numbers[] = {
#include "system_calls.inc"
};
#undef CALL

#define CALL(name) #name "\0"
static const char names[] =
#include "system_calls.inc"
;

/* Where the kernel's own name is another one than the headers'. */
static const char *const kernel_names[][2] = {
    {"_llseek", "llseek"},      {"_newselect", "select"}, {"fstat", "newfstat"},
    {"lstat", "newlstat"},      {"stat", "newstat"},      {"umount2", "umount"},
    {"sendfile", "sendfile64"}, {"uname", "newuname"},
};

static const char *name_at(size_t i)
{
    const char *name = names;

    while (i--)
        name += strlen(name) + 1;
    for (size_t k = 0; k < COUNT_OF(kernel_names); k++)
        if (!strcmp(name, kernel_names[k][0]))
            return kernel_names[k][1];
    return name;
}

struct system_call system_calls_at(size_t i)
{
    if (i >= COUNT_OF(numbers))
        return (struct system_call){NULL, 0};
    return (struct system_call){name_at(i), numbers[i]};
}

struct system_call system_calls_find(long number)
{
    size_t i = 0;

    while (i < COUNT_OF(numbers) && numbers[i] != number)
        i++;
    return system_calls_at(i);
}
