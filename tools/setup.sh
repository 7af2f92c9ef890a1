#!/bin/sh
# Makes sure that everything is there to build and run mazurka; silent if it is. On Debian and Ubuntu what is
# missing is installed, if we may (root, or sudo without a password); otherwise the exact command is printed.
packages=''
want() { packages="$packages $1"; }

# A compiler that can compile, link and find these headers and libraries.
can_compile() { # header, library
    printf '#include <%s>\nint main(void) { return 0; }\n' "$1" |
        "${CC:-cc}" -x c -o /dev/null - ${2:+"-l$2"} 2>/dev/null
}

command -v make >/dev/null || want make
if ! command -v "${CC:-cc}" >/dev/null; then
    want gcc
    want libc6-dev
    want libdw-dev
    want libelf-dev
else
    can_compile stdio.h '' || want libc6-dev
    can_compile elfutils/libdw.h dw || want libdw-dev
    can_compile libelf.h elf || want libelf-dev
fi
# Tests in C++; checking C needs none of it.
command -v "${CXX:-c++}" >/dev/null || want g++
# mpirun mazurka check, with either implementation; without them all else works.
for mpi in openmpi mpich; do
    command -v "mpicc.$mpi" >/dev/null || want "lib$mpi-dev"
    command -v "mpirun.$mpi" >/dev/null || case $mpi in openmpi) want openmpi-bin ;; mpich) want mpich ;; esac
done
command -v objcopy >/dev/null || want binutils
command -v timeout >/dev/null || want coreutils
command -v xargs >/dev/null || want findutils

# The headers for gcc's plugin and a decoder of machine code, if there are packages of them: without them all works,
# but gcc hides some accesses, and more functions are named as not instrumented than need be. Reports say so.
optional_packages() {
    command -v gcc >/dev/null && command -v apt-cache >/dev/null || return 0
    [ -f "$(gcc -print-file-name=plugin)/include/gcc-plugin.h" ] ||
        set -- "gcc-$(gcc -dumpversion | cut -d . -f 1)-plugin-dev"
    can_compile Zydis/Zydis.h Zydis || set -- "$@" libzydis-dev
    for package in "$@"; do
        if apt-cache show "$package" >/dev/null 2>&1; then echo "$package"; fi
    done
}
may_install() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
optional=$(optional_packages)
if [ -n "$optional" ] && { [ -n "$packages" ] || may_install; }; then
    for package in $optional; do want "$package"; done
fi

[ -n "$packages" ] || exit 0

if [ "$(uname -s)" != Linux ]; then
    echo "mazurka runs on Linux (x86-64). This is $(uname -s)." >&2
    exit 1
fi
if ! command -v apt-get >/dev/null; then
    echo "mazurka needs what Debian calls:$packages. Please install them with the package manager of this system." >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=''
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "Some packages are missing. Please run this, then try again:" >&2
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends$packages" >&2
    exit 1
fi

echo "installing:$packages"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
    --no-install-recommends $packages; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "The installation failed. By hand:" >&2
    echo "    apt-get update && apt-get install -y --no-install-recommends$packages" >&2
    exit 1
fi
