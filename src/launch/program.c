/* The program under test: see program.h. */
#include "launch/program.h"

#include <stdlib.h>

void mz_program_release(struct mz_program *program)
{
    free(program->path);
    free(program->name);
    free(program->compiler);
    mz_list_release(&program->unseen);
    *program = (struct mz_program){0};
}
