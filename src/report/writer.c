/* The table of report formats: see writer.h. */
#include "report/writer.h"

#include <string.h>

const struct mz_writer *const mz_writers[MZ_MAX_WRITERS + 1] = {
    &mz_text_writer,
    &mz_json_writer,
};

int mz_writer_index(const char *name)
{
    for (int i = 0; mz_writers[i]; i++)
        if (!strcmp(mz_writers[i]->name, name)) return i;
    return -1;
}
