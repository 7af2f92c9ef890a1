#!/bin/sh
# Check that everything is there to build and run mazurka; silent if it is. `setup.sh test`: also what `make test` uses;
# `setup.sh test check`: also what `make check` uses.
# On Debian and Ubuntu install what is missing, if we may (root, or sudo without a password). Otherwise:
#   a required package is missing: print the command that installs it, exit status 1
#   only optional packages are missing: name them in one line, exit status 0
required='' optional=''
require() { required="$required $1"; }
prefer() { optional="$optional $1"; }

# A compiler that can compile, link and find these headers and libraries.
can_compile() { # header, library
    printf '#include <stdarg.h>\n#include <setjmp.h>\n#include <stddef.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" |
        "${CC:-cc}" -x c -o /dev/null - ${2:+"-l$2"} 2>/dev/null
}

command -v make >/dev/null || require make
if ! command -v "${CC:-cc}" >/dev/null; then
    require gcc
    require libc6-dev
    require libdw-dev
    require libelf-dev
else
    can_compile stdio.h '' || require libc6-dev
    can_compile elfutils/libdw.h dw || require libdw-dev
    can_compile libelf.h elf || require libelf-dev
fi
command -v objcopy >/dev/null || require binutils
command -v timeout >/dev/null || require coreutils
command -v xargs >/dev/null || require findutils

# C++: checking C needs none of it.
command -v "${CXX:-c++}" >/dev/null || prefer g++
# mpirun mazurka check, with either implementation.
for mpi in openmpi mpich; do
    command -v "mpicc.$mpi" >/dev/null || prefer "lib$mpi-dev"
    command -v "mpirun.$mpi" >/dev/null || case $mpi in openmpi) prefer openmpi-bin ;; mpich) prefer mpich ;; esac
done
# Without the headers for gcc's plug-in gcc hides some accesses; without the decoder of machine code reports name more
# functions as not instrumented than need be. Reports say so.
if command -v gcc >/dev/null; then
    [ -f "$(gcc -print-file-name=plugin)/include/gcc-plugin.h" ] ||
        prefer "gcc-$(gcc -dumpversion | cut -d . -f 1)-plugin-dev"
fi
can_compile Zydis/Zydis.h Zydis || prefer libzydis-dev
case " $* " in *' test '*) can_compile cmocka.h cmocka || prefer libcmocka-dev ;; esac
case " $* " in
*' check '*)
    for tool in clang-format clang-tidy cppcheck shellcheck python3; do command -v $tool >/dev/null || prefer $tool; done
    command -v gcov >/dev/null || prefer gcc
    ;;
esac

[ -n "$required$optional" ] || exit 0
if [ "$(uname -s)" != Linux ]; then
    echo "mazurka runs on Linux (x86-64). This is $(uname -s)." >&2
    exit 1
fi

as_root='' may_install=1
if ! command -v apt-get >/dev/null; then
    may_install=''
elif [ "$(id -u)" != 0 ]; then
    as_root='sudo -n'
    { command -v sudo >/dev/null && sudo -n true 2>/dev/null; } || may_install=''
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_install() { # packages...
    echo "installing: $*"
    { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
        --no-install-recommends "$@"; } >"$log" 2>&1 && return 0
    tail -n 5 "$log" >&2
    return 1
}

# shellcheck disable=SC2086
if [ -n "$may_install" ]; then
    known=''
    for package in $optional; do # not every release has every package
        if apt-cache show "$package" >/dev/null 2>&1; then known="$known $package"; fi
    done
    [ -n "$required$known" ] || exit 0
    if apt_install $required $known; then exit 0; fi
    if [ -n "$required" ] && [ -n "$known" ] && apt_install $required; then required=''; fi
fi
if [ -n "$required" ]; then
    if command -v apt-get >/dev/null; then
        echo "Some packages are missing. Please run this, then try again:" >&2
        echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends$required$optional" >&2
    else
        echo "mazurka needs what Debian calls:$required. Please install them with this system's package manager." >&2
    fi
    exit 1
fi
echo "Not installed, and not necessary:$optional" >&2
