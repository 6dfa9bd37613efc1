/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/util.h"

/* By linux/magic.h, and the kernel's sources for those that are not in it. */
static const uint32_t without_programs[] = {
    0x00009fa0, /* proc */
    0x62656572, /* sysfs */
    0x74726163, /* tracefs */
    0x64626720, /* debugfs */
    0xcafe4a11, /* bpf */
    0x0027e0eb, /* cgroup, cpuset */
    0x63677270, /* cgroup2 */
    0x07655821, /* resctrl */
    0x62656570, /* configfs */
    0x73636673, /* securityfs */
    0xf97cff8c, /* selinuxfs */
    0x43415d53, /* smackfs */
    0x5a3c69f0, /* apparmorfs */
    0xde5e81e4, /* efivarfs */
    0x6165676c, /* pstore */
    0x42494e4d, /* binfmt_misc */
    0x00001cd1, /* devpts */
    0x6c6f6f70, /* binder */
    0x19800202, /* mqueue */
    0x6e736673, /* nsfs */
    0x50494446, /* pidfs */
    0x50495045, /* pipefs */
    0x534f434b, /* sockfs */
    0x09041934, /* anon_inodefs: events, maps and programs of BPF, KVM */
    0x444d4142, /* dmabuf */
    0x5345434d, /* secretmem */
    0x65735543, /* fusectl */
    0x67596969, /* rpc_pipefs */
    0x6e667364, /* nfsd */
    0xabba1974, /* xenfs */
    0x00009fa1, /* openpromfs */
};

/* fstatfs(2) works on all of those above: if it fails so, a security module forbids it. */
static bool is_one(int result, const struct statfs *place)
{
    if (result)
        return errno != EACCES && errno != EPERM;
    for (size_t i = 0; i < COUNT_OF(without_programs); i++)
        if ((uint32_t)place->f_type == without_programs[i])
            return false;
    return true;
}

bool policy_allows(int fd)
{
    struct statfs place;

    return is_one(fstatfs(fd, &place), &place);
}

static int open_checked(int seen, const char *root, const char *path)
{
    struct text whole = {0};
    struct stat about;
    int fd = -ENOMEM;

    text_format(&whole, "%s%s", root, path);
    if (!whole.failed)
        fd = policy_allows(seen) ? open_seen(seen, whole.data, &about) : -EINVAL;
    text_free(&whole);
    if (fd == -ENODEV)
        return S_ISDIR(about.st_mode) ? -EISDIR : -EINVAL;
    return fd;
}

int policy_open(const char *root, const char *path, struct text *resolved)
{
    int seen = *root ? see_below(root, path, resolved) : open(path, O_PATH | O_CLOEXEC);

    if (seen < 0)
        return *root ? seen : -errno;
    int fd = open_checked(seen, root, *root ? resolved->data : path);
    close(seen);
    return fd;
}
