/* The parsed command line of a compiler: which words are sources, which are flags, and what the compiler shall make. */
#ifndef MZ_BUILD_COMMAND_LINE_H
#define MZ_BUILD_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/list.h"

enum mz_cc_stage {
    MZ_CC_NOTHING,    /* no input: --version, -print-search-dirs and the like */
    MZ_CC_PREPROCESS, /* -E, -M, -MM */
    MZ_CC_COMPILE,    /* -c, -S, -fsyntax-only */
    MZ_CC_LINK
};

enum mz_cc_kind {
    MZ_CC_FLAG,           /* for every stage */
    MZ_CC_LINK_FLAG,      /* -Wl,... -l...: not for compiling */
    MZ_CC_SOURCE,         /* a file to compile, or "-" */
    MZ_CC_OBJECT,         /* any other file: for the linker */
    MZ_CC_OUTPUT,         /* -o FILE */
    MZ_CC_LANGUAGE,       /* -x LANGUAGE */
    MZ_CC_STAGE,          /* -c and the like */
    MZ_CC_DEPENDENCY,     /* -MD -MMD */
    MZ_CC_DEPENDENCY_NAME /* -MF -MT -MQ */
};

struct mz_cc_word {
    enum mz_cc_kind kind;
    char *text;           /* as given, or with its value attached: "-ofile" is text "-o", value "file" */
    char *value;          /* the following word, where the option takes one; else NULL */
    const char *language; /* SOURCE: what -x said; NULL: by its name */
};

struct mz_cc_line {
    struct mz_cc_word *words;
    size_t count, capacity;
    enum mz_cc_stage stage;
    const char *output;   /* NULL: not given */
    struct mz_list notes; /* warnings for the user */
    size_t sources;
    bool cxx;         /* some source is C++ */
    bool optimizes;   /* some -O was given */
    bool relocatable; /* -r: nothing is linked in */
    bool shared;      /* -shared: a library */
};

/* Read the words, with @files. Refuse what mazurka cannot do; note what it leaves out. Return 0, or MZ_STATUS_FAILED
 * after one line. */
int mz_cc_line_parse(struct mz_cc_line *line, char **words);
void mz_cc_line_say_notes(const struct mz_cc_line *line);
void mz_cc_line_release(struct mz_cc_line *line);
void mz_cc_line_append(struct mz_list *to, const struct mz_cc_word *word);

/* Could this be an option of a compiler? This tells a mistyped option of ours from a flag. */
bool mz_cc_plausible_flag(const char *word);
/* Does the option take the next word as its value? */
bool mz_cc_takes_value(const char *word);
bool mz_cc_is_source_name(const char *name);

/* For a C++ compiler that compiles C and C++ files: keep C files in C. */
void mz_cc_line_keep_c(struct mz_cc_line *line);
/* Does the flag apply to this source? -std= is for one language only. */
bool mz_cc_is_for(const struct mz_cc_word *flag, const struct mz_cc_word *source);

#endif
