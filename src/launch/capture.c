/* Reading another program's output: see capture.h. */
#define _GNU_SOURCE
#include "launch/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "launch/process.h"

#define LOOK 50 /* milliseconds between two looks for signals */

void mz_capture_to_strbuf(void *strbuf, const char *data, size_t length)
{
    mz_strbuf_addn(strbuf, data, length);
}

/* Read to the end of the output, or until we are asked to stop. */
static void drain(int fd, mz_capture_sink *sink, void *context)
{
    char buffer[1 << 16];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = 1;
    while (n != 0 && !mz_process_look(0)) {
        if (poll(&p, 1, LOOK) <= 0) continue;
        n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno != EINTR) return;
        if (n > 0 && sink) sink(context, buffer, (size_t)n);
    }
}

int mz_capture(char **argv, enum mz_capture_errors errors, mz_capture_sink *sink, void *context)
{
    int out[2], nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), status = -1;
    if (nowhere < 0 || pipe2(out, O_CLOEXEC) < 0) return -1;
    struct mz_command command = {.argv = argv, .in = nowhere, .out = out[1]};
    command.err = errors == MZ_CAPTURE_QUIET ? nowhere : -1;
    pid_t pid = mz_process_start(&command);
    int error = errno;
    close(out[1]);
    if (pid > 0) {
        drain(out[0], sink, context);
        status = mz_process_status(mz_process_wait(pid));
    }
    close(out[0]);
    close(nowhere);
    errno = error;
    return status;
}
