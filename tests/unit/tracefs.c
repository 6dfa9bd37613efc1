/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracepoints' format files: as kernels have them, and malformed ones. */
#include "kernel/tracefs.h"

#include "test.h"

/* sched_process_fork in 5.10 and in 6.18: the same field has another offset. */
static const char fork_of_5_10[] =
    "name: sched_process_fork\nID: 287\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
    "\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:1;\n"
    "\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid\n";
static const char fork_of_6_18[] =
    "name: sched_process_fork\nID: 300\nformat:\n"
    "\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n";

static void check_field(const char *format, const char *field, int offset, int size)
{
    struct tracefs_field found = {0};

    CHECK_NUMBER(tracefs_parse_field(format, field, &found), 0);
    CHECK_NUMBER(found.offset, offset);
    CHECK_NUMBER(found.size, size);
}

TEST(fields_are_found)
{
    check_field(fork_of_5_10, "child_pid", 44, 4);
    check_field(fork_of_5_10, "parent_comm", 8, 16);
    check_field(fork_of_5_10, "common_pid", 4, 4);
    check_field(fork_of_6_18, "child_pid", 20, 4);
    check_field(fork_of_6_18, "child_comm", 16, 4);
    check_field("field:long a;\toffset:1;\tsize:8;", "a", 1, 8);
}

static void check_error(const char *format, const char *field, int error)
{
    struct tracefs_field found;

    CHECK_NUMBER(tracefs_parse_field(format, field, &found), error);
}

TEST(others_are_not)
{
    check_error(fork_of_5_10, "pid", -ENOENT); /* a suffix of two names, but no name itself */
    check_error(fork_of_5_10, "child", -ENOENT);
    check_error(fork_of_5_10, "child_comm[16]", -ENOENT);
    check_error(fork_of_5_10, "REC->parent_pid", -ENOENT);
    check_error("", "pid", -ENOENT);
    check_error("field:", "pid", -ENOENT);
    check_error("field:pid;offset:1;size:1;", "pid", -ENOENT);
    check_error("field:int pid", "pid", -ENOENT);
    check_error("field:]; offset:1; size:1;", "pid", -ENOENT);
}

TEST(nonsense_is_refused)
{
    check_error("field:int pid;\toffset:;\tsize:4;", "pid", -EINVAL);
    check_error("field:int pid;\tsize:4;\n\toffset:4;", "pid", -EINVAL);
    check_error("field:int pid;\toffset:-1;\tsize:4;", "pid", -EINVAL);
    check_error("field:int pid;\toffset:4;", "pid", -EINVAL);
    check_error("field:int pid;\toffset:4;\tsize:4", "pid", -EINVAL);
    check_error("field:int pid;\toffset:99999999999;\tsize:4;", "pid", -EINVAL);
    check_error("field:int pid;\toffset:65536;\tsize:4;", "pid", -ERANGE);
}

/* Every truncation, and every byte replaced: the sanitizers find no overrun. */
TEST(broken_files_do_no_harm)
{
    struct tracefs_field found;

    for (size_t length = 0; length < sizeof(fork_of_5_10); length++) {
        char *copy = strndup(fork_of_5_10, length);
        if (!copy)
            abort();
        (void)tracefs_parse_field(copy, "child_pid", &found);
        for (const char *other = ";][ :\n0"; *other && length; other++) {
            copy[length - 1] = *other;
            (void)tracefs_parse_field(copy, "child_pid", &found);
        }
        free(copy);
    }
    CHECK_NUMBER(tracefs_parse_field(fork_of_5_10, "child_pid", &found), 0);
}

TEST_MAIN
