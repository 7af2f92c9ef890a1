/* Lines on standard error: see message.h. A line is written with one call, so that lines of parallel
 * compilations do not mix. The text of the last failure is kept. */
#include "base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "base/printable.h"
#include "base/strbuf.h"

static char last_failure[1024];
static const char *prefix = "";

void mz_message_prefix(const char *text) { prefix = text; }
void mz_message_mute(void) { prefix = NULL; }

static void say(const struct mz_strbuf *line)
{
    const char *p = line->data;
    size_t left = prefix ? line->length : 0;
    while (left > 0) {
        ssize_t n = write(STDERR_FILENO, p, left);
        if (n <= 0) return;
        p += n, left -= (size_t)n;
    }
}

int mz_fail(const char *format, ...)
{
    struct mz_strbuf line = {0}, text = {0};
    va_list arguments;
    va_start(arguments, format);
    mz_strbuf_addv(&text, format, arguments);
    va_end(arguments);
    mz_strbuf_addf(&line, "mazurka: %s", prefix ? prefix : "");
    mz_printable(&line, mz_strbuf_text(&text));
    mz_strbuf_release(&text);
    snprintf(last_failure, sizeof last_failure, "%s", line.data + strlen("mazurka: "));
    mz_strbuf_addc(&line, '\n');
    say(&line);
    mz_strbuf_release(&line);
    return MZ_STATUS_FAILED;
}

void mz_notice(const char *format, ...)
{
    struct mz_strbuf line = {0}, text = {0};
    va_list arguments;
    va_start(arguments, format);
    mz_strbuf_addv(&text, format, arguments);
    va_end(arguments);
    mz_strbuf_addf(&line, "mazurka: note: %s", prefix ? prefix : "");
    mz_printable(&line, mz_strbuf_text(&text));
    mz_strbuf_release(&text);
    mz_strbuf_addc(&line, '\n');
    say(&line);
    mz_strbuf_release(&line);
}

const char *mz_reason(int error)
{
    switch (error) {
    case EMFILE:
        return "too many open files: raise the limit (ulimit -n)";
    case EAGAIN: /* only fork() fails with this error here */
        return "too many processes: raise the limit (ulimit -u)";
    case ENXIO: /* of a pipe */
        return "nobody reads from it";
    case MZ_NOT_OURS:
        return "another user has put a link or a pipe there, in a directory that others can write to: name "
               "another file";
    case EINTR:
        return "interrupted";
    default:
        return strerror(error);
    }
}

const char *mz_last_failure(void) { return last_failure; }
