#!/bin/sh
# guests: all
. "${0%/*}/lib.sh"
(i=0; while [ $i -lt 30 ]; do usleep 20000; i=$((i+1)); done) &
"$STACKBOX" stackcount -f -K -D 2 t:sched:sched_waking t:sched:sched_switch 2>/dev/null | sed 's/ [0-9]*$//' | awk -F';' '{print "LEAF " $NF}' | sort | uniq -c
(i=0; while [ $i -lt 30 ]; do usleep 20000; i=$((i+1)); done; ping -c 3 127.0.0.1) &
"$STACKBOX" stackcount -f -K -D 3 t:sched:sched_waking  2>/dev/null | sed 's/;/ /g;s/^/ST /'
pass x
