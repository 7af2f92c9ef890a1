/* `mazurka show`: explain the schedule of a trace file, from the file alone. */
#define _GNU_SOURCE
#include "cmd/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/printable.h"
#include "report/printable_report.h"
#include "cmd/help.h"
#include "cmd/output.h"
#include "report/text.h"
#include "report/tracefile.h"
#include "base/shell_words.h"

static void add_words(struct mz_strbuf *out, const char *label, const struct mz_list *words)
{
    if (words->count == 0) return;
    mz_strbuf_add(out, label);
    for (size_t i = 0; i < words->count; i++) {
        mz_strbuf_addc(out, ' ');
        mz_words_quote(out, words->items[i]);
    }
    mz_strbuf_addc(out, '\n');
}

static void add_recipe(struct mz_strbuf *out, const struct mz_recipe *r)
{
    mz_strbuf_addf(out, "\nProgram: %s, found by mazurka %s (%s) in %s\n", r->program ? r->program : "?",
                   r->version ? r->version : "?", r->algorithm ? r->algorithm : "?",
                   r->directory ? r->directory : "?");
    add_words(out, "Built from:", &r->build);
    add_words(out, "Arguments:", &r->arguments);
}

static void recipe_printable(struct mz_recipe *r)
{
    char **const strings[] = {&r->program, &r->version, &r->algorithm, &r->directory};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) mz_string_printable(strings[i]);
    mz_list_printable(&r->build);
    mz_list_printable(&r->arguments);
}

static int show(const char *path, const struct mz_settings *s)
{
    struct mz_report report = {.algorithm = "", .verdict = MZ_ERROR, .finding_count = 1, .replay = true};
    struct mz_recipe recipe = {0};
    struct mz_strbuf out = {0};
    struct mz_style style = {.color = mz_settings_color(s, 1), .all = true, .width = mz_output_width()};
    report.findings = mz_memory_new(sizeof *report.findings);
    int status = mz_trace_read(path, &recipe, &report.findings[0]);
    if (status == 0) {
        mz_report_printable(&report);
        recipe_printable(&recipe);
        mz_text_verdict(&out, &report, &style);
        if (!s->quiet) {
            mz_text_finding(&out, &report.findings[0], &style);
            add_recipe(&out, &recipe);
        }
        status = mz_output_print(&out);
    }
    mz_strbuf_release(&out);
    mz_recipe_release(&recipe);
    mz_report_release(&report);
    return status;
}

int mz_command_show(int argc, char **argv)
{
    struct mz_settings s;
    (void)argc;
    int status = mz_options_parse(&s, MZ_FOR_SHOW, argv);
    if (status == 0 && (s.help || s.version))
        status = s.help ? mz_help("show") : mz_version();
    else if (status == 0 && (s.words.count != 1 || s.arguments.count))
        status = mz_fail("show: one trace file is wanted: mazurka show TRACE");
    else if (status == 0)
        status = show(s.words.items[0], &s);
    mz_settings_release(&s);
    return status;
}
