/* Parse the command line of a compiler: see command_line.h. It knows the options that gcc and clang have in common
 * and that take a value or change what is made. Any other word is a flag by itself. */
#define _GNU_SOURCE
#include "build/command_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/strbuf.h"
#include "base/shell_words.h"

#define COUNT(a)       (sizeof(a) / sizeof *(a))
#define AT_FILES_DEPTH 16

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, list[i])) return true;
    return false;
}

static bool starts(const char *word, const char *prefix) { return !strncmp(word, prefix, strlen(prefix)); }

bool mz_cc_takes_value(const char *word)
{
    static const char *const with_value[] = {"-o",
                                             "-x",
                                             "-D",
                                             "-U",
                                             "-I",
                                             "-L",
                                             "-l",
                                             "-B",
                                             "-A",
                                             "-T",
                                             "-u",
                                             "-z",
                                             "-e",
                                             "-include",
                                             "-imacros",
                                             "-isystem",
                                             "-iquote",
                                             "-idirafter",
                                             "-iprefix",
                                             "-iwithprefix",
                                             "-iwithprefixbefore",
                                             "-isysroot",
                                             "-imultilib",
                                             "-MF",
                                             "-MT",
                                             "-MQ",
                                             "-MJ",
                                             "-Xlinker",
                                             "-Xpreprocessor",
                                             "-Xassembler",
                                             "-Xclang",
                                             "-mllvm",
                                             "-aux-info",
                                             "-dumpbase",
                                             "-dumpbase-ext",
                                             "-dumpdir",
                                             "-wrapper",
                                             "-specs",
                                             "-target",
                                             "-arch",
                                             "-rpath",
                                             "-gcc-toolchain",
                                             "--param",
                                             "--include",
                                             "--sysroot",
                                             "--output",
                                             "--language",
                                             "--define-macro",
                                             "--undefine-macro",
                                             "--include-directory",
                                             "--library-directory",
                                             "--entry",
                                             "--config"};
    return is_one_of(word, with_value, COUNT(with_value));
}

bool mz_cc_is_source_name(const char *name)
{
    static const char *const endings[] = {"c",   "i",   "s",   "S",  "sx", "C",  "cc", "cp", "cpp",
                                          "CPP", "cxx", "c++", "ii", "m",  "mi", "mm", "M"};
    const char *dot = strrchr(mz_files_base(name), '.');
    return dot && is_one_of(dot + 1, endings, COUNT(endings));
}

static bool is_cxx(const char *name, const char *language)
{
    static const char *const endings[] = {"C", "cc", "cp", "cpp", "CPP", "cxx", "c++", "ii"};
    const char *dot = strrchr(mz_files_base(name), '.');
    if (language) return starts(language, "c++");
    return dot && is_one_of(dot + 1, endings, COUNT(endings));
}

void mz_cc_line_keep_c(struct mz_cc_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        struct mz_cc_word *w = &line->words[i];
        const char *dot = w->kind == MZ_CC_SOURCE && !w->language ? strrchr(w->text, '.') : NULL;
        if (dot && !strcmp(dot, ".c")) w->language = "c";
    }
}

bool mz_cc_is_for(const struct mz_cc_word *flag, const struct mz_cc_word *source)
{
    if (!starts(flag->text, "-std=") && !starts(flag->text, "--std=")) return true;
    bool for_cxx = strstr(flag->text, "++") != NULL;
    if (is_cxx(source->text, source->language)) return for_cxx;
    return !for_cxx || !source->language || !starts(source->language, "c");
}

bool mz_cc_plausible_flag(const char *word)
{
    static const char *const exact[] = {
        "-ansi", "-w",      "-pipe",     "-pthread",   "-pthreads",    "-rdynamic", "-undef",   "-v",
        "-pie",  "-no-pie", "-s",        "-trigraphs", "-traditional", "-H",        "-P",       "-C",
        "-p",    "-pg",     "-symbolic", "-remap",     "--coverage",   "--param",   "--sysroot"};
    static const char *const prefixes[] = {
        "-D",        "-U",      "-I",          "-L",         "-l",        "-O",
        "-B",        "-std=",   "-f",          "-W",         "-m",        "-g",
        "-i",        "-nostd",  "-nodefault",  "-nolib",     "-pedantic", "-X",
        "-specs=",   "-x",      "-z",          "-u",         "-T",        "-save-temps",
        "-include",  "-print-", "-static-lib", "-target",    "-Q",        "-time",
        "-aux-info", "--std=",  "--param=",    "--sysroot=", "--target=", "--gcc-toolchain="};
    if (is_one_of(word, exact, COUNT(exact))) return true;
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (starts(word, prefixes[i])) return true;
    return false;
}

/* ---- @files ---- */

static int expand(struct mz_list *to, char **words, int depth)
{
    for (; *words; words++) {
        struct mz_list inside = {0};
        char *text = (*words)[0] == '@' ? mz_files_read(*words + 1) : NULL;
        if (!text) { /* as compilers do: an @word without such a file is an ordinary word */
            mz_list_add(to, *words);
            continue;
        }
        bool closed = mz_words_split(text, &inside);
        free(text);
        int status = 0;
        if (!closed) status = mz_fail("%s: a quote is not closed", *words + 1);
        if (depth == 0) status = mz_fail("%s: @files within @files go too deep", *words + 1);
        if (status == 0) status = expand(to, mz_list_argv(&inside), depth - 1);
        mz_list_release(&inside);
        if (status != 0) return status;
    }
    return 0;
}

/* ---- words ---- */

static struct mz_cc_word *add(struct mz_cc_line *line, enum mz_cc_kind kind, const char *text,
                              const char *value)
{
    MZ_GROW(line->words, line->count, line->capacity);
    struct mz_cc_word *w = &line->words[line->count++];
    *w = (struct mz_cc_word){kind, mz_memory_string(text), mz_memory_string(value), NULL};
    return w;
}

/* -fsanitize=LIST: we add `thread` ourselves. Other sanitizers may stay, except those with shadow memory of their
 * own. */
static int add_sanitizers(struct mz_cc_line *line, const char *list)
{
    static const char *const refused[] = {"address",   "leak",           "memory",
                                          "hwaddress", "kernel-address", "dataflow"};
    char *copy = mz_memory_string(list), *rest = copy, *name;
    struct mz_strbuf kept = {0};
    int status = 0;
    while ((name = strsep(&rest, ","))) {
        if (is_one_of(name, refused, COUNT(refused)))
            status = mz_fail("-fsanitize=%s does not work together with mazurka: leave it out here", name);
        else if (!strcmp(name, "thread"))
            mz_list_add(&line->notes, "-fsanitize=thread left out: mazurka brings its own");
        else
            mz_strbuf_addf(&kept, "%s%s", kept.length ? "," : "-fsanitize=", name);
    }
    if (kept.length) add(line, MZ_CC_FLAG, kept.data, NULL);
    mz_strbuf_release(&kept);
    free(copy);
    return status;
}

static enum mz_cc_stage stage_of(const char *word)
{
    static const char *const compile[] = {"-c", "-S", "-fsyntax-only", "--compile", "--assemble"};
    static const char *const preprocess[] = {
        "-E", "-M", "-MM", "--preprocess", "--dependencies", "--user-dependencies"};
    if (is_one_of(word, compile, COUNT(compile))) return MZ_CC_COMPILE;
    if (is_one_of(word, preprocess, COUNT(preprocess))) return MZ_CC_PREPROCESS;
    return MZ_CC_LINK;
}

static enum mz_cc_kind kind_of_option(const char *word)
{
    static const char *const dependency[] = {"-MD", "-MMD", "--write-dependencies",
                                             "--write-user-dependencies"};
    static const char *const name[] = {"-MF", "-MT", "-MQ", "-MJ"};
    static const char *const link[] = {"-Xlinker", "-T", "-u", "-z", "-e", "-rpath"};
    if (is_one_of(word, dependency, COUNT(dependency))) return MZ_CC_DEPENDENCY;
    if (is_one_of(word, name, COUNT(name)) || starts(word, "-MF") || starts(word, "-MT") ||
        starts(word, "-MQ"))
        return MZ_CC_DEPENDENCY_NAME;
    if (is_one_of(word, link, COUNT(link)) || starts(word, "-l") || starts(word, "-Wl,"))
        return MZ_CC_LINK_FLAG;
    return MZ_CC_FLAG;
}

static int refuse(const char *word)
{
    if (!strcmp(word, "-m32") || !strcmp(word, "-mx32"))
        return mz_fail("%s: mazurka checks x86-64 programs only", word);
    return 0;
}

static int add_option(struct mz_cc_line *line, const char *word, const char *value)
{
    enum mz_cc_stage stage = stage_of(word);
    if (starts(word, "-fsanitize=")) return add_sanitizers(line, word + strlen("-fsanitize="));
    if (starts(word, "-flto") || !strcmp(word, "-fwhole-program")) {
        mz_list_addf(&line->notes, "%s left out: code is instrumented file by file", word);
        return 0;
    }
    if (stage != MZ_CC_LINK) {
        if (line->stage == MZ_CC_LINK || stage == MZ_CC_PREPROCESS) line->stage = stage;
        add(line, MZ_CC_STAGE, word, NULL);
        return 0;
    }
    if (starts(word, "-O") || !strcmp(word, "--optimize")) line->optimizes = true;
    if (!strcmp(word, "-r")) line->relocatable = true;
    if (!strcmp(word, "-shared") || !strcmp(word, "--shared")) line->shared = true;
    add(line, kind_of_option(word), word, value);
    return refuse(word);
}

static void add_input(struct mz_cc_line *line, const char *word, const char *language)
{
    bool source = language || !strcmp(word, "-") || mz_cc_is_source_name(word);
    add(line, source ? MZ_CC_SOURCE : MZ_CC_OBJECT, word, NULL)->language = source ? language : NULL;
    line->sources += source;
    line->cxx |= source && is_cxx(word, language);
}

/* Read "-ofile" and "-xc" as "-o" "file" and "-x" "c"; other options as they are. Return the number of words used. */
static int add_words(struct mz_cc_line *line, char **words, const char **language, int *status)
{
    const char *word = words[0], *value = NULL;
    bool is_output = starts(word, "-o") && strcmp(word, "-object") != 0, is_language = starts(word, "-x");
    int used = 1;
    if (mz_cc_takes_value(word)) {
        value = words[1];
        if (!value) *status = mz_fail("%s: its argument is missing", word);
        used = value ? 2 : 1;
    } else if (is_output || is_language) {
        value = word + 2;
    }
    if (*status) return used;
    if (is_output) {
        line->output = add(line, MZ_CC_OUTPUT, "-o", value)->value;
    } else if (is_language) {
        const char *kept = add(line, MZ_CC_LANGUAGE, "-x", value)->value;
        *language = strcmp(kept, "none") != 0 ? kept : NULL;
    } else if (word[0] == '-' && word[1]) {
        *status = add_option(line, word, value);
    } else {
        add_input(line, word, *language);
    }
    return used;
}

static int refuse_static(const struct mz_cc_line *line)
{
    for (size_t i = 0; line->stage == MZ_CC_LINK && i < line->count; i++) {
        const char *word = line->words[i].text;
        if (!strcmp(word, "-static") || !strcmp(word, "--static") || !strcmp(word, "-static-pie"))
            return mz_fail(
                "%s does not work together with mazurka: programs to be checked are linked dynamically",
                word);
    }
    return 0;
}

/* Warn where a program is linked, not for each of its files. */
static void note_ndebug(struct mz_cc_line *line)
{
    bool off = false;
    for (size_t i = 0; line->stage == MZ_CC_LINK && i < line->count; i++) {
        const struct mz_cc_word *w = &line->words[i];
        bool define = starts(w->text, "-D"), undefine = starts(w->text, "-U");
        if (!define && !undefine) continue;
        const char *name = w->value ? w->value : w->text + 2;
        if (starts(name, "NDEBUG") && (name[6] == '\0' || name[6] == '=')) off = define;
    }
    if (off) mz_list_add(&line->notes, "-DNDEBUG turns the program's assertions off: they are not checked");
}

void mz_cc_line_say_notes(const struct mz_cc_line *line)
{
    for (size_t i = 0; i < line->notes.count; i++) mz_notice("%s", line->notes.items[i]);
}

int mz_cc_line_parse(struct mz_cc_line *line, char **words)
{
    struct mz_list all = {0};
    const char *language = NULL;
    size_t inputs = 0;
    *line = (struct mz_cc_line){.stage = MZ_CC_LINK};
    int status = expand(&all, words, AT_FILES_DEPTH);
    for (size_t i = 0; status == 0 && i < all.count;)
        i += (size_t)add_words(line, mz_list_argv(&all) + i, &language, &status);
    for (size_t i = 0; i < line->count; i++)
        inputs += line->words[i].kind == MZ_CC_SOURCE || line->words[i].kind == MZ_CC_OBJECT ||
                  starts(line->words[i].text, "-l");
    if (status == 0) status = refuse_static(line);
    if (inputs == 0) line->stage = MZ_CC_NOTHING;
    if (status == 0) note_ndebug(line);
    mz_list_release(&all);
    return status;
}

void mz_cc_line_append(struct mz_list *to, const struct mz_cc_word *word)
{
    mz_list_add(to, word->text);
    if (word->value) mz_list_add(to, word->value);
}

void mz_cc_line_release(struct mz_cc_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        free(line->words[i].text);
        free(line->words[i].value);
    }
    free(line->words);
    mz_list_release(&line->notes);
    *line = (struct mz_cc_line){0};
}
