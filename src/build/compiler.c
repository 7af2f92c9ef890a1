/* What the compiler is, and which flags it knows: see compiler.h.
 *
 * The file in the cache has one fact per line: "clang 0|1", "version TEXT", "flag WORD"... Its last line is "end",
 * so that an incomplete file is not used. */
#define _GNU_SOURCE
#include "build/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "launch/capture.h"
#include "launch/paths.h"
#include "launch/process.h"
#include "launch/tempdir.h"
#include "base/shell_words.h"

#define MAX_WORDS 3

struct flag {
    const char *words[MAX_WORDS]; /* NULL-terminated */
    char for_compiler;            /* 'g' gcc, 'c' clang, 'w' clang without our plug-in, 'b' both */
    bool needed;
};

/* No entry and exit calls: they cost time, and frame pointers serve call stacks at replay. Volatile accesses
 * have hooks of their own. Tail calls would hide the function that called a hook. */
static const struct flag flags[] = {
    {{"-fno-omit-frame-pointer"}, 'b', false},
    {{"-fno-optimize-sibling-calls"}, 'b', false},
    {{"-fsanitize=thread"}, 'b', true},
    {{"--param", "tsan-instrument-func-entry-exit=0"}, 'g', false},
    {{"--param", "tsan-distinguish-volatile=1"}, 'g', false},
    {{"-mllvm", "-tsan-instrument-func-entry-exit=0"}, 'c', false},
    {{"-mllvm", "-tsan-distinguish-volatile=1"}, 'c', false},
    /* x += 1 reads x: with --data-races=allow the read is an operation by itself. */
    {{"-mllvm", "-tsan-instrument-read-before-write=1"}, 'c', false},
    /* Check functions with the attribute no_sanitize, too: replace that attribute by one without effect. (gcc: our
     * plug-in does this.) */
    {{"-Dno_sanitize_thread=annotate(\"mazurka\")"}, 'c', false},
    {{"-Dno_sanitize(...)=annotate(\"mazurka\")"}, 'c', false},
    /* Record the flags in the debug information: scan.c finds code that was compiled without ours. */
    {{"-grecord-command-line"}, 'c', false},
    {{"-grecord-gcc-switches"}, 'g', false},
    /* gcc warns that its own runtime does not know fences. Ours does. */
    {{"-Wno-tsan"}, 'g', false},
    /* clang 14 gives no hook to a member of a structure on the stack whose address other threads know: it only asks
     * whether the address of that member escapes. With this limit of 0 it treats every address as escaping, also
     * those of local variables that no other thread can know. The plug-in has a better way. */
    {{"-mllvm", "-capture-tracking-max-uses-to-explore=0"}, 'w', false},
    /* Keep loops that wait for a plain variable: such a loop is a data race, or endless. */
    {{"-fno-finite-loops"}, 'b', false},
    /* gcc assumes that hooks do not call back into the file, so that they cannot touch its static variables. It
     * would delay a write past the next hook, or join two writes, and threads that run in that hook would see the
     * old value. */
    {{"-fno-ipa-reference"}, 'g', false},
    /* No two variables of a function may share a place on the stack: see runtime/loops/lent.c. */
    {{"-fstack-reuse=none"}, 'g', false},
    {{"-mllvm", "-no-stack-coloring"}, 'c', false},
    /* Calls that the compiler would otherwise inline, without hooks. */
    {{"-fno-builtin-memset"}, 'b', false},
    {{"-fno-builtin-memcpy"}, 'b', false},
    {{"-fno-builtin-memmove"}, 'b', false},
    {{"-fno-builtin-mempcpy"}, 'b', false},
    {{"-fno-builtin-bzero"}, 'b', false},
    {{"-fno-builtin-bcopy"}, 'b', false},
    {{"-fno-builtin-strcpy"}, 'b', false},
    {{"-fno-builtin-stpcpy"}, 'b', false},
    {{"-fno-builtin-strncpy"}, 'b', false},
    {{"-fno-builtin-strcat"}, 'b', false},
    {{"-fno-builtin-strncat"}, 'b', false},
    {{"-fno-builtin-strlen"}, 'b', false},
    {{"-fno-builtin-strnlen"}, 'b', false},
    {{"-fno-builtin-strcmp"}, 'b', false},
    {{"-fno-builtin-strncmp"}, 'b', false},
    {{"-fno-builtin-memcmp"}, 'b', false},
    {{"-fno-builtin-bcmp"}, 'b', false},
    {{"-fno-builtin-memchr"}, 'b', false},
    {{"-fno-builtin-strchr"}, 'b', false},
    {{"-fno-builtin-strrchr"}, 'b', false},
    {{"-fno-builtin-strstr"}, 'b', false},
    {{"-fno-builtin-strspn"}, 'b', false},
    {{"-fno-builtin-strcspn"}, 'b', false},
    {{"-fno-builtin-strpbrk"}, 'b', false},
    {{"-fno-builtin-strdup"}, 'b', false},
    {{"-fno-builtin-strndup"}, 'b', false},
    /* Programs test this macro to disable code under the thread sanitizer. mazurka checks the program as it is. */
    {{"-U__SANITIZE_THREAD__"}, 'b', false},
};
#define FLAGS (sizeof flags / sizeof *flags)

static const struct {
    const char *variable, *standard, *option, *name;
} languages[] = {[MZ_C] = {"MAZURKA_CC", "cc", "c", "C"}, [MZ_CXX] = {"MAZURKA_CXX", "c++", "c++", "C++"}};

/* ---- asking the compiler ---- */

static int not_found(const struct mz_compiler *c, int error)
{
    if (error != ENOENT) return mz_fail("cannot run the compiler `%s`: %s", c->setting, mz_reason(error));
    return mz_fail("%s compiler `%s` not found: install %s, or name one in %s", languages[c->language].name,
                   c->setting, c->language == MZ_C ? "gcc or clang" : "g++ or clang++",
                   languages[c->language].variable);
}

static int ask(const struct mz_compiler *c, const char *const *more, struct mz_strbuf *out)
{
    struct mz_list argv = {0};
    mz_list_append(&argv, &c->words);
    while (*more) mz_list_add(&argv, *more++);
    int status = mz_capture(mz_list_argv(&argv), MZ_CAPTURE_QUIET, mz_capture_to_strbuf, out);
    int error = errno;
    mz_list_release(&argv);
    errno = error;
    return status;
}

static int ask_version(struct mz_compiler *c)
{
    static const char *const words[] = {"--version", NULL};
    struct mz_strbuf out = {0};
    int status = ask(c, words, &out);
    if (mz_process_stopped()) return MZ_STATUS_FAILED;
    if (status < 0) return not_found(c, errno);
    c->version = mz_memory_stringn(mz_strbuf_text(&out), strcspn(mz_strbuf_text(&out), "\n"));
    mz_strbuf_release(&out);
    return 0;
}

static void ask_family(struct mz_compiler *c)
{
    static const char *const words[] = {"-dM", "-E", "-x", "c", "/dev/null", NULL};
    struct mz_strbuf out = {0};
    ask(c, words, &out);
    c->clang = strstr(mz_strbuf_text(&out), "#define __clang__ ") != NULL;
    mz_strbuf_release(&out);
}

/* Does the compiler compile a small file with these flags, without a warning? */
static bool accepts(const struct mz_compiler *c, const struct mz_list *words, const char *dir)
{
    struct mz_list argv = {0};
    mz_list_append(&argv, &c->words);
    mz_list_append(&argv, words);
    mz_list_add(&argv, "-Werror");
    mz_list_add(&argv, "-c");
    mz_list_add(&argv, "-o");
    mz_list_addf(&argv, "%s/probe.o", dir);
    mz_list_add(&argv, "-x");
    mz_list_add(&argv, languages[c->language].option);
    mz_list_addf(&argv, "%s/probe.c", dir);
    int status = mz_capture(mz_list_argv(&argv), MZ_CAPTURE_QUIET, NULL, NULL);
    mz_list_release(&argv);
    return status == 0;
}

/* Our plug-ins fit only one version of their compiler: try whether it loads them. */
static const char *const plugins[][2] = {{"-fplugin", "gcc"}, {"-fpass-plugin", "clang"}};

static char *plugin_path(bool clang)
{
    struct mz_paths paths;
    if (mz_paths_find(&paths) != 0) return NULL;
    char *path = mz_format("%s/libmazurka-%s.so", paths.library_dir, plugins[clang][1]);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

static void ask_plugin(struct mz_compiler *c, const char *dir)
{
    struct mz_list words = {0};
    char *path = plugin_path(c->clang);
    if (!path) return;
    mz_list_add(&words, "-fsanitize=thread");
    mz_list_addf(&words, "%s=%s", plugins[c->clang][0], path);
    c->plugin = accepts(c, &words, dir);
    if (c->plugin) mz_list_addf(&c->instrument, "%s=%s", plugins[c->clang][0], path);
    mz_list_release(&words);
    free(path);
}

static bool is_for(const struct flag *f, const struct mz_compiler *c)
{
    if (f->for_compiler == 'w') return c->clang && !c->plugin;
    return f->for_compiler == 'b' || f->for_compiler == (c->clang ? 'c' : 'g');
}

static void add_words(struct mz_list *to, const struct flag *f)
{
    for (int i = 0; i < MAX_WORDS && f->words[i]; i++) mz_list_add(to, f->words[i]);
}

static int ask_flags(struct mz_compiler *c, const char *dir)
{
    struct mz_list all = {0};
    for (size_t i = 0; i < FLAGS; i++)
        if (is_for(&flags[i], c)) add_words(&all, &flags[i]);
    if (accepts(c, &all, dir)) { /* the usual case: one compilation for all of them */
        mz_list_append(&c->instrument, &all);
        mz_list_release(&all);
        return 0;
    }
    mz_list_release(&all);
    for (size_t i = 0; i < FLAGS; i++) {
        struct mz_list one = {0};
        if (!is_for(&flags[i], c)) continue;
        mz_list_add(&one, "-fsanitize=thread");
        add_words(&one, &flags[i]);
        bool accepted = accepts(c, &one, dir);
        mz_list_release(&one);
        if (mz_process_stopped()) break;
        if (accepted)
            add_words(&c->instrument, &flags[i]);
        else if (flags[i].needed)
            return mz_fail("compiler `%s` does not accept %s: use gcc or clang (%s)", c->setting,
                           flags[i].words[0], languages[c->language].variable);
    }
    return mz_process_stopped() ? MZ_STATUS_FAILED : 0;
}

static int probe(struct mz_compiler *c)
{
    const char *dir = mz_tempdir();
    if (!dir) return MZ_STATUS_FAILED;
    char *source = mz_format("%s/probe.c", dir);
    int status = mz_files_write(source, "int x;\nint f(void);\nint f(void) { return x; }\n");
    if (status != 0) status = mz_fail("cannot write %s: %s", source, strerror(errno));
    if (status == 0) status = ask_version(c);
    if (status == 0) ask_family(c);
    if (status == 0) ask_plugin(c, dir);
    if (status == 0) status = ask_flags(c, dir);
    free(source);
    return status;
}

/* ---- what is kept ---- */

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path) return mz_memory_string(name);
    while (*path) {
        size_t n = strcspn(path, ":");
        char *candidate = mz_format("%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
        if (access(candidate, X_OK) == 0) return candidate;
        free(candidate);
        path += n + (path[n] == ':');
    }
    return NULL;
}

static bool begins_with(const char *s, const char *prefix) { return !strncmp(s, prefix, strlen(prefix)); }

/* gcc, x86_64-linux-gnu-g++-12, clang-14: the last word between dashes that is not a number */
static bool is_driver_name(const char *path)
{
    static const char *const names[] = {"gcc", "g++", "cc", "c++", "clang", "clang++"};
    char *name = mz_memory_string(mz_files_base(path)), *dash;
    if ((dash = strrchr(name, '-')) && dash[1] && strspn(dash + 1, "0123456789.") == strlen(dash + 1))
        *dash = '\0';
    const char *last = strrchr(name, '-') ? strrchr(name, '-') + 1 : name;
    bool known = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) known |= !strcmp(last, names[i]);
    free(name);
    return known;
}

/* Is it a compiler of the system, not a script or another program (ccache) that calls one? */
static bool is_plain_driver(const char *path)
{
    char start[2] = {0}, *real = realpath(path, NULL);
    int fd = real ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool plain = fd >= 0 && read(fd, start, 2) == 2 && !(start[0] == '#' && start[1] == '!') &&
                 begins_with(real, "/usr/") && !begins_with(real, "/usr/local/") && is_driver_name(real);
    if (fd >= 0) close(fd);
    free(real);
    return plain;
}

bool mz_compiler_is_wrapped(const struct mz_compiler *c)
{
    char *path = c->words.count ? find_in_path(c->words.items[0]) : NULL;
    bool wrapped = !path || !is_plain_driver(path);
    free(path);
    return wrapped;
}

static bool hash_stat(struct mz_sha256 *hash, const char *path)
{
    struct stat s;
    if (!path || stat(path, &s) < 0) return false;
    mz_sha256_text(hash, path);
    mz_sha256_add(hash, &s.st_size, sizeof s.st_size);
    mz_sha256_add(hash, &s.st_mtim, sizeof s.st_mtim);
    return true;
}

static void hash_plugins(struct mz_sha256 *hash)
{
    for (int clang = 0; clang < 2; clang++) {
        char *path = plugin_path(clang);
        hash_stat(hash, path);
        free(path);
    }
}

/* Name of the file in the cache; NULL without a cache or without a compiler. */
static char *kept_file(const struct mz_compiler *c)
{
    const char *cache = mz_paths_cache();
    struct mz_sha256 hash;
    char hex[65];
    if (!cache) return NULL;
    mz_sha256_init(&hash);
    mz_sha256_text(&hash, "compiler 3 " MZ_VERSION);
    mz_sha256_text(&hash, languages[c->language].name);
    for (size_t i = 0; i < FLAGS; i++)
        for (int w = 0; w < MAX_WORDS && flags[i].words[w]; w++) mz_sha256_text(&hash, flags[i].words[w]);
    for (size_t i = 0; i < c->words.count; i++) {
        char *path = find_in_path(c->words.items[i]);
        mz_sha256_text(&hash, c->words.items[i]);
        bool found = hash_stat(&hash, path);
        free(path);
        if (!found && i == 0) return NULL;
    }
    hash_plugins(&hash);
    mz_sha256_hex(&hash, hex);
    return mz_format("%s/compiler-%.32s", cache, hex);
}

static void keep(const struct mz_compiler *c, const char *file)
{
    struct mz_strbuf b = {0};
    mz_strbuf_addf(&b, "clang %d\nversion %s\n", c->clang, c->version);
    for (size_t i = 0; i < c->instrument.count; i++) mz_strbuf_addf(&b, "flag %s\n", c->instrument.items[i]);
    mz_strbuf_add(&b, "end\n");
    mz_files_write(file, mz_strbuf_text(&b)); /* if this fails, the compiler is asked again next time */
    mz_strbuf_release(&b);
}

static bool recall(struct mz_compiler *c, const char *file)
{
    char *text = mz_files_read(file), *rest = text, *line;
    bool complete = false;
    while (text && (line = strsep(&rest, "\n"))) {
        if (!strncmp(line, "clang ", 6)) c->clang = line[6] == '1';
        if (!strncmp(line, "version ", 8) && !c->version) c->version = mz_memory_string(line + 8);
        if (!strncmp(line, "flag ", 5)) mz_list_add(&c->instrument, line + 5);
        complete = complete || !strcmp(line, "end");
    }
    free(text);
    if (complete && c->version) return true;
    free(c->version);
    c->version = NULL;
    mz_list_release(&c->instrument);
    return false;
}

int mz_compiler_find(struct mz_compiler *c, enum mz_language language, const char *setting)
{
    if (!setting) setting = getenv(languages[language].variable);
    if (!setting || !setting[0]) setting = languages[language].standard;
    *c = (struct mz_compiler){.language = language, .setting = mz_memory_string(setting)};
    if (!mz_words_split(c->setting, &c->words) || c->words.count == 0)
        return mz_fail("%s=%s: a quote is not closed", languages[language].variable, c->setting);
    char *file = kept_file(c);
    int status = 0;
    if (!file || !recall(c, file)) {
        status = probe(c);
        if (status == 0 && file) keep(c, file);
    }
    free(file);
    return status;
}

void mz_compiler_release(struct mz_compiler *c)
{
    free(c->setting);
    free(c->version);
    mz_list_release(&c->words);
    mz_list_release(&c->instrument);
    *c = (struct mz_compiler){0};
}
