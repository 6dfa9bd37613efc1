/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bpf_ids
 *
 * Prints what the kernel has of bpf, each on a line: `prog ID`, `map ID`, `link ID`. Where a kernel has
 * no links there are none.
 */
#include <errno.h>
#include <linux/bpf.h>
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

int main(void)
{
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
