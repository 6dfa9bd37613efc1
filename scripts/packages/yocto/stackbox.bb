# SPDX-License-Identifier: MIT OR GPL-2.0-only
SUMMARY = "Stack-tracing applets in one static binary"
SECTION = "devel"
LICENSE = "MIT OR GPL-2.0-only"
LIC_FILES_CHKSUM = "file://LICENSE;md5=@LICENSE_MD5@"
SRC_URI = "file://${BP}.tar.gz"

COMPATIBLE_HOST = "(@MACHINES@).*-linux.*"
COMPATIBLE_HOST:armv4 = "null"
COMPATIBLE_HOST:armv5 = "null"
COMPATIBLE_HOST:armv6 = "null"

EXTRA_OEMAKE = "PREFIX=${prefix} LINKS=stackbox- PAGES=no"

do_compile() {
    oe_runmake
}

do_install() {
    oe_runmake install DESTDIR=${D}
}

INHIBIT_PACKAGE_STRIP = "1"
INSANE_SKIP:${PN} = "already-stripped"
