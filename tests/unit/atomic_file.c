/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files that appear whole or not at all: what they replace, and what a failed write leaves. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "report/atomic_file.h"
#include "files.h"

static int write_file(const char *path, const char *text)
{
    struct atomic_file file;
    int result = atomic_file_open(&file, path, false);

    if (result)
        return result;
    fputs(text, file.out);
    return atomic_file_finish(&file);
}

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *out = fopen(path, "w");

    CHECK(out && fputs(text, out) >= 0);
    fclose(out);
    CHECK(!chmod(path, mode));
}

static const char *content(const char *path)
{
    static char text[256];
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

    text[length] = '\0';
    if (in)
        fclose(in);
    return in ? text : "(none)";
}

static mode_t mode_of(const char *path)
{
    struct stat about;

    return lstat(path, &about) ? 0 : about.st_mode & 07777;
}

static bool is_link(const char *path)
{
    struct stat about;

    return !lstat(path, &about) && S_ISLNK(about.st_mode);
}

/* Returns how many names there are, and removes them all. */
static unsigned clean(void)
{
    DIR *names = opendir(".");
    unsigned count = 0;

    for (struct dirent *name; names && (name = readdir(names));)
        if (strcmp(name->d_name, ".") && strcmp(name->d_name, "..")) {
            count++;
            if (remove(name->d_name))
                count += 1000;
        }
    closedir(names);
    return count;
}

/* ---- */

TEST(appears_at_once)
{
    struct atomic_file file;

    umask(027);
    CHECK_NUMBER(atomic_file_check("new"), 0);
    CHECK(access("new", F_OK));
    CHECK_NUMBER(atomic_file_open(&file, "new", false), 0);
    fputs("half", file.out);
    fflush(file.out);
    CHECK(access("new", F_OK));
    CHECK_NUMBER(atomic_file_finish(&file), 0);
    CHECK_STRING(content("new"), "half");
    CHECK_NUMBER(mode_of("new"), 0640);

    CHECK_NUMBER(atomic_file_open(&file, "new", false), 0);
    fputs("other", file.out);
    fflush(file.out);
    CHECK_STRING(content("new"), "half");
    atomic_file_drop(&file);
    CHECK_STRING(content("new"), "half");
    CHECK_NUMBER(write_file("./new", "more"), 0);
    CHECK_STRING(content("new"), "more");
    CHECK_NUMBER(clean(), 1);
    umask(022);
}

/* A file that appears while it is written is replaced, too. */
TEST(appears_meanwhile)
{
    struct atomic_file file;

    CHECK_NUMBER(atomic_file_open(&file, "a", false), 0);
    fputs("ours", file.out);
    put("a", "theirs", 0600);
    CHECK_NUMBER(atomic_file_finish(&file), 0);
    CHECK_STRING(content("a"), "ours");
    CHECK_NUMBER(clean(), 1);
}

TEST(mode_is_kept)
{
    put("private", "old", 0600);
    CHECK_NUMBER(write_file("private", "new"), 0);
    CHECK_NUMBER(mode_of("private"), 0600);
    put("odd", "old", 04757);
    CHECK_NUMBER(write_file("odd", "new"), 0);
    CHECK_NUMBER(mode_of("odd"), 0757);
    CHECK_STRING(content("odd"), "new");
    CHECK_NUMBER(clean(), 2);
}

TEST(owner_is_kept)
{
    struct stat about;

    if (geteuid())
        return; /* only root can change a file's owner */
    put("theirs", "old", 0640);
    CHECK(!chown("theirs", 1234, 5678));
    CHECK_NUMBER(write_file("theirs", "new"), 0);
    CHECK(!stat("theirs", &about) && about.st_uid == 1234 && about.st_gid == 5678);
    CHECK_NUMBER(mode_of("theirs"), 0640);
    /* In a world-writable directory, another user's file does not matter. */
    CHECK(!chmod(".", 01777));
    CHECK_NUMBER(write_file("theirs", "newer"), 0);
    CHECK(!stat("theirs", &about) && about.st_uid == 0 && about.st_gid == 0);
    CHECK_NUMBER(mode_of("theirs"), 0644);
    CHECK(!symlink("theirs", "planted") && !lchown("planted", 1234, 5678));
    CHECK_NUMBER(atomic_file_check("planted"), -EACCES);
    CHECK_NUMBER(write_file("planted", "newest"), -EACCES);
    CHECK_STRING(content("theirs"), "newer");
    CHECK(!chmod(".", 0700));
    CHECK_NUMBER(write_file("planted", "newest"), 0);
    CHECK_STRING(content("theirs"), "newest");
    CHECK_NUMBER(clean(), 2);
}

TEST(links_are_followed)
{
    char target[64];

    CHECK(!mkdir("d", 0700));
    put("d/real", "old", 0600);
    snprintf(target, sizeof(target), "%s/d/second", own_directory);
    CHECK(!symlink(target, "first") && !symlink("real", "d/second"));
    CHECK_NUMBER(atomic_file_check("first"), 0);
    CHECK_NUMBER(write_file("first", "new"), 0);
    CHECK(is_link("first") && is_link("d/second"));
    CHECK_STRING(content("d/real"), "new");
    /* To a target that does not exist yet. */
    CHECK(!symlink("d/later", "future"));
    CHECK_NUMBER(atomic_file_check("future"), 0);
    CHECK_NUMBER(write_file("future", "now"), 0);
    CHECK(is_link("future"));
    CHECK_STRING(content("d/later"), "now");
    CHECK(!symlink("nowhere/later", "lost"));
    CHECK_NUMBER(atomic_file_check("lost"), -ENOENT);
    CHECK_NUMBER(write_file("lost", "x"), -ENOENT);
    CHECK(!symlink("round", "round"));
    CHECK_NUMBER(atomic_file_check("round"), -ELOOP);
    CHECK_NUMBER(write_file("round", "x"), -ELOOP);
    CHECK(!remove("d/real") && !remove("d/second") && !remove("d/later"));
    CHECK_NUMBER(clean(), 5);
}

/* Directories on the way, and everything that may be between slashes. */
TEST(ways)
{
    char nested[64];

    CHECK(!mkdir("d", 0700) && !mkdir("d/e", 0700) && !symlink("d/e", "to-e") && !symlink(".", "d/here"));
    put("file", "", 0600);
    CHECK_NUMBER(write_file("to-e/../e//a", "1"), 0);
    CHECK_STRING(content("d/e/a"), "1");
    CHECK_NUMBER(write_file("./d/here/../d/./here/e/a", "2"), 0);
    CHECK_STRING(content("d/e/a"), "2");
    snprintf(nested, sizeof(nested), "//%s/to-e///a", own_directory);
    CHECK_NUMBER(write_file(nested, "3"), 0);
    CHECK_STRING(content("d/e/a"), "3");
    CHECK_NUMBER(write_file("/proc/self/cwd/to-e/a", "4"), 0);
    CHECK_STRING(content("d/e/a"), "4");
    CHECK(!symlink("to-e/", "slash") && !symlink("/", "root"));
    CHECK_NUMBER(write_file("slash/a", "5"), 0);
    CHECK_STRING(content("d/e/a"), "5");
    snprintf(nested, sizeof(nested), "root%s/d/e/a", own_directory);
    CHECK_NUMBER(write_file(nested, "6"), 0);
    CHECK_STRING(content("d/e/a"), "6");
    static const char *const directories[] = {"slash", "to-e/", "root", "d/", "d/.", "to-e/..", "/", "/."};
    for (size_t i = 0; i < COUNT_OF(directories); i++)
        CHECK_NUMBER(atomic_file_check(directories[i]), -EISDIR);
    CHECK_NUMBER(atomic_file_check(""), -ENOENT);
    CHECK_NUMBER(atomic_file_check("to-e/new/"), -ENOENT);
    CHECK_NUMBER(atomic_file_check("to-e/a/"), -ENOTDIR);
    CHECK_NUMBER(atomic_file_check("file/.."), -ENOTDIR);
    CHECK_NUMBER(atomic_file_check("none/../a"), -ENOENT);
    CHECK(!remove("d/e/a") && !remove("d/e") && !remove("d/here"));
    CHECK_NUMBER(clean(), 5);
}

/* How many open descriptors this process has. */
static unsigned descriptors(void)
{
    DIR *names = opendir("/proc/self/fd");
    unsigned count = 0;

    while (names && readdir(names))
        count++;
    if (names)
        closedir(names);
    return count;
}

static void plant(const char *leads, const char *name, uid_t owner)
{
    CHECK(!symlink(leads, name) && !lchown(name, owner, owner));
}

/* In a world-writable directory, whether or not fs.protected_symlinks makes the kernel help. */
TEST(strangers_links)
{
    static const char *const planted[] = {"device", "through-fifo", "through-file", "nothing", "way/real",
                                          "own", "way/../w/real", "through-fd"};

    if (geteuid())
        return; /* only root can create another user's links */
    CHECK(!mkdir("w", 0700) && !mkdir("d", 0700) && !mkfifo("d/fifo", 0600) && !chdir("w"));
    put("../d/real", "old", 0600);
    int fifo = open("../d/fifo", O_RDWR | O_NONBLOCK);
    plant("/dev/full", "device", 1234);
    plant("../d/fifo", "through-fifo", 1234);
    plant("../d/real", "through-file", 1234);
    plant("../d/new", "nothing", 1234);
    plant("../d", "way", 1234);
    plant("through-file", "own", 0);
    plant("/proc/self/fd/1", "through-fd", 1234);
    plant("/dev/null", "roots-device", 0);
    plant("../d/real", "roots-file", 0);
    const unsigned before = descriptors();
    for (mode_t sticky = 0; sticky <= S_ISVTX; sticky += S_ISVTX) {
        CHECK(!chmod(".", 0777 | sticky));
        for (size_t i = 0; i < COUNT_OF(planted); i++) {
            CHECK_NUMBER(atomic_file_check(planted[i]), -EACCES);
            CHECK_NUMBER(write_file(planted[i], "x"), -EACCES);
        }
        CHECK_NUMBER(write_file("roots-device", "x"), 0);
        CHECK_NUMBER(write_file("roots-file", "by root's"), 0);
        CHECK_STRING(content("../d/real"), "by root's");
    }
    CHECK_NUMBER(descriptors(), before);
    CHECK(access("../d/new", F_OK));
    char text[8];
    CHECK_NUMBER(read(fifo, text, sizeof(text)), -1);
    /* In a directory that is not world-writable, links of other users are followed. */
    CHECK(!chmod(".", 0775));
    CHECK_NUMBER(write_file("device", "x"), -ENOSPC);
    CHECK_NUMBER(write_file("way/real", "by the way"), 0);
    CHECK_STRING(content("../d/real"), "by the way");
    CHECK_NUMBER(write_file("through-fifo", "x"), 0);
    CHECK_NUMBER(read(fifo, text, sizeof(text)), 1);
    close(fifo);
    CHECK_NUMBER(clean(), 9);
    CHECK(!chdir("..") && !remove("d/fifo") && !remove("d/real"));
    CHECK_NUMBER(clean(), 2);
}

/* Users may have their own links there. */
TEST(own_links)
{
    CHECK(!mkdir("w", 0700) && !chmod("w", 01777));
    CHECK(!symlink("real", "w/own") && !symlink("/dev/full", "w/device") && !symlink("../w", "w/way"));
    CHECK_NUMBER(write_file("w/own", "1"), 0);
    CHECK_STRING(content("w/real"), "1");
    CHECK_NUMBER(write_file("w/way/own", "2"), 0);
    CHECK_STRING(content("w/real"), "2");
    CHECK_NUMBER(write_file("w/device", "x"), -ENOSPC);
    CHECK(!remove("w/own") && !remove("w/device") && !remove("w/way") && !remove("w/real"));
    CHECK_NUMBER(clean(), 1);
}

TEST(long_names)
{
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    CHECK_NUMBER(write_file(name, "one"), 0);
    CHECK_NUMBER(write_file(name, "two"), 0);
    CHECK_STRING(content(name), "two");
    char longer[258];
    snprintf(longer, sizeof(longer), "%sn", name);
    CHECK_NUMBER(atomic_file_check(longer), -ENAMETOOLONG);
    CHECK_NUMBER(write_file(longer, "x"), -ENAMETOOLONG);
    CHECK_NUMBER(clean(), 1);
}

TEST(what_is_refused)
{
    CHECK_NUMBER(atomic_file_check("none/a"), -ENOENT);
    CHECK_NUMBER(write_file("none/a", ""), -ENOENT);
    put("file", "", 0644);
    CHECK_NUMBER(atomic_file_check("file/a"), -ENOTDIR);
    CHECK_NUMBER(write_file("file/a", ""), -ENOTDIR);
    CHECK_NUMBER(atomic_file_check("."), -EISDIR);
    CHECK_NUMBER(write_file("..", ""), -EISDIR);
    CHECK_NUMBER(atomic_file_check("new/"), -ENOENT);
    CHECK_NUMBER(write_file("new/", ""), -ENOENT);
    CHECK_NUMBER(clean(), 1);
}

/* As another user, who may not write to some files. */
TEST(rights)
{
    int status;

    if (geteuid())
        return;
    put("guarded", "old", 0444);
    CHECK(!mkdir("closed", 0755) && !chmod(".", 0777) && !chown("guarded", 1234, 1234));
    pid_t child = fork();
    if (!child) {
        test_failures_here = 0;
        CHECK(!setgid(1234) && !setuid(1234));
        CHECK_NUMBER(atomic_file_check("guarded"), -EACCES);
        CHECK_NUMBER(atomic_file_check("closed/a"), -EACCES);
        CHECK_NUMBER(write_file("closed/a", "x"), -EACCES);
        CHECK_NUMBER(atomic_file_check("new"), 0);
        _exit(test_failures_here != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    CHECK_STRING(content("guarded"), "old");
    CHECK(!chmod(".", 0700));
    CHECK_NUMBER(clean(), 2);
}

/* RLIMIT_FSIZE acts like a full disk for one process. */
TEST(too_large)
{
    struct rlimit usual, small;
    struct atomic_file file;

    put("old", "old", 0644);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(!getrlimit(RLIMIT_FSIZE, &usual));
    small = usual;
    small.rlim_cur = 100000;
    CHECK(!setrlimit(RLIMIT_FSIZE, &small));
    CHECK_NUMBER(atomic_file_open(&file, "old", false), 0);
    for (size_t i = 0; i < 100001; i++)
        putc('x', file.out);
    CHECK_NUMBER(atomic_file_finish(&file), -EFBIG);
    CHECK(!setrlimit(RLIMIT_FSIZE, &usual));
    CHECK_STRING(content("old"), "old");
    CHECK_NUMBER(clean(), 1);
}

TEST(what_is_no_file)
{
    char text[32] = "", name[32];
    int ends[2];

    CHECK_NUMBER(atomic_file_check("/dev/null"), 0);
    CHECK_NUMBER(write_file("/dev/null", "x"), 0);
    CHECK_NUMBER(atomic_file_check("/dev/full"), 0);
    CHECK_NUMBER(write_file("/dev/full", "x"), -ENOSPC);
    CHECK(!mkfifo("fifo", 0600));
    int fifo = open("fifo", O_RDWR);
    CHECK(!symlink("fifo", "to-fifo"));
    CHECK_NUMBER(atomic_file_check("to-fifo"), 0);
    CHECK_NUMBER(write_file("to-fifo", "through"), 0);
    CHECK_NUMBER(read(fifo, text, sizeof(text) - 1), 7);
    CHECK_STRING(text, "through");
    close(fifo);
    CHECK(!pipe(ends) && ends[1] > STDERR_FILENO);
    snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)getpid(), ends[1]);
    CHECK(!symlink(name, "to-pipe"));
    CHECK_NUMBER(atomic_file_check("to-pipe"), 0);
    CHECK_NUMBER(write_file("to-pipe", "pipe"), 0);
    CHECK_NUMBER(read(ends[0], text, sizeof(text) - 1), 4);
    close(ends[0]);
    close(ends[1]);

    /* A write to a descriptor appends at its offset; the descriptor stays open. */
    int file = open("named", O_RDWR | O_CREAT, 0600);
    CHECK(write(file, "before ", 7) == 7);
    snprintf(name, sizeof(name), "/dev/fd/%d", file);
    CHECK_NUMBER(atomic_file_check(name), 0);
    CHECK_NUMBER(write_file(name, "now"), 0);
    CHECK(write(file, " after", 6) == 6);
    CHECK_STRING(content("named"), "before now after");
    fcntl(file, F_SETFD, FD_CLOEXEC);
    CHECK_NUMBER(atomic_file_check(name), -EBADF);
    CHECK_NUMBER(write_file(name, "now"), -EBADF);
    close(file);
    CHECK_NUMBER(write_file(name, "now"), -EBADF);

    CHECK(!pipe(ends));
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[1]);
    CHECK_NUMBER(write_file(name, "now"), -EPIPE);
    close(ends[1]);
    CHECK_NUMBER(clean(), 4);
}

/* The next run deletes the leftover of a killed run, but not a file that another run is about to rename. */
TEST(left_behind)
{
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};

    put("a", "old", 0644);
    put(".a.new-0", "left", 0644);
    CHECK(!utimensat(AT_FDCWD, ".a.new-0", old, 0));
    CHECK_NUMBER(write_file("a", "new"), 0);
    CHECK_STRING(content("a"), "new");
    CHECK_NUMBER(clean(), 1);
    put("a", "old", 0644);
    put(".a.new-0", "another's", 0644);
    CHECK_NUMBER(write_file("a", "new"), 0);
    CHECK_STRING(content("a"), "new");
    CHECK_STRING(content(".a.new-0"), "another's");
    CHECK_NUMBER(clean(), 2);
}

/* Several processes write the same file again and again, and one reads it. */
TEST(at_the_same_time)
{
    char text[8192], before[8192] = "";
    pid_t writers[3];
    int status;

    for (int i = 0; i < 3; i++) {
        writers[i] = fork();
        if (writers[i])
            continue;
        memset(text, 'a' + i, sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        for (int round = 0; round < 200; round++)
            if (write_file("a", text))
                _exit(1);
        _exit(0);
    }
    for (int round = 0; round < 300; round++) {
        FILE *in = fopen("a", "r");
        if (!in) {
            CHECK(!*before);
            continue;
        }
        memset(before, 0, sizeof(before));
        CHECK_NUMBER(fread(before, 1, sizeof(before), in), sizeof(before) - 1);
        CHECK_NUMBER(strspn(before, (char[]){before[0], '\0'}), sizeof(before) - 1);
        fclose(in);
    }
    for (int i = 0; i < 3; i++)
        CHECK(waitpid(writers[i], &status, 0) == writers[i] && !status);
    CHECK_NUMBER(clean(), 1);
}

int main(void)
{
    umask(022);
    if (!enter_own_directory())
        return 1;
    run_tests();
    leave_own_directory();
    return tests_done();
}
