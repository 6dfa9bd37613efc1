#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: all
# host: yes
#
# How long threads were blocked until they were woken, and who woke them from where: as their wakers
# noted the moment.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"
# It keeps no stack of who was blocked.
WITHOUT_TARGET_STACK=1
