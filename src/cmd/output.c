/* Writing: see output.h. */
#define _GNU_SOURCE
#include "cmd/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/files.h"
#include "report/printable_report.h"
#include "report/writer.h"

unsigned mz_output_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) return 80;
    return size.ws_col < 60 ? 60 : size.ws_col > 120 ? 120 : size.ws_col;
}

int mz_output_print(const struct mz_strbuf *text)
{
    bool written = fwrite(mz_strbuf_text(text), 1, text->length, stdout) == text->length;
    written = fflush(stdout) == 0 && written;
    if (written || errno == EPIPE) return 0; /* it is no failure if the reader closes the pipe early */
    return mz_fail("cannot write to standard output: %s", strerror(errno));
}

static int write_file(const char *file, const struct mz_strbuf *text)
{
    if (mz_files_write(file, mz_strbuf_text(text)) == 0) return 0;
    return mz_fail("cannot write %s: %s", file, mz_reason(errno));
}

static bool is_wanted(const struct mz_settings *s, int format)
{
    return format == s->on_stdout || s->output_files[format];
}

/* Formats for other programs get the strings as they are, formats for display the escaped ones. */
static void make_texts(struct mz_strbuf *texts, const struct mz_report *report, const struct mz_settings *s,
                       bool for_display)
{
    struct mz_style style = {.color = mz_settings_color(s, STDOUT_FILENO),
                             .quiet = s->quiet,
                             .all = s->verbose,
                             .sources = true,
                             .width = mz_output_width()};
    for (int i = 0; mz_writers[i]; i++)
        if (is_wanted(s, i) && mz_writers[i]->is_for_display == for_display)
            mz_writers[i]->write(&texts[i], report, &style);
}

int mz_output_report(struct mz_report *report, const struct mz_settings *s)
{
    struct mz_strbuf texts[MZ_MAX_WRITERS] = {0};
    int status = (int)mz_verdict_status(report->verdict), written = 0;
    make_texts(texts, report, s, false);
    mz_report_printable(report);
    make_texts(texts, report, s, true);
    written = mz_output_print(&texts[s->on_stdout]);
    for (int i = 0; mz_writers[i]; i++) {
        int failed = s->output_files[i] ? write_file(s->output_files[i], &texts[i]) : 0;
        if (failed) written = failed;
        mz_strbuf_release(&texts[i]);
    }
    return written ? written : status;
}
