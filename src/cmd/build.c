/* From sources to a program to check: see build.h. */
#define _GNU_SOURCE
#include "build.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../report/files.h"
#include "../report/memory.h"
#include "../report/message.h"
#include "../report/sha256.h"
#include "../report/strbuf.h"
#include "cache.h"
#include "capture.h"
#include "cc.h"
#include "elf_check.h"
#include "process.h"
#include "tempdir.h"

struct build {
    struct mz_paths paths;
    struct mz_compiler compiler;
    struct mz_cc_line line;
    struct mz_list words;      /* the line's, with the default optimization in front */
    struct mz_sha256 key;      /* of the cache entry */
    struct mz_sha256 identity; /* of what it means: the same after a move to another directory */
};

/* ---- what the user may give ---- */

static int check_source(const char *path)
{
    static const char *const others[] = {".m", ".mi", ".mm", ".M"};
    struct stat s;
    const char *dot = strrchr(path, '.');
    if (stat(path, &s) < 0) return mz_fail("%s: %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode)) return mz_fail("%s is not a file", path);
    if (access(path, R_OK) < 0) return mz_fail("%s: %s", path, strerror(errno));
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (!strcmp(dot, others[i]))
            return mz_fail("%s is neither C nor C++: build the program with `mazurka cc`, then check it",
                           path);
    return 0;
}

static int check_words(const struct build *b)
{
    static const char *const shared[] = {"-shared", "--shared", "-r"};
    for (size_t i = 0; i < b->line.count; i++) {
        const struct mz_cc_word *w = &b->line.words[i];
        bool no_program = w->kind == MZ_CC_STAGE || w->kind == MZ_CC_OUTPUT;
        for (size_t k = 0; k < sizeof shared / sizeof *shared; k++) no_program |= !strcmp(w->text, shared[k]);
        if (no_program)
            return mz_fail("check: %s makes no sense here: `mazurka check` builds and runs a whole program",
                           w->text);
        int status = w->kind == MZ_CC_SOURCE ? check_source(w->text) : 0;
        if (status != 0) return status;
    }
    return b->line.sources ? 0 : mz_fail("check: no C file among the files given");
}

/* ---- hashes ---- */

static void hash_both(struct build *b, const char *text)
{
    mz_sha256_text(&b->key, text);
    mz_sha256_text(&b->identity, text);
}

/* A line marker (# 12 "file.h") or an empty line: it says where text comes from, not what it is. */
static bool is_marker(const char *line) { return line[0] == '\n' || (line[0] == '#' && line[1] == ' '); }

/* Preprocessed text: all of it is the key, its identity is without line markers. */
static void hash_text(struct build *b, const struct mz_strbuf *text)
{
    const char *line = mz_strbuf_text(text), *end;
    mz_sha256_add(&b->key, line, text->length);
    for (; (end = strchr(line, '\n')); line = end + 1)
        if (!is_marker(line)) mz_sha256_add(&b->identity, line, (size_t)(end + 1 - line));
    mz_sha256_text(&b->identity, line);
}

static int hash_source(struct build *b, const struct mz_cc_word *source)
{
    struct mz_list argv = {0};
    struct mz_strbuf text = {0};
    mz_list_append(&argv, &b->compiler.words);
    mz_cc_flags_before(&b->paths, &argv);
    for (size_t i = 0; i < b->line.count; i++)
        if (b->line.words[i].kind == MZ_CC_FLAG && mz_cc_is_for(&b->line.words[i], source))
            mz_cc_line_append(&argv, &b->line.words[i]);
    mz_cc_flags_behind(&b->compiler, &argv);
    if (b->compiler.clang) mz_list_add(&argv, "-Qunused-arguments");
    mz_list_add(&argv, "-E");
    if (source->language) {
        mz_list_add(&argv, "-x");
        mz_list_add(&argv, source->language);
    }
    mz_list_add(&argv, source->text);
    hash_both(b, source->text);
    int status = mz_capture(mz_list_argv(&argv), MZ_CAPTURE_SHOW, mz_capture_to_strbuf, &text);
    int error = errno;
    hash_text(b, &text);
    mz_strbuf_release(&text);
    mz_list_release(&argv);
    if (mz_process_stopped()) return MZ_STATUS_FAILED;
    if (status < 0) return mz_fail("cannot run the compiler `%s`: %s", b->compiler.setting, mz_reason(error));
    if (status > 0) return mz_fail("%s does not compile: see the compiler's messages above", source->text);
    return 0;
}

/* -lfoo with a library of the user's own, in a -L directory: its content counts. System libraries are shared
 * and not part of the program. */
static void hash_library(struct build *b, const char *name)
{
    static const char *const endings[] = {"so", "a"};
    for (size_t i = 0; i < b->line.count; i++) {
        const struct mz_cc_word *w = &b->line.words[i];
        if (strncmp(w->text, "-L", 2) != 0) continue;
        for (size_t k = 0; k < 2; k++) {
            char *path = mz_format("%s/lib%s.%s", w->value ? w->value : w->text + 2, name, endings[k]);
            mz_sha256_file(&b->key, path);
            mz_sha256_file(&b->identity, path);
            free(path);
        }
    }
}

static int hash_object(struct build *b, const char *path)
{
    if (mz_sha256_file(&b->key, path) < 0 || mz_sha256_file(&b->identity, path) < 0)
        return mz_fail("%s: %s", path, strerror(errno));
    return 0;
}

static int hash_inputs(struct build *b)
{
    char *directory = getcwd(NULL, 0);
    mz_sha256_init(&b->key);
    mz_sha256_init(&b->identity);
    hash_both(b, "program 1");
    for (size_t i = 0; i < b->words.count; i++) hash_both(b, b->words.items[i]);
    mz_sha256_text(&b->key, MZ_VERSION);
    mz_sha256_text(&b->key, "-z now"); /* of our own flags: what changed within a version */
    mz_sha256_text(&b->key, directory ? directory : "");
    mz_sha256_text(&b->key, b->paths.library);
    mz_sha256_text(&b->key, b->compiler.setting);
    mz_sha256_text(&b->key, b->compiler.version);
    for (size_t i = 0; i < b->compiler.instrument.count; i++)
        mz_sha256_text(&b->key, b->compiler.instrument.items[i]);
    free(directory);
    int status = 0;
    for (size_t i = 0; status == 0 && i < b->line.count; i++) {
        const struct mz_cc_word *w = &b->line.words[i];
        if (w->kind == MZ_CC_SOURCE) status = hash_source(b, w);
        if (w->kind == MZ_CC_OBJECT) status = hash_object(b, w->text);
        if (!strncmp(w->text, "-l", 2)) hash_library(b, w->value ? w->value : w->text + 2);
    }
    return status;
}

/* ---- building ---- */

static char *program_name(const struct mz_cc_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->words[i].kind == MZ_CC_SOURCE) {
            const char *base = mz_files_base(line->words[i].text), *dot = strrchr(base, '.');
            return mz_memory_stringn(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
        }
    return mz_memory_string("program");
}

static int compile(struct build *b, const char *name, const char *output)
{
    struct mz_cc_line line;
    const char *failed = NULL;
    mz_list_add(&b->words, "-o");
    mz_list_add(&b->words, output);
    int status = mz_cc_line_parse(&line, mz_list_argv(&b->words));
    if (b->compiler.language == MZ_CXX) mz_cc_line_keep_c(&line);
    if (status == 0) {
        status = mz_cc_run(&b->compiler, &b->paths, &line, &failed);
        if (status < 0 || mz_process_stopped())
            status = MZ_STATUS_FAILED;
        else if (status != 0 && failed)
            status = mz_fail("%s does not compile: see the compiler's messages above", failed);
        else if (status != 0)
            status = mz_fail("%s does not link: see the linker's messages above", name);
    }
    mz_cc_line_release(&line);
    return status;
}

/* Another check of the same program may have been faster, and be running it: then its file stays. */
static int put_into_cache(const char *output, const char *entry)
{
    int status = link(output, entry) == 0 || errno == EEXIST ? 0 : -1;
    if (status < 0) status = rename(output, entry); /* a file system without links */
    if (status < 0) return mz_fail("cannot put the program into the cache: %s: %s", entry, strerror(errno));
    unlink(output);
    return 0;
}

static int build_into(struct build *b, const char *entry, struct mz_program *program)
{
    const char *dir = entry ? NULL : mz_tempdir();
    if (!entry && !dir) return MZ_STATUS_FAILED;
    char *output = entry ? mz_cache_temporary(entry) : mz_format("%s/%s", dir, program->name);
    if (entry) mz_tempdir_guard(output);
    int status = compile(b, program->name, output);
    if (status == 0 && entry) status = put_into_cache(output, entry);
    if (status != 0) unlink(output);
    mz_tempdir_guard(NULL);
    program->path = mz_memory_string(entry ? entry : output);
    free(output);
    if (entry && status == 0) mz_cache_evict(entry);
    return status;
}

static int build_cached(struct build *b, struct mz_program *program)
{
    char key[65];
    mz_sha256_hex(&b->key, key);
    mz_sha256_hex(&b->identity, program->identity);
    char *entry = mz_cache_entry(key, program->name);
    int status = 0;
    if (entry && mz_cache_use(entry))
        program->path = mz_memory_string(entry);
    else
        status = build_into(b, entry, program);
    free(entry);
    return status;
}

int mz_build(const struct mz_list *words, const char *setting, struct mz_program *program)
{
    struct build b = {0};
    *program = (struct mz_program){0};
    setenv("SOURCE_DATE_EPOCH", "0", 0); /* __DATE__ and __TIME__ must not make two builds different */
    int status = mz_paths_find(&b.paths);
    if (status == 0) status = mz_cc_line_parse(&b.line, words->items);
    if (status == 0 && !b.line.optimizes) mz_list_add(&b.words, "-O1");
    mz_list_append(&b.words, words);
    if (status == 0) status = check_words(&b);
    if (status == 0) status = mz_compiler_find(&b.compiler, b.line.cxx ? MZ_CXX : MZ_C, setting);
    if (status == 0) {
        mz_cc_line_release(&b.line);
        status = mz_cc_line_parse(&b.line, mz_list_argv(&b.words));
        if (b.compiler.language == MZ_CXX) mz_cc_line_keep_c(&b.line);
        program->name = program_name(&b.line);
        program->compiler = mz_memory_string(b.compiler.setting);
    }
    if (status == 0) mz_cc_line_say_notes(&b.line);
    if (status == 0) status = hash_inputs(&b);
    if (status == 0) status = build_cached(&b, program);
    if (status == 0) status = mz_elf_check(program->path, program->name);
    if (mz_process_stopped()) status = mz_fail("interrupted while compiling");
    if (status == 0 && mz_paths_cache()) mz_tempdir_remove(); /* nothing in there is needed any more */
    mz_cc_line_release(&b.line);
    mz_compiler_release(&b.compiler);
    mz_list_release(&b.words);
    return status;
}

int mz_build_take(const char *path, struct mz_program *program)
{
    struct mz_sha256 hash;
    *program = (struct mz_program){0};
    int status = mz_elf_check(path, path);
    if (status != 0) return status;
    mz_sha256_init(&hash);
    if (mz_sha256_file(&hash, path) < 0) return mz_fail("%s: %s", path, strerror(errno));
    mz_sha256_hex(&hash, program->identity);
    program->path = mz_memory_string(path);
    program->name = mz_memory_string(path);
    return 0;
}

void mz_program_release(struct mz_program *program)
{
    free(program->path);
    free(program->name);
    free(program->compiler);
    *program = (struct mz_program){0};
}
