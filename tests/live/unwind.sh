#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.1,6.12
# host: yes
#
# Code without frame pointers has whole stacks, in every applet.
COLLECT=
. "${0%/*}/lib_unwind.sh"
