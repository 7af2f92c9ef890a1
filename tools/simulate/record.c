/* Recording the tree of a model: see record.h. */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "event/tree_file.h"
#include "model/system.h"
#include "model/text.h"

static FILE *to_file; /* the engine's callback only gets the explorer */
static bool failed;

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "mz-simulate: %s: %s\n", what, why);
    return false;
}

bool model_read(const char *file, struct mz_model *m)
{
    char text[MZ_MODEL_TEXT + 1], error[256];
    FILE *f = fopen(file, "r");
    if (!f) return complain(file, strerror(errno));
    size_t n = fread(text, 1, MZ_MODEL_TEXT, f);
    bool whole = feof(f) && !ferror(f);
    fclose(f);
    if (n >= strlen(MZ_TREE_MAGIC) && memcmp(text, MZ_TREE_MAGIC, strlen(MZ_TREE_MAGIC)) == 0)
        return complain(file, "is a recorded tree, and a model is needed");
    if (!whole) return complain(file, "cannot be read, or is too long");
    text[n] = '\0';
    return mz_model_parse(text, m, error, sizeof error) == 0 || complain(file, error);
}

static void write_tree(void *explorer, const uint8_t *bytes, size_t size, bool first)
{
    (void)explorer;
    if (first) failed |= fseek(to_file, 0, SEEK_SET) != 0;
    failed |= fwrite(bytes, 1, size, to_file) != size;
}

static const struct mz_tree_log_options tree_log = {.write = write_tree};

static bool settings_of(const char *algorithm, struct mz_model_settings *settings)
{
    static const struct {
        const char *name;
        enum mz_algorithm algorithm;
        bool eager;
    } known[] = {{"optimal", MZ_ALG_OPTIMAL, false},
                 {"source", MZ_ALG_SOURCE, false},
                 {"dpor", MZ_ALG_DPOR, false},
                 {"dpor-all", MZ_ALG_DPOR, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(algorithm, known[i].name) != 0) continue;
        *settings = (struct mz_model_settings){.algorithm = known[i].algorithm,
                                               .sleep_sets = true,
                                               .eager = known[i].eager,
                                               .tree_log = &tree_log};
        return true;
    }
    return complain(algorithm, "not one of optimal, source, dpor, dpor-all");
}

bool model_record(const char *file, const char *to, const char *algorithm)
{
    struct mz_model m;
    struct mz_model_settings settings;
    struct mz_model_run run = {0};
    struct mz_model_report report;
    if (!settings_of(algorithm, &settings) || !model_read(file, &m)) return false;
    to_file = fopen(to, "wb");
    if (!to_file) return complain(to, strerror(errno));
    struct mz_model_explorer *explorer = mz_model_explorer_new(&settings);
    mz_model_explore(explorer, &m, &run, &report);
    mz_model_explorer_free(explorer);
    failed |= fclose(to_file) != 0;
    if (failed) return complain(to, strerror(errno));
    return report.verdict == MZ_MODEL_EXPLORED || complain(file, "was not explored to its end");
}
