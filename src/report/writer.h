/* Report formats. Each format is one file of this folder that defines one struct mz_writer, and one line in the
 * table of writer.c. `mazurka check` and `mazurka replay` write every report through that table.
 *
 * A trace file is not a format of this table: `mazurka replay` reads it back, and there is one for each finding
 * (tracefile.h).
 *
 * How to add a format: docs/adding/report-format.md. */
#ifndef MZ_REPORT_WRITER_H
#define MZ_REPORT_WRITER_H

#include "report/report.h"
#include "base/strbuf.h"

/* How the reader wants to see a report. Formats for other programs ignore it. */
struct mz_style {
    bool color;
    bool quiet;   /* the verdict alone */
    bool all;     /* show every operation of a long schedule */
    bool sources; /* quote source lines: they are known to be the ones that were run */
    unsigned width;
};

struct mz_writer {
    const char *name;    /* of the format and of its option: --NAME=FILE */
    const char *suffix;  /* of its files, with the dot */
    bool is_for_display; /* write() gets strings that a terminal can show: see printable_report.h */
    void (*write)(struct mz_strbuf *out, const struct mz_report *report, const struct mz_style *style);
};

#define MZ_MAX_WRITERS 8

extern const struct mz_writer mz_text_writer, mz_json_writer;

/* All formats, then NULL. The first one goes to standard output unless another is asked for. */
extern const struct mz_writer *const mz_writers[MZ_MAX_WRITERS + 1];

int mz_writer_index(const char *name); /* in mz_writers; -1: no such format */

#endif
