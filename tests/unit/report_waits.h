/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Layouts of the applets of waits and samples, and the functions in their tests' stacks. */
#ifndef STACKBOX_REPORT_WAITS_H
#define STACKBOX_REPORT_WAITS_H

#include "unit/report_scene.h"

#define SAMPLES .layout = LAYOUT_PROFILE
#define WAITS .layout = LAYOUT_PROFILE, .unit = 1000
#define WAKES .layout = LAYOUT_WAKEUPTIME, .unit = 1000
#define BOTH_SIDES .layout = LAYOUT_OFFWAKETIME, .unit = 1000
#define AS_FOLDED .format = REPORT_FOLDED
#define BOTH .kernel = true, .user = true

/* What each scene is made of. */
struct names {
    uint32_t schedule, read_pipe, in_libc, main_; /* of the waiting thread */
    uint32_t wake_up, write_pipe, send, loop;     /* of the waker */
};

static inline struct names add_names(struct scene *scene)
{
    return (struct names){
        .schedule = add_symbol(scene, true, 0xffffffff81a00010, "__schedule", "", 0x10),
        .read_pipe = add_symbol(scene, true, 0xffffffffc0201002, "read_pipe", "mod", 0x2),
        .in_libc = add_symbol(scene, false, 0x7f1122334455, "", "libc.so.6", 0x114992),
        .main_ = add_symbol(scene, false, 0x401136, "main", "cat", 0x1f),
        .wake_up = add_symbol(scene, true, 0xffffffff81100020, "try_to_wake_up", "", 0x20),
        .write_pipe = add_symbol(scene, true, 0xffffffff81100030, "write_pipe", "", 0x30),
        .send = add_symbol(scene, false, 0x401200, "send", "yes", 0x4),
        .loop = add_symbol(scene, false, 0x401300, "loop", "yes", 0x8),
    };
}

#endif
