#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10,6.12,newest
# seldom: 6.1
# host: yes
#
# Code without frame pointers has whole stacks, in every applet.
COLLECT=
. "${0%/*}/lib_unwind.sh"
