# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Judges by its form alone whether output is complete.
#
# judge_whole LIST: LIST has a line per file, `FILE KIND END BYTES NEWLINES WORDS`: KIND is text, folded, snoop
# or perf; END is `killed` if SIGKILL ended it, otherwise `ended`; NEWLINES is the number of newlines at its end
# (at most 2); WORDS says what it is. Prints a line for each file that is not whole, and at the end `whole FILES
# REPORTS BLOCKS TORN`: TORN of the killed ones end within a report, which is allowed if the kernel had taken
# whole pages of it.
judge_whole()
{
    awk '
        function bad(why) { if (!wrong) print what ": " file ", line " number ": " why ": " line; wrong = 1 }

        # A block is indented lines, the last just a number, followed by an empty line. Another empty line
        # begins a report.
        function text() {
            if (number == 1) {
                if (line !~ /^(Tracing|Sampling) /) bad("no heading")
            } else if (line == "") {
                if (state == "block") bad("a block without a count")
                if (state != "counted") reports++
                state = state == "counted" ? "between" : "report"
            } else if (line == "Detaching...") {
                if (state == "block" || state == "counted") bad("the end in a block")
                state = "end"
            } else if (line ~ /^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]$/) {
                if (state != "report") bad("a time in a block")
                state = "timed"
            } else if (line ~ /^        ? ? ? ?[0-9]+$/ || line ~ /^    [0-9]+$/) {
                if (state != "block") bad("a count without a block")
                state = "counted"
                blocks++
            } else if (line ~ /^  +[^ ]/) {
                if (state == "" || state == "end" || state == "counted") bad("out of place")
                state = "block"
            } else bad("what is it?")
        }
        # Names may contain blanks, so the count follows the last one.
        function folded() {
            if (line !~ /^[^;]+(;[^;]+)* [1-9][0-9]*$/) bad("no stack and count")
            blocks++
        }
        function snoop() {
            if (number == 1) {
                if (line !~ /^TIME/) bad("no heading")
            } else if (line == "") {
                if (state != "block") bad("nothing before an empty line")
                state = "between"
                blocks++
            } else if (line ~ /^[0-9]+\.[0-9]+ /) {
                if (state == "block") bad("an event in another")
                state = "block"
            } else if (line ~ /^\t[^ ]/) {
                if (state != "block") bad("a frame of nothing")
            } else bad("what is it?")
        }
        function perf() {
            if (line == "") {
                if (state != "block") bad("nothing before an empty line")
                state = "between"
                blocks++
            } else if (line ~ /^[\t ] *[0-9a-f]+ .* \(.*\)$/) {
                if (state != "block") bad("a frame of nothing")
            } else if (line ~ /^[^\t ].* [0-9]+\/[0-9]+ +\[[0-9]+\] +[0-9]+\.[0-9]+: .*: ?$/) {
                if (state == "block") bad("an event in another")
                state = "block"
            } else bad("what is it?")
        }
        # An incomplete last line is not judged.
        function take() {
            number++
            if (kind == "text") text()
            else if (kind == "folded") folded()
            else if (kind == "snoop") snoop()
            else perf()
        }
        {
            file = $1; kind = $2; end = $3; bytes = $4; newlines = $5; what = $6
            for (i = 7; i <= NF; i++) what = what " " $i
            number = wrong = held = 0
            state = ""
            while ((getline next_line <file) > 0) {
                line = held_line
                if (held) take()
                held_line = next_line
                held = 1
            }
            close(file)
            line = held_line
            if (held && newlines) take()
            torn = bytes && (!newlines || state == "block" || state == "counted")
            if (torn && end == "killed" && bytes % 4096 == 0) torn_ones++
            else if (torn) bad("it ends there, after " bytes " bytes, " end)
            files++
        }
        END { printf "whole %d %d %d %d\n", files, reports, blocks, torn_ones }' "$1"
}
