#!/bin/sh
# --classes: the classes of all algorithms are the same set of lines.
#   sh tests/cli/classes.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# all_classes PROGRAM...: the classes under each algorithm go to ./ALGORITHM, sorted
all_classes() {
    for algorithm in optimal source dpor sleep none; do
        run 0 mazurka check -q --algorithm=$algorithm --classes=file "$@" && empty err || return 1
        first_line file "# mazurka classes 1" && grep -v '^#' file | LC_ALL=C sort > $algorithm || return 1
    done
}

# Each algorithm with sleep sets writes each class once; `none` repeats classes.
agree() { # NUMBER OF CLASSES PROGRAM...
    classes=$1
    shift
    all_classes "$@" || return 1
    [ "$(wc -l < optimal)" -eq "$classes" ] && [ "$(uniq optimal | wc -l)" -eq "$classes" ] &&
        cmp optimal source && cmp optimal dpor && cmp optimal sleep && uniq none > unique && cmp optimal unique ||
        complain "$*: not the same classes: $(wc -l optimal source dpor sleep unique)"
}

test_classes_agree() {
    papers=$root/tests/papers
    agree 4 -DN=2 "$papers/readers.c" && agree 9 -DN=2 "$papers/fig10.c" && agree 28 -DN=4 "$papers/lastzero.c" &&
        agree 60 -DP=2 -DC=2 "$papers/bbuf.c" && agree 6 -DT=2 "$papers/aget.c" && agree 24 "$papers/fetch_adds.c"
}

# Two threads write: the two classes, worked out by hand. In both, main's exit comes after the two writes.
test_classes_by_hand() {
    cat > two.c << 'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int x;
static void *f(void *arg) { atomic_store(&x, 1); return arg; }
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, f, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
END
    run 0 mazurka check -q --classes=c two.c && LC_ALL=C sort c > sorted || return 1
    printf '%s\n' '# mazurka classes 1' '0: exit<0.1/1,0.2/1; 0.1: store; 0.2: store<0.1/1' \
        '0: exit<0.1/1,0.2/1; 0.1: store<0.2/1; 0.2: store' | cmp - sorted || complain "$(cat sorted)"
}

test_classes_refused() {
    programs
    cp ok.c mine.c
    refuses "mine.c is another file" mazurka check --classes=mine.c ok.c && cmp ok.c mine.c &&
        refuses "for a search by one worker" mazurka check --classes=c -j 2 ok.c &&
        refuses "not with sdpor" mazurka check --classes=c --algorithm=sdpor ok.c &&
        refuses "not with classic" mazurka check --classes=c --algorithm=classic ok.c &&
        refuses "exclude each other" mazurka check --classes=c --record-tree=t ok.c &&
        refuses "name is missing" mazurka check --classes= ok.c || return 1
    run 0 mazurka check -q --classes=c ok.c && run 0 mazurka check -q --classes=c ok.c && [ "$(grep -c '^#' c)" -eq 1 ] &&
        run 1 mazurka check -q --classes=c lost.c && has err "the classes in c are not complete"
}

run_tests "$@"
