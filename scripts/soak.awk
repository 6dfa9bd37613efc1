# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Judges and plots soak.sh's figures (-v svg=FILE -v page=BYTES -v clock=TICKS). In the first half caches fill up. In
# the second, a straight line is fitted to each figure by least squares. A figure grows if the line rises by more than
# chance explains: by more than three standard errors of its slope, for as many independent minutes as their
# autocorrelation leaves, (1 + r) / (1 - r); and by more than one step of what is measured, a page, a descriptor, a
# tick (CPU time: nothing), in all of that time. Nothing in it is chosen to fit.

BEGIN {
    FS = "\t"
    name[2] = "memory of its own, KB"; step[2] = page / 1024
    name[3] = "resident pages of files and maps, KB"; step[3] = page / 1024
    name[4] = "descriptors"; step[4] = 1
    name[5] = "maps and programs in the kernel, KB"; step[5] = page / 1024
    name[6] = "CPU time of its own, us for each run of a program"
    name[7] = "CPU time of its programs, ns for each run"
}

# The first minute is left out: it includes the cost of starting.
/^#/ || !$1 || !$8 { next }
{
    count++
    for (at = 1; at <= 5; at++)
        value[at, count] = $at
    # The amount of load is not judged.
    value[6, count] = $6 * 1000 / $8
    value[7, count] = $7 * 1000 / $8
}

function judge(at,    i, n, first, x, y, xx, xy, sx, sy, slope, base, rest, before, squares, along, r, error, bound, grew)
{
    first = int(count / 2) + 1
    n = count - first + 1
    for (i = first; i <= count; i++) {
        sx += value[1, i]
        sy += value[at, i]
    }
    for (i = first; i <= count; i++) {
        x = value[1, i] - sx / n
        xx += x * x
        xy += x * (value[at, i] - sy / n)
    }
    slope = xy / xx
    base = sy / n - slope * sx / n
    for (i = first; i <= count; i++) {
        rest = value[at, i] - base - slope * value[1, i]
        squares += rest * rest
        if (i > first)
            along += rest * before
        before = rest
    }
    r = squares ? along / squares : 0
    r = r < 0 ? 0 : r > 0.95 ? 0.95 : r
    error = sqrt(squares / (n - 2) / xx * (1 + r) / (1 - r))
    bound = 3 * error > step[at] / n ? 3 * error : step[at] / n
    grew = slope > bound
    printf "%s %s: %.6g on average, %+.4g a minute; up to %.4g is noise\n", grew ? "FAIL" : "ok  ", name[at], sy / n,
        slope, bound
    return grew
}

function draw(at, top,    i, most, x, y)
{
    for (i = 1; i <= count; i++)
        most = value[at, i] > most ? value[at, i] : most
    most = most ? most : 1
    printf "<text x=\"10\" y=\"%d\">%s: 0 to %g</text>\n", top - 8, name[at], most >svg
    printf "<path class=\"edge\" d=\"M10 %dV%dH790\"/>\n<path d=\"", top, top + 100 >svg
    for (i = 1; i <= count; i++) {
        x = 10 + 780 * value[1, i] / value[1, count]
        y = top + 100 - 100 * value[at, i] / most
        printf "%s%.1f %.1f", i == 1 ? "M" : "L", x, y >svg
    }
    print "\"/>" >svg
}

END {
    if (count < 10) {
        print "soak.awk: too few minutes to judge"
        exit 1
    }
    for (at = 2; at <= 7; at++)
        grows += judge(at)
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 865\" font-family=\"sans-serif\" font-size=\"13\">" >svg
    print "<style>path{fill:none;stroke:#c40}.edge{stroke:#999}</style>" >svg
    print "<rect width=\"800\" height=\"865\" fill=\"#fff\"/>" >svg
    for (at = 2; at <= 7; at++)
        draw(at, 30 + (at - 2) * 135)
    printf "<text x=\"10\" y=\"850\">minutes 1 to %d</text>\n</svg>\n", value[1, count] >svg
    exit grows > 0
}
