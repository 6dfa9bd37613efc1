# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# Readable names: a million mangled ones, those of libLLVM again and again; each tool is a process of its own
# that reads them from a file and writes to /dev/null.

# Without a libLLVM this part measures nothing.
prepare_mangled()
{
    # shellcheck disable=SC2012 # the largest
    library=$(ls -LS /usr/lib/*/libLLVM*.so* /usr/lib/llvm-*/lib/libLLVM*.so* 2>/dev/null | head -n 1)
    nm -D "${library:-/dev/null}" 2>/dev/null | awk '
        { sub(/@.*/, "", $NF) }
        $NF ~ /^_Z/ && !seen[$NF]++ { name[names++] = $NF }
        END {
            for (at = 0; names && at < 1000000; at++)
                print name[at % names]
        }' >"$out/mangled"
    [ -s "$out/mangled" ] || echo "bench.sh: mangled: no libLLVM, or no nm" >&2
}

# demangled WHO COMMAND...
demangled()
{
    who=$1
    shift
    rm -f "$out/cost"
    "$tools/cost" "$out/cost" "$@" <"$out/mangled" >/dev/null 2>&1 || rm -f "$out/cost"
    read_cost
    figure mangled.cpu "$who" "$cpu"
    figure mangled.memory "$who" "$peak"
}

part_mangled()
{
    [ -s "$out/mangled" ] || return
    demangled stackbox "$workloads/demangle"
    command -v c++filt >/dev/null && demangled c++filt c++filt -i
    early_round || return
    command -v llvm-cxxfilt >/dev/null && demangled llvm-cxxfilt llvm-cxxfilt
}
