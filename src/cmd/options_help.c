/* The table of options as text: --help, the list in the manual, completion in bash. See options.h. */
#include "cmd/option_table.h"

#include <string.h>

static bool is_listed(const struct mz_option *o, enum mz_for command)
{
    return (o->commands & (unsigned)command) && o->store != mz_option_not_yet;
}

static void add_synopsis(struct mz_strbuf *out, const struct mz_option *o)
{
    if (o->letter && o->argument) mz_strbuf_addf(out, "-%c %s, ", o->letter, o->argument);
    if (o->letter && !o->argument) mz_strbuf_addf(out, "-%c, ", o->letter);
    mz_strbuf_addf(out, "--%s", o->name);
    if (o->takes == MZ_TAKES_VALUE) mz_strbuf_addf(out, "=%s", o->argument);
    if (o->takes == MZ_TAKES_MAYBE) mz_strbuf_addf(out, "[=%s]", o->argument);
}

/* Add text that starts at column `indent`, wrapped before column 80. */
static void add_wrapped(struct mz_strbuf *out, const char *text, size_t indent)
{
    size_t column = indent;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column + n + 1 > 79) {
            mz_strbuf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        mz_strbuf_addf(out, "%s%.*s", column > indent ? " " : "", (int)n, text);
        column += n + (column > indent);
        text += n;
        text += strspn(text, " ");
    }
    mz_strbuf_addc(out, '\n');
}

void mz_options_help(struct mz_strbuf *out, enum mz_for command)
{
    const size_t indent = 28;
    for (size_t i = 0; i < mz_option_table_size; i++) {
        struct mz_strbuf synopsis = {0};
        if (!is_listed(&mz_option_table[i], command)) continue;
        mz_strbuf_add(&synopsis, "  ");
        add_synopsis(&synopsis, &mz_option_table[i]);
        mz_strbuf_add(out, mz_strbuf_text(&synopsis));
        if (synopsis.length + 1 > indent)
            mz_strbuf_addf(out, "\n%*s", (int)indent, "");
        else
            mz_strbuf_repeat(out, ' ', indent - synopsis.length);
        add_wrapped(out, mz_option_table[i].help, indent);
        mz_strbuf_release(&synopsis);
    }
}

/* ---- the manual ---- */

static void add_escaped(struct mz_strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') mz_strbuf_addc(out, '\\');
        mz_strbuf_addc(out, *text);
    }
}

void mz_options_man(struct mz_strbuf *out)
{
    for (size_t i = 0; i < mz_option_table_size; i++) {
        struct mz_strbuf synopsis = {0};
        if (mz_option_table[i].store == mz_option_not_yet) continue;
        add_synopsis(&synopsis, &mz_option_table[i]);
        mz_strbuf_add(out, ".TP\n.B ");
        add_escaped(out, mz_strbuf_text(&synopsis));
        mz_strbuf_addc(out, '\n');
        if (!(mz_option_table[i].commands & MZ_FOR_CHECK))
            mz_strbuf_addf(out, "(%s) ", mz_option_table[i].commands & MZ_FOR_REPLAY ? "replay" : "show");
        add_escaped(out, mz_option_table[i].help);
        mz_strbuf_addc(out, '\n');
        mz_strbuf_release(&synopsis);
    }
}

/* ---- completion in bash ---- */

/* --name for a flag, --name= for an option that needs a value. */
static void add_names(struct mz_strbuf *out, enum mz_for command)
{
    for (size_t i = 0, n = 0; i < mz_option_table_size; i++) {
        const struct mz_option *o = &mz_option_table[i];
        if (!is_listed(o, command)) continue;
        mz_strbuf_addf(out, "%s--%s%s", n++ ? " " : "", o->name, o->takes == MZ_TAKES_VALUE ? "=" : "");
    }
}

static void add_words(struct mz_strbuf *out)
{
    for (size_t i = 0; i < mz_option_table_size; i++) {
        const struct mz_option *o = &mz_option_table[i];
        if (!o->words) continue;
        mz_strbuf_addf(out, "    --%s) words=\"", o->name);
        for (size_t k = 0; o->words[k]; k++) mz_strbuf_addf(out, "%s%s", k ? " " : "", o->words[k]);
        mz_strbuf_add(out, "\" ;;\n");
    }
}

/* bash splits --heap=re into three words: --heap, =, re. Without a suggestion of ours, bash completes file names. */
static const char completion_head[] =
    "# Completion for bash. Written by `mazurka help --bash-completion`.\n"
    "_mazurka()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option= words=\n"
    "    if [ \"$word\" = = ]; then option=$before word=\n"
    "    elif [ \"$before\" = = ]; then option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    case $COMP_CWORD:$option:${COMP_WORDS[1]}:$word in\n";
static const char completion_middle[] = "    esac\n"
                                        "    case $option in\n";
static const char completion_tail[] =
    "    esac\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    "    case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
    "}\n"
    "complete -o default -F _mazurka mazurka\n";

void mz_options_completion(struct mz_strbuf *out, const char *commands)
{
    static const struct {
        const char *command;
        enum mz_for options;
    } with_options[] = {{"check", MZ_FOR_CHECK}, {"replay", MZ_FOR_REPLAY}, {"show", MZ_FOR_SHOW}};
    mz_strbuf_add(out, completion_head);
    mz_strbuf_addf(out, "    1:*) words=\"%s\" ;;\n", commands);
    mz_strbuf_addf(out, "    *::help:*) words=\"%s\" ;;\n", commands);
    for (size_t i = 0; i < sizeof with_options / sizeof *with_options; i++) {
        mz_strbuf_addf(out, "    *::%s:-*) words=\"", with_options[i].command);
        add_names(out, with_options[i].options);
        mz_strbuf_add(out, "\" ;;\n");
    }
    mz_strbuf_add(out, completion_middle);
    add_words(out);
    mz_strbuf_add(out, completion_tail);
}
