/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bpf_ids [--inner]
 *
 * Prints the kernel's BPF objects, one per line: `prog ID`, `map ID`, `link ID`. If a kernel has no
 * links, there are none. --inner: instead, the maps that are elements of arrays of maps, which no
 * process need have open itself.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int print_all(const char *what, int command)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof(attributes));
    while (!syscall(SYS_bpf, command, &attributes, sizeof(attributes))) {
        printf("%s %u\n", what, attributes.next_id);
        attributes.start_id = attributes.next_id;
    }
    return errno == ENOENT ? 0 : errno;
}

/* An array of maps returns ids as its elements. */
static void print_elements(int map)
{
    struct bpf_map_info about;
    union bpf_attr attributes;
    unsigned id, key;

    memset(&about, 0, sizeof(about));
    memset(&attributes, 0, sizeof(attributes));
    attributes.info.bpf_fd = (unsigned)map;
    attributes.info.info_len = sizeof(about);
    attributes.info.info = (uintptr_t)&about;
    if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attributes, sizeof(attributes)) ||
        about.type != BPF_MAP_TYPE_ARRAY_OF_MAPS)
        return;
    memset(&attributes, 0, sizeof(attributes));
    attributes.map_fd = (unsigned)map;
    attributes.key = (uintptr_t)&key;
    attributes.value = (uintptr_t)&id;
    for (key = 0; key < about.max_entries; key++)
        if (!syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attributes, sizeof(attributes)))
            printf("map %u\n", id);
}

static int print_inner(void)
{
    union bpf_attr attributes, opening;

    memset(&attributes, 0, sizeof(attributes));
    while (!syscall(SYS_bpf, BPF_MAP_GET_NEXT_ID, &attributes, sizeof(attributes))) {
        memset(&opening, 0, sizeof(opening));
        opening.map_id = attributes.start_id = attributes.next_id;
        int map = (int)syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, &opening, sizeof(opening));
        if (map >= 0) {
            print_elements(map);
            close(map);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--inner"))
        return print_inner();
    int result = print_all("prog", BPF_PROG_GET_NEXT_ID);

    if (!result)
        result = print_all("map", BPF_MAP_GET_NEXT_ID);
    if (!result)
        result = print_all("link", BPF_LINK_GET_NEXT_ID);
    if (result && result != EINVAL) {
        fprintf(stderr, "bpf_ids: %s\n", strerror(result));
        return 1;
    }
    return 0;
}
