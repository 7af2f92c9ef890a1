#!/bin/sh
# `make run`: what mazurka is for, in one screen: it finds the bug in examples/queue.c and verifies its fix.
cd "$(dirname "$0")/.." || exit 2

echo "A queue between threads that works in every ordinary run. All its interleavings:"
echo
echo "\$ mazurka check examples/queue.c"
./mazurka check --progress=never --trace=build/queue.trace examples/queue.c
found=$?
echo
echo "\$ mazurka check examples/queue_fixed.c"
./mazurka check --progress=never examples/queue_fixed.c
fixed=$?
echo
if [ $found = 1 ] && [ $fixed = 0 ]; then
    echo "Next: ./mazurka check examples/stack.c, ./mazurka check YOUR_PROGRAM.c, ./mazurka help"
    exit 0
fi
echo "Not as it should be: the bug was not found (status $found, should be 1) or its fix not verified" \
    "(status $fixed, should be 0)." >&2
exit 1
