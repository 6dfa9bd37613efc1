/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whom events are told apart by: --by, the same in every applet. */
#ifndef STACKBOX_REPORT_WHO_H
#define STACKBOX_REPORT_WHO_H

enum who {
    WHO_UNSAID,  /* by process; in lines, whose pictures are compared, without its number */
    WHO_PROCESS, /* comm (PID), comm being the process's own name */
    WHO_THREAD,  /* comm (PID/TID), or comm (PID) where they are one number */
    WHO_NAME,    /* comm: threads of one name are one */
};

#endif
