/* From sources to a program to check: see build.h. */
#define _GNU_SOURCE
#include "build/build.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "build/cache.h"
#include "launch/capture.h"
#include "build/cc.h"
#include "build/elf_check.h"
#include "launch/inputs.h"
#include "launch/process.h"
#include "build/scan.h"
#include "launch/tempdir.h"

struct file_id {
    uint64_t device, inode;
};

struct build {
    struct mz_paths paths;
    struct mz_compiler compiler;
    struct mz_cc_line line;
    struct mz_list words; /* words of the line, after the default optimization */
    char key[65];
    struct mz_sha256 identity; /* of the meaning of the program: the same after a move to another directory */
    struct file_id *texts;     /* files whose text went through the preprocessor */
    size_t text_count, text_capacity;
    struct mz_inputs inputs;
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
            return mz_fail("check: %s cannot be used here: `mazurka check` builds and runs a whole program",
                           w->text);
        int status = w->kind == MZ_CC_SOURCE ? check_source(w->text) : 0;
        if (status != 0) return status;
    }
    return b->line.sources ? 0 : mz_fail("check: no C file among the files given");
}

/* ---- the key ---- */

/* Variables that compilers, linkers and the dynamic linker read. */
static void hash_environment(const struct build *b, struct mz_sha256 *key)
{
    static const char *const names[] = {"PATH",
                                        "CPATH",
                                        "C_INCLUDE_PATH",
                                        "CPLUS_INCLUDE_PATH",
                                        "LIBRARY_PATH",
                                        "COMPILER_PATH",
                                        "LD_RUN_PATH",
                                        "GCC_EXEC_PREFIX",
                                        "LD_PRELOAD",
                                        "DEPENDENCIES_OUTPUT",
                                        "LD_LIBRARY_PATH",
                                        "CCC_OVERRIDE_OPTIONS",
                                        "SOURCE_DATE_EPOCH",
                                        "LC_ALL",
                                        "LC_CTYPE",
                                        "LANG",
                                        "SYSROOT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        mz_sha256_text(key, value ? value : "");
        mz_sha256_text(key, value ? "set" : "not set");
    }
    if (!mz_compiler_is_wrapped(&b->compiler)) return;
    for (char **e = environ; *e; e++) /* a wrapper may read any variable; these differ from call to call */
        if (strncmp(*e, "_=", 2) != 0 && strncmp(*e, "SHLVL=", 6) != 0 && strncmp(*e, "OLDPWD=", 7) != 0)
            mz_sha256_text(key, *e);
}

static void make_key(struct build *b)
{
    struct mz_sha256 key;
    char *directory = getcwd(NULL, 0);
    mz_sha256_init(&key);
    mz_sha256_text(&key, "program 2");
    for (size_t i = 0; i < b->line.count; i++) { /* contains the words of @files */
        mz_sha256_text(&key, b->line.words[i].text);
        mz_sha256_text(&key, b->line.words[i].value ? b->line.words[i].value : "");
    }
    mz_sha256_text(&key, MZ_VERSION);
    mz_sha256_text(&key, "-z now"); /* number of our own flags; changes with them within a version */
    mz_sha256_text(&key, directory ? directory : "");
    mz_sha256_text(&key, b->paths.library);
    mz_sha256_text(&key, b->compiler.setting);
    mz_sha256_text(&key, b->compiler.version);
    for (size_t i = 0; i < b->compiler.instrument.count; i++)
        mz_sha256_text(&key, b->compiler.instrument.items[i]);
    hash_environment(b, &key);
    mz_sha256_hex(&key, b->key);
    free(directory);
}

/* ---- identity ---- */

/* A line marker (# 12 "file.h") or an empty line: it says where text comes from, and does not change its meaning. */
static bool is_marker(const char *line) { return line[0] == '\n' || (line[0] == '#' && line[1] == ' '); }

static void add_text(struct build *b, const char *line, const char *end)
{
    const char *from = memchr(line, '"', (size_t)(end - line));
    const char *to = from ? memchr(from + 1, '"', (size_t)(end - from - 1)) : NULL;
    struct stat s;
    if (!to || from[1] == '<') return; /* <built-in> */
    char *path = mz_memory_stringn(from + 1, (size_t)(to - from - 1));
    if (stat(path, &s) == 0) {
        bool known = false;
        for (size_t i = 0; i < b->text_count && !known; i++)
            known = b->texts[i].inode == s.st_ino && b->texts[i].device == s.st_dev;
        MZ_GROW(b->texts, b->text_count, b->text_capacity);
        if (!known) b->texts[b->text_count++] = (struct file_id){s.st_dev, s.st_ino};
    }
    free(path);
}

static bool is_text(const void *data, uint64_t device, uint64_t inode)
{
    const struct build *b = data;
    for (size_t i = 0; i < b->text_count; i++)
        if (b->texts[i].inode == inode && b->texts[i].device == device) return true;
    return false;
}

/* Hash preprocessed text without its line markers. */
static void hash_text(struct build *b, const struct mz_strbuf *text)
{
    const char *line = mz_strbuf_text(text), *end;
    for (; (end = strchr(line, '\n')); line = end + 1)
        if (!is_marker(line))
            mz_sha256_add(&b->identity, line, (size_t)(end + 1 - line));
        else if (line[0] == '#')
            add_text(b, line, end);
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
    mz_sha256_text(&b->identity, source->text);
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

static int hash_sources(struct build *b)
{
    int status = 0;
    mz_sha256_init(&b->identity);
    mz_sha256_text(&b->identity, "program 2");
    for (size_t i = 0; i < b->words.count; i++) mz_sha256_text(&b->identity, b->words.items[i]);
    for (size_t i = 0; status == 0 && i < b->line.count; i++) {
        const struct mz_cc_word *w = &b->line.words[i];
        if (w->kind == MZ_CC_SOURCE) status = hash_source(b, w);
        if (w->kind == MZ_CC_OBJECT && access(w->text, R_OK) < 0)
            status = mz_fail("%s: %s", w->text, strerror(errno));
    }
    return status;
}

/* Hash the other inputs: libraries, objects, files that an assembler includes. If they are not known, hash the
 * program itself. */
static void finish_identity(struct build *b, struct mz_program *program)
{
    if (b->inputs.complete)
        mz_inputs_identify(&b->inputs, &b->identity, is_text, b);
    else
        mz_sha256_file(&b->identity, program->path);
    mz_sha256_hex(&b->identity, program->identity);
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

/* Another check may have built the same program earlier and may be running it: keep that file. */
static int put_into_cache(const char *output, const char *entry)
{
    int status = link(output, entry) == 0 || errno == EEXIST ? 0 : -1;
    if (status < 0) status = rename(output, entry); /* a file system without links */
    if (status < 0) return mz_fail("cannot put the program into the cache: %s: %s", entry, strerror(errno));
    unlink(output);
    return 0;
}

/* ---- the cache ---- */

#define MANIFEST "mazurka inputs 1\nprogram "
#define IDENTITY "\nidentity "

/* Format: "MANIFEST name IDENTITY hash", then the inputs. */
static bool recall(const struct build *b, struct mz_program *program)
{
    char *path = mz_cache_manifest(b->key), *text = path ? mz_files_read(path) : NULL, *entry = NULL;
    char *name = text && !strncmp(text, MANIFEST, strlen(MANIFEST)) ? text + strlen(MANIFEST) : NULL;
    char *identity = name ? strstr(name, IDENTITY) : NULL;
    if (identity && strlen(identity) > strlen(IDENTITY) + 64) {
        *identity = '\0';
        identity += strlen(IDENTITY);
        identity[64] = '\0';
        entry = mz_cache_named(name);
    }
    bool found =
        entry && mz_inputs_unchanged(identity + 65) && mz_cache_use(entry, X_OK) && mz_cache_use(path, 0);
    if (found) {
        program->path = entry;
        memcpy(program->identity, identity, sizeof program->identity);
    } else {
        free(entry);
    }
    free(text);
    free(path);
    return found;
}

/* The name depends on the content: a file of that name is as good as a new one. */
static char *entry_for(const struct mz_strbuf *manifest, const struct mz_program *program)
{
    struct mz_sha256 hash;
    char hex[65];
    mz_sha256_init(&hash);
    mz_sha256_text(&hash, mz_strbuf_text(manifest));
    mz_sha256_file(&hash, program->path);
    mz_sha256_hex(&hash, hex);
    return mz_cache_entry(hex, program->name);
}

static int keep(struct build *b, struct mz_program *program)
{
    struct mz_strbuf inputs = {0}, manifest = {0};
    mz_inputs_put(&b->inputs, &inputs);
    char *entry = entry_for(&inputs, program), *path = mz_cache_manifest(b->key);
    int status = put_into_cache(program->path, entry);
    if (status == 0) {
        mz_strbuf_addf(&manifest, MANIFEST "%s" IDENTITY "%s\n", mz_files_base(entry), program->identity);
        mz_strbuf_addn(&manifest, mz_strbuf_text(&inputs), inputs.length);
        if (b->inputs.complete) /* if this fails, the next check builds the program again */
            mz_files_write(path, mz_strbuf_text(&manifest));
        free(program->path);
        program->path = mz_memory_string(entry);
        mz_cache_evict(entry);
    }
    mz_strbuf_release(&inputs);
    mz_strbuf_release(&manifest);
    free(entry);
    free(path);
    return status;
}

static int build(struct build *b, struct mz_program *program)
{
    const char *dir = mz_tempdir();
    if (!dir) return MZ_STATUS_FAILED;
    bool cached = mz_paths_cache() != NULL;
    program->path = cached ? mz_cache_temporary(program->name) : mz_format("%s/%s", dir, program->name);
    if (cached) mz_tempdir_guard(program->path);
    mz_inputs_begin(&b->inputs, dir);
    mz_inputs_forget(&b->inputs, b->paths.library); /* loaded at the start of every program */
    b->compiler.inputs = &b->inputs;
    int status = hash_sources(b);
    if (status == 0) status = compile(b, program->name, program->path);
    if (status == 0) finish_identity(b, program);
    if (status == 0 && cached) status = keep(b, program);
    if (status != 0) unlink(program->path);
    mz_tempdir_guard(NULL);
    mz_inputs_release(&b->inputs);
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
    if (status == 0) make_key(&b);
    if (status == 0 && !recall(&b, program)) status = build(&b, program);
    if (status == 0) status = mz_elf_check(program->path, program->name);
    if (status == 0) program->unseen_code = mz_scan(program->path, &program->unseen);
    if (mz_process_stopped()) status = mz_fail("interrupted while compiling");
    if (status == 0 && mz_paths_cache())
        mz_tempdir_remove(); /* nothing in the temporary directory is needed any more */
    mz_cc_line_release(&b.line);
    mz_compiler_release(&b.compiler);
    mz_list_release(&b.words);
    free(b.texts);
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
    program->unseen_code = mz_scan(path, &program->unseen);
    return 0;
}
