#!/bin/sh
# make install, make uninstall, and programs that find their files wherever they are installed.
#   sh tests/cli/install.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

installed() { find "$@" ! -type d | sort; }

# copy_of_the_checkout: ./tree, built; a change of its Makefile variables builds only what depends on them
copy_of_the_checkout() {
    mkdir tree && (cd "$root" && cp -a Makefile VERSION src include man tools mazurka "$work/$name/tree") &&
        mkdir tree/build && cp -a "$root/build/host" "$root/build/target" "$root/build/plugin" tree/build 2> /dev/null
    cp -a "$root"/build/*.so tree/build && cp -a "$root/build/paths.flags" tree/build
}

# uninstall removes every file that install wrote; other files stay.
test_install_and_uninstall() {
    copy_of_the_checkout && program ok.c || return 1
    run 0 make -C tree -s install DESTDIR="$PWD/stage" PREFIX=/usr && empty err || return 1
    for file in bin/mazurka bin/mazurka-cc bin/mazurka-c++ bin/mazurka-cxx lib/mazurka/libmazurka.so include/mazurka.h \
        lib/pkgconfig/mazurka.pc share/man/man1/mazurka.1; do
        [ -e stage/usr/$file ] || complain "not installed: $file"
    done
    run 0 stage/usr/bin/mazurka check ok.c && first_line out "verified: " &&
        run 0 stage/usr/bin/mazurka-cc -o prog ok.c && run 0 stage/usr/bin/mazurka check ./prog || return 1
    : > stage/usr/bin/other
    run 0 make -C tree -s uninstall DESTDIR="$PWD/stage" PREFIX=/usr && empty err &&
        [ "$(installed stage)" = stage/usr/bin/other ] || complain "left: $(installed stage)"
    [ ! -d stage/usr/lib/mazurka ] || complain "left: lib/mazurka"
}

# LIBDIR and INCLUDEDIR are set by the user: the command knows their absolute paths.
test_install_elsewhere() {
    copy_of_the_checkout && program header.c || return 1
    at="PREFIX=$PWD/p BINDIR=$PWD/commands LIBDIR=$PWD/p/lib/x86_64-linux-gnu INCLUDEDIR=$PWD/headers MANDIR=$PWD/p/man"
    # shellcheck disable=SC2086
    run 0 make -C tree -s install $at && [ -e p/lib/x86_64-linux-gnu/mazurka/libmazurka.so ] && rm -rf tree/build/*.so &&
        run 1 commands/mazurka check header.c && has out "assertion failed: n < 3" || return 1
    if command -v pkg-config > /dev/null 2>&1; then
        export PKG_CONFIG_PATH="$PWD/p/lib/x86_64-linux-gnu/pkgconfig"
        run 0 pkg-config --variable=cc mazurka && first_line out "$PWD/commands/mazurka-cc" &&
            run 0 pkg-config --cflags mazurka && has out "-I$PWD/headers" &&
            run 0 pkg-config --modversion mazurka && first_line out "$(cat "$root/VERSION")" || return 1
    fi
    # shellcheck disable=SC2086
    run 0 make -C tree -s uninstall $at && [ -z "$(installed p commands headers)" ] || complain "left: $(installed p commands headers)"
}

# Flags of the user are added to those that the build needs; they do not replace them.
test_flags_of_the_user() {
    copy_of_the_checkout || return 1
    touch tree/src/cmd/bench.c tree/src/base/mix.c
    run 0 make -C tree mazurka build/libmazurka.so CFLAGS="-O1 -g" CPPFLAGS=-DMINE LDFLAGS=-Wl,-z,relro &&
        has out "-O1 -g -Wall" && has out "-Isrc -Iinclude" && has out "-DMINE" && has out "-Wl,-z,relro" &&
        has out "-fvisibility=hidden"
}

# path_without_mpi: ./path, with links to all programs of /usr/bin except MPI and those that install packages
path_without_mpi() {
    mkdir path && for file in /usr/bin/*; do
        case "${file##*/}" in mpi* | sudo | apt-get) ;; *) ln -s "$file" path/ ;; esac
    done
}

# No MPI, no root, no home: mazurka builds, installs below a directory of the user, and checks a program.
test_build_without_mpi_and_home() {
    copy_of_the_checkout && program ok.c && path_without_mpi || return 1
    rm -f tree/build/libmazurka-openmpi.so tree/build/libmazurka-mpich.so
    export HOME=/dev/null PATH="$PWD/path"
    run 0 make -C tree -s all && run 0 make -C tree -s install PREFIX="$PWD/p" || return 1
    for mpi in openmpi mpich; do
        [ ! -e "p/lib/mazurka/libmazurka-$mpi.so" ] || complain "there is a plug-in for $mpi"
    done
    run 0 p/bin/mazurka check ok.c && first_line out "verified: " && run 0 p/bin/mazurka check -j 2 ok.c &&
        first_line out "verified: "
}

# Neither MPI nor the right to install packages: setup.sh names what is missing, and does not insist.
test_setup_without_mpi() {
    path_without_mpi || return 1
    run 0 env PATH="$PWD/path" sh "$root/tools/setup.sh" && empty out && has err "not necessary:" && has err "libmpich-dev" &&
        run 1 env PATH="$PWD/path" CC=no-such-compiler sh "$root/tools/setup.sh" && has err "mazurka needs"
}

run_tests "$@"
