/* What a trace asks for: see vet.h. The lists name everything that is allowed; other features of a compiler are
 * refused. */
#define _GNU_SOURCE
#include "cmd/vet.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/message.h"
#include "base/strbuf.h"
#include "build/command_line.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define NAME     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool starts(const char *word, const char *prefix) { return !strncmp(word, prefix, strlen(prefix)); }

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, list[i])) return true;
    return false;
}

/* Does it contain only these characters? */
static bool consists_of(const char *text, const char *characters)
{
    return text[strspn(text, characters)] == '\0';
}

/* ---- compilers ---- */

const char *mz_vet_compiler(const struct mz_recipe *r)
{
    static const char *const names[] = {"cc", "gcc", "clang", "c++", "g++", "clang++"};
    if (!r->compiler) return NULL;
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (strncmp(r->compiler, names[i], n) != 0) continue;
        const char *version = r->compiler + n;
        if (!*version || (*version == '-' && consists_of(version + 1, "0123456789."))) return r->compiler;
    }
    return NULL;
}

/* ---- flags ---- */

static bool is_safe_f(const char *word)
{
    static const char *const values[] = {"-fvisibility=",
                                         "-ffp-contract=",
                                         "-fsanitize=",
                                         "-fno-sanitize=",
                                         "-fstack-protector",
                                         "-finput-charset=",
                                         "-fexec-charset=",
                                         "-ftemplate-depth=",
                                         "-fmax-errors=",
                                         "-fmessage-length=",
                                         "-fconstexpr-depth=",
                                         "-fconstexpr-steps=",
                                         "-fdiagnostics-color=",
                                         "-fabi-version=",
                                         "-fpack-struct=",
                                         "-fcf-protection=",
                                         "-ftls-model=",
                                         "-fno-builtin-",
                                         "-falign-",
                                         "-frandom-seed=",
                                         "-fwide-exec-charset=",
                                         "-ftabstop=",
                                         "-fstrict-flex-arrays=",
                                         "-ferror-limit="};
    static const char *const linkers[] = {"-fuse-ld=bfd", "-fuse-ld=gold", "-fuse-ld=lld", "-fuse-ld=mold"};
    static const char *const writing[] = {"-fprofile",
                                          "-fdump",
                                          "-fcallgraph",
                                          "-fstack-usage",
                                          "-fsave-",
                                          "-ftest-",
                                          "-fplugin",
                                          "-fpass",
                                          "-fmodule",
                                          "-fcompare-debug",
                                          "-fbranch-",
                                          "-ftime-",
                                          "-fcs-",
                                          "-fcoverage-",
                                          "-fmem",
                                          "-fprebuilt",
                                          "-fbuild",
                                          "-fembed",
                                          "-foffload",
                                          "-fcrash",
                                          "-fload",
                                          "-fexperimental",
                                          "-fauto",
                                          "-fcreate",
                                          "-fimplicit-module",
                                          "-fdiagnostics-add",
                                          "-fdebug-",
                                          "-frecord"};
    if (is_one_of(word, linkers, COUNT(linkers))) return true;
    for (size_t i = 0; i < COUNT(values); i++)
        if (starts(word, values[i])) return consists_of(word + strlen(values[i]), NAME "_-,.=");
    for (size_t i = 0; i < COUNT(writing); i++)
        if (starts(word, writing[i])) return false;
    return consists_of(word, NAME "-");
}

/* Options for the linker, without what introduces them. */
static bool is_safe_link_option(const char *word)
{
    static const char *const exact[] = {"--as-needed",
                                        "--no-as-needed",
                                        "--whole-archive",
                                        "--no-whole-archive",
                                        "--start-group",
                                        "--end-group",
                                        "--push-state",
                                        "--pop-state",
                                        "--export-dynamic",
                                        "-E",
                                        "-Bstatic",
                                        "-Bdynamic",
                                        "-z",
                                        "now",
                                        "relro",
                                        "noexecstack",
                                        "defs",
                                        "lazy",
                                        "--gc-sections",
                                        "--no-gc-sections",
                                        "--build-id",
                                        "--allow-multiple-definition",
                                        "-O1",
                                        "-O2",
                                        "-O3"};
    if (is_one_of(word, exact, COUNT(exact))) return true;
    return starts(word, "--wrap=") && consists_of(word + strlen("--wrap="), NAME "_.$@");
}

static bool is_safe_link_list(const char *list)
{
    char *copy = mz_memory_string(list), *rest = copy, *word;
    bool safe = true;
    while ((word = strsep(&rest, ","))) safe = safe && is_safe_link_option(word);
    free(copy);
    return safe;
}

/* With the directory or file that the compiler reads, or a name. */
static bool is_safe_with_value(const char *word)
{
    static const char *const options[] = {"-D",
                                          "-U",
                                          "-I",
                                          "-L",
                                          "-include",
                                          "-imacros",
                                          "-isystem",
                                          "-iquote",
                                          "-idirafter",
                                          "-u",
                                          "--include",
                                          "--define-macro",
                                          "--undefine-macro",
                                          "--include-directory",
                                          "--library-directory"};
    return is_one_of(word, options, COUNT(options));
}

/* A macro can put any code into the program, or another name for a function: NAME, NAME=number, NAME=CONSTANT and types. */
static bool is_safe_macro(const char *text)
{
    static const char *const types[] = {"char",     "short",  "int",   "long",
                                        "unsigned", "signed", "float", "double"};
    size_t name = strspn(text, NAME "_");
    const char *value = text + name + 1;
    if (!name || text[name] == '\0') return name > 0;
    if (text[name] != '=') return false;
    if (consists_of(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") || is_one_of(value, types, COUNT(types)))
        return true;
    if (*value == '-') value++;
    return value[0] >= '0' && value[0] <= '9' && consists_of(value, NAME ".");
}

static bool is_safe_word(const char *word)
{
    static const char *const exact[] = {
        "-ansi",     "-w",          "-pipe",      "-pthread",       "-pthreads",
        "-rdynamic", "-undef",      "-pie",       "-no-pie",        "-s",
        "-nostdinc", "-nostdinc++", "-trigraphs", "-static-libgcc", "-static-libstdc++",
        "-symbolic", "-H"};
    if (is_one_of(word, exact, COUNT(exact))) return true;
    if (starts(word, "-std=") || starts(word, "--std=")) return consists_of(word + 5, NAME "+:=");
    if (starts(word, "-l")) return consists_of(word + 2, NAME "_+.-:");
    if (starts(word, "-Wl,")) return is_safe_link_list(word + 4);
    if (starts(word, "-Wa,") || starts(word, "-Wp,")) return false;
    if (starts(word, "-W")) return consists_of(word, NAME "-+=,_");
    if (starts(word, "-O")) return consists_of(word, NAME "-");
    if (starts(word, "-g")) return consists_of(word, NAME "-=") && !starts(word, "-gcc");
    if (starts(word, "-m")) return consists_of(word, NAME "-=._+,") && strcmp(word, "-mllvm") != 0;
    if (starts(word, "-f")) return is_safe_f(word);
    if (starts(word, "-pedantic")) return consists_of(word, NAME "-");
    if (starts(word, "-D")) return is_safe_macro(word + 2);
    return starts(word, "-U") || starts(word, "-I") || starts(word, "-L");
}

static bool is_safe_flag(const struct mz_cc_word *w)
{
    if (!w->value) return is_safe_word(w->text);
    if (!strcmp(w->text, "-Xlinker")) return is_safe_link_option(w->value);
    if (!strcmp(w->text, "-l")) return consists_of(w->value, NAME "_+.-:");
    if (!strcmp(w->text, "--param")) return consists_of(w->value, NAME "-=_");
    if (!strcmp(w->text, "-z")) return is_safe_link_option(w->value);
    if (!strcmp(w->text, "-D") || !strcmp(w->text, "--define-macro")) return is_safe_macro(w->value);
    return is_safe_with_value(w->text);
}

/* ---- the whole recipe ---- */

static int needs_trust(const char *trace, const char *what, const char *why)
{
    return mz_fail("%s: %s %s: look at it, then say so: mazurka replay --trust %s", trace, what, why, trace);
}

/* Does the file belong to another user, who may have put it there for us? A missing file is reported later. */
static int check_owner(const char *trace, const char *path)
{
    struct stat s;
    if (stat(path, &s) < 0 || s.st_uid == geteuid() || s.st_uid == 0) return 0;
    return needs_trust(trace, path, "belongs to another user");
}

/* What the compiler reads there becomes code that runs: no other user may be able to write there. */
static int check_read(const char *trace, const char *path)
{
    struct stat s;
    int status = check_owner(trace, path);
    if (status == 0 && stat(path, &s) == 0 && S_ISDIR(s.st_mode) && (s.st_mode & S_IWOTH))
        status = needs_trust(trace, path, "is a directory that everybody can write to");
    return status;
}

/* The file or directory that a flag makes the compiler or linker read; NULL: none. */
static const char *read_by(const struct mz_cc_word *w)
{
    static const char *const joined[] = {"-I", "-L"};
    static const char *const names[] = {"-D", "-U", "-u", "-l", "-z", "--define-macro", "--undefine-macro"};
    if (w->value) return w->text[0] == '-' && !is_one_of(w->text, names, COUNT(names)) ? w->value : NULL;
    for (size_t i = 0; i < COUNT(joined); i++)
        if (starts(w->text, joined[i]) && w->text[strlen(joined[i])]) return w->text + strlen(joined[i]);
    return NULL;
}

static int check_word(const char *trace, const struct mz_cc_word *w)
{
    static const char *const languages[] = {"c", "c++", "none", "assembler", "assembler-with-cpp"};
    bool safe = false;
    switch (w->kind) {
    case MZ_CC_SOURCE:
    case MZ_CC_OBJECT:
        return check_owner(trace, w->text);
    case MZ_CC_LANGUAGE:
        safe = is_one_of(w->value, languages, COUNT(languages));
        break;
    case MZ_CC_FLAG:
    case MZ_CC_LINK_FLAG:
        safe = is_safe_flag(w);
        break;
    default: /* they write files */
        break;
    }
    if (safe) return read_by(w) ? check_read(trace, read_by(w)) : 0;
    char *what =
        mz_format("the flag %s%s%s of the trace", w->text, w->value ? " " : "", w->value ? w->value : "");
    int status = needs_trust(trace, what, "may run programs or write files");
    free(what);
    return status;
}

static int check_words(const char *trace, const struct mz_list *words)
{
    struct mz_cc_line line;
    struct mz_list copy = {0};
    mz_list_append(&copy, words);
    /* The file could be replaced before the compiler starts. */
    for (size_t i = 0; i < words->count; i++)
        if (words->items[i][0] == '@')
            return mz_list_release(&copy),
                   needs_trust(trace, words->items[i], "may name flags that run programs");
    int status = mz_cc_line_parse(&line, mz_list_argv(&copy));
    for (size_t i = 0; status == 0 && i < line.count; i++) status = check_word(trace, &line.words[i]);
    mz_cc_line_release(&line);
    mz_list_release(&copy);
    return status;
}

int mz_vet_recipe(const char *trace, const struct mz_recipe *r)
{
    int status = check_owner(trace, ".");
    if (status == 0 && r->binary) return check_owner(trace, r->binary);
    return status == 0 ? check_words(trace, &r->build) : status;
}
