/* Reading and writing the text of a model.
 *
 * One table, `syntax`, has for each operation its word and the shape of its operands. Parser and printer both
 * follow the shape, so they cannot disagree:
 *
 *     v m c s l o h an object of that kind   M   the mutex of a wait        t   a thread
 *     a b       an operand                   n   a constant (operand a)     R   a register (result), no arrow
 *     ?         a comparison                 +   arithmetic and operand b, optional
 *     T         the tag of a message         W   "and" or "or" and another comparison, optional
 *     =         the character itself         g   "goto" and a label         >   "->" and a register, optional
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/text.h"

static const struct {
    const char *word, *shape;
} syntax[MZ_MODEL_CODES] = {
    [MZ_MODEL_READ] = {"read", "v>"},
    [MZ_MODEL_WRITE] = {"write", "va"},
    [MZ_MODEL_ADD] = {"add", "va>"},
    [MZ_MODEL_XCHG] = {"xchg", "va>"},
    [MZ_MODEL_CAS] = {"cas", "vab>"},
    [MZ_MODEL_LOCK] = {"lock", "m"},
    [MZ_MODEL_TRYLOCK] = {"trylock", "m>"},
    [MZ_MODEL_UNLOCK] = {"unlock", "m"},
    [MZ_MODEL_WAIT] = {"wait", "cM"},
    [MZ_MODEL_SIGNAL] = {"signal", "c"},
    [MZ_MODEL_BROADCAST] = {"broadcast", "c"},
    [MZ_MODEL_SEM_WAIT] = {"sem_wait", "s"},
    [MZ_MODEL_SEM_POST] = {"sem_post", "s"},
    [MZ_MODEL_TIMEDWAIT] = {"timedwait", "cM>"},
    [MZ_MODEL_SEM_TRY] = {"sem_trywait", "s>"},
    [MZ_MODEL_SEM_VALUE] = {"sem_value", "s>"},
    [MZ_MODEL_RDLOCK] = {"rdlock", "l"},
    [MZ_MODEL_WRLOCK] = {"wrlock", "l"},
    [MZ_MODEL_TRYRDLOCK] = {"tryrdlock", "l>"},
    [MZ_MODEL_TRYWRLOCK] = {"trywrlock", "l>"},
    [MZ_MODEL_RWUNLOCK] = {"rwunlock", "l"},
    [MZ_MODEL_ONCE] = {"run_once", "og"},
    [MZ_MODEL_ONCE_END] = {"end_once", "o"},
    [MZ_MODEL_FUTEX_WAIT] = {"futex_wait", "va>"},
    [MZ_MODEL_FUTEX_TIMEDWAIT] = {"futex_timedwait", "va>"},
    [MZ_MODEL_FUTEX_WAKE] = {"futex_wake", "v"},
    [MZ_MODEL_FUTEX_WAKE_ALL] = {"futex_wake_all", "v"},
    [MZ_MODEL_SECTION] = {"begin_atomic", ""},
    [MZ_MODEL_SECTION_END] = {"end_atomic", ""},
    [MZ_MODEL_BUMP] = {"bump", "va"},
    [MZ_MODEL_AWAIT] = {"await", "v?aW"},
    [MZ_MODEL_SEND] = {"send", "hTa"},
    [MZ_MODEL_RECEIVE] = {"receive", "hT>"},
    [MZ_MODEL_TRY_RECEIVE] = {"try_receive", "hT>"},
    [MZ_MODEL_CHOOSE] = {"choose", "n>"},
    [MZ_MODEL_SPAWN] = {"spawn", "t"},
    [MZ_MODEL_JOIN] = {"join", "t"},
    [MZ_MODEL_ASSERT] = {"assert", "a?b"},
    [MZ_MODEL_LET] = {"let", "R=a+"},
    [MZ_MODEL_IF] = {"if", "a?bg"},
};
static const char *const relations[] = {"==", "!=", "<", ">", "+", "-"};
static const char *const kinds[MZ_MODEL_KINDS] = {"var", "mutex", "cond", "sem", "rwlock", "once", "chan"};
static const char *const joints[] = {[MZ_MODEL_AND] = "and", [MZ_MODEL_OR] = "or"};

/* Reading. */

#define MAX_WORDS 10

struct label {
    char name[MZ_MODEL_NAME];
    int index; /* of the operation after the label, or of the jump that names it */
};

struct parser {
    struct mz_model *m;
    struct mz_model_thread *thread; /* the thread being read, or NULL */
    struct label labels[MZ_MODEL_OPS], jumps[MZ_MODEL_OPS];
    int label_count, jump_count;
    char line[256];
    char *words[MAX_WORDS + 1]; /* of the line, NULL at the end */
    int next;                   /* word to read next */
    int number;                 /* of the line */
    char *error;
    size_t error_size;
};

static int fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct parser *p, const char *format, ...)
{
    va_list arguments;
    int n = snprintf(p->error, p->error_size, "line %d: ", p->number);
    va_start(arguments, format);
    if (n > 0 && (size_t)n < p->error_size)
        vsnprintf(p->error + n, p->error_size - (size_t)n, format, arguments);
    va_end(arguments);
    return -1;
}

static const char *word(struct parser *p) { return p->words[p->next] ? p->words[p->next++] : ""; }

static bool accept_word(struct parser *p, const char *w)
{
    if (!p->words[p->next] || strcmp(p->words[p->next], w) != 0) return false;
    p->next++;
    return true;
}

static bool is_name(const char *w)
{
    if (!isalpha((unsigned char)*w) && *w != '_') return false;
    for (const char *c = w; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return strlen(w) < MZ_MODEL_NAME;
}

static int parse_value(struct parser *p, const char *w, mz_model_value *value)
{
    char *end;
    long n = strtol(w, &end, 10);
    if (end == w || *end || n < INT16_MIN || n > INT16_MAX) return fail(p, "'%s' is not a small number", w);
    *value = (mz_model_value)n;
    return 0;
}

static bool register_number(const char *w, int *number)
{
    if (w[0] != 'r' || w[1] < '0' || w[1] >= '0' + MZ_MODEL_REGS || w[2]) return false;
    *number = w[1] - '0';
    return true;
}

static int parse_register(struct parser *p, uint8_t *result)
{
    const char *w = word(p);
    int number;
    if (!register_number(w, &number)) return fail(p, "'%s' is not a register (r0 to r3)", w);
    *result = (uint8_t)number;
    return 0;
}

static int parse_operand(struct parser *p, struct mz_model_operand *o)
{
    const char *w = word(p);
    int number;
    o->is_register = register_number(w, &number);
    if (!o->is_register) return parse_value(p, w, &o->value);
    o->value = (mz_model_value)number;
    return 0;
}

static int find_object(const struct mz_model *m, enum mz_model_kind kind, const char *name)
{
    for (int i = 0; i < m->object_count[kind]; i++)
        if (strcmp(m->name[kind][i], name) == 0) return i;
    return -1;
}

static int find_thread(const struct mz_model *m, const char *name)
{
    for (int t = 0; t < m->thread_count; t++)
        if (strcmp(m->threads[t].name, name) == 0) return t;
    return -1;
}

static int parse_object(struct parser *p, enum mz_model_kind kind, uint8_t *object)
{
    const char *w = word(p);
    int i = find_object(p->m, kind, w);
    if (i < 0) return fail(p, "no %s '%s'", kinds[kind], w);
    *object = (uint8_t)i;
    return 0;
}

static int parse_thread_name(struct parser *p, uint8_t *object)
{
    const char *w = word(p);
    int t = find_thread(p->m, w);
    if (t < 0) return fail(p, "no thread '%s'", w);
    *object = (uint8_t)t;
    return 0;
}

static int parse_relation(struct parser *p, int first, int last, uint8_t *relation)
{
    const char *w = word(p);
    for (int i = first; i <= last; i++) {
        if (strcmp(w, relations[i]) != 0) continue;
        *relation = (uint8_t)i;
        return 0;
    }
    return fail(p, "'%s' where an operator was expected", w);
}

static int parse_arithmetic(struct parser *p, struct mz_model_op *op)
{
    op->relation = MZ_MODEL_PLUS;
    if (!p->words[p->next]) return 0;
    if (parse_relation(p, MZ_MODEL_PLUS, MZ_MODEL_MINUS, &op->relation)) return -1;
    return parse_operand(p, &op->b);
}

static int parse_tag(struct parser *p, uint8_t *tag)
{
    mz_model_value value;
    if (parse_value(p, word(p), &value)) return -1;
    if (value < 0 || value >= MZ_MODEL_TAGS) return fail(p, "a tag is 0, 1 or 2");
    *tag = (uint8_t)value;
    return 0;
}

static int parse_joint(struct parser *p, struct mz_model_op *op)
{
    for (int joint = MZ_MODEL_AND; joint <= MZ_MODEL_OR; joint++)
        if (accept_word(p, joints[joint])) op->joint = (uint8_t)joint;
    if (op->joint == MZ_MODEL_ALONE) return 0;
    if (parse_object(p, MZ_MODEL_VAR, &op->mutex)) return -1;
    if (parse_relation(p, MZ_MODEL_EQ, MZ_MODEL_GT, &op->relation2)) return -1;
    return parse_operand(p, &op->b);
}

static int parse_jump(struct parser *p)
{
    if (!accept_word(p, "goto")) return fail(p, "'goto' expected");
    const char *w = word(p);
    if (!is_name(w)) return fail(p, "'%s' is not a label", w);
    struct label *jump = &p->jumps[p->jump_count++];
    snprintf(jump->name, sizeof jump->name, "%s", w);
    jump->index = p->thread->length;
    return 0;
}

static int parse_part(struct parser *p, char shape, struct mz_model_op *op)
{
    switch (shape) {
    case 'v':
        return parse_object(p, MZ_MODEL_VAR, &op->object);
    case 'm':
        return parse_object(p, MZ_MODEL_MUTEX, &op->object);
    case 'c':
        return parse_object(p, MZ_MODEL_COND, &op->object);
    case 's':
        return parse_object(p, MZ_MODEL_SEM, &op->object);
    case 'l':
        return parse_object(p, MZ_MODEL_RWLOCK, &op->object);
    case 'o':
        return parse_object(p, MZ_MODEL_ONCES, &op->object);
    case 'h':
        return parse_object(p, MZ_MODEL_CHAN, &op->object);
    case 'T':
        return parse_tag(p, &op->mutex);
    case 'W':
        return parse_joint(p, op);
    case 'M':
        return parse_object(p, MZ_MODEL_MUTEX, &op->mutex);
    case 't':
        return parse_thread_name(p, &op->object);
    case 'a':
        return parse_operand(p, &op->a);
    case 'b':
        return parse_operand(p, &op->b);
    case 'n':
        return parse_value(p, word(p), &op->a.value);
    case 'R':
        return parse_register(p, &op->result);
    case '?':
        return parse_relation(p, MZ_MODEL_EQ, MZ_MODEL_GT, &op->relation);
    case '=':
        return accept_word(p, "=") ? 0 : fail(p, "'=' expected");
    case '+':
        return parse_arithmetic(p, op);
    case 'g':
        return parse_jump(p);
    default:
        return accept_word(p, "->") ? parse_register(p, &op->result) : 0;
    }
}

static int parse_op(struct parser *p)
{
    const char *w = word(p);
    int code = 0;
    while (code < MZ_MODEL_CODES && strcmp(w, syntax[code].word) != 0) code++;
    if (code == MZ_MODEL_CODES) return fail(p, "'%s' is not an operation", w);
    if (!p->thread) return fail(p, "an operation outside of any thread");
    if (p->thread->length == MZ_MODEL_OPS) return fail(p, "more than %d operations", MZ_MODEL_OPS);
    struct mz_model_op op = {.code = (uint8_t)code, .result = MZ_MODEL_NOWHERE};
    for (const char *shape = syntax[code].shape; *shape; shape++)
        if (parse_part(p, *shape, &op)) return -1;
    p->thread->ops[p->thread->length++] = op;
    return 0;
}

/* At the end of a thread: finds the targets of its jumps. */
static int resolve_jumps(struct parser *p)
{
    for (int i = 0; i < p->jump_count; i++) {
        int target = -1;
        for (int j = 0; j < p->label_count; j++)
            if (strcmp(p->labels[j].name, p->jumps[i].name) == 0) target = p->labels[j].index;
        if (target < 0) return fail(p, "no label '%s' in thread %s", p->jumps[i].name, p->thread->name);
        p->thread->ops[p->jumps[i].index].target = (uint8_t)target;
    }
    p->jump_count = p->label_count = 0;
    return 0;
}

static int parse_label(struct parser *p, const char *w)
{
    char name[sizeof p->line];
    snprintf(name, sizeof name, "%.*s", (int)strlen(w) - 1, w);
    if (!is_name(name)) return fail(p, "'%s' is not a name", name);
    if (!p->thread || p->label_count == MZ_MODEL_OPS)
        return fail(p, "too many labels, or a label outside of a thread");
    struct label *label = &p->labels[p->label_count++];
    memcpy(label->name, name, sizeof label->name);
    label->index = p->thread->length;
    return 0;
}

static int parse_declaration(struct parser *p, enum mz_model_kind kind)
{
    struct mz_model *m = p->m;
    const char *w = word(p);
    int i = m->object_count[kind], number;
    if (!is_name(w) || register_number(w, &number)) return fail(p, "'%s' is not a name", w);
    if (find_object(m, kind, w) >= 0) return fail(p, "%s '%s' is declared twice", kinds[kind], w);
    if (i == MZ_MODEL_OBJECTS) return fail(p, "more than %d of one kind", MZ_MODEL_OBJECTS);
    snprintf(m->name[kind][i], MZ_MODEL_NAME, "%s", w);
    m->object_count[kind]++;
    bool has_value = kind == MZ_MODEL_VAR || kind == MZ_MODEL_SEM || kind == MZ_MODEL_RWLOCK;
    if (has_value && accept_word(p, "=")) return parse_value(p, word(p), &m->initial[kind][i]);
    return 0;
}

static int parse_line(struct parser *p)
{
    const char *first = p->words[0];
    if (!first) return 0;
    if (accept_word(p, "thread")) {
        if (resolve_jumps(p)) return -1;
        p->thread = &p->m->threads[find_thread(p->m, word(p))];
        return 0;
    }
    for (int k = 0; k < MZ_MODEL_KINDS; k++)
        if (accept_word(p, kinds[k])) return parse_declaration(p, (enum mz_model_kind)k);
    if (first[strlen(first) - 1] == ':') {
        p->next++;
        return parse_label(p, first);
    }
    return parse_op(p);
}

/* Collects the names of threads first, because spawn and join may name a thread before its definition. */
static int declare_thread(struct parser *p)
{
    struct mz_model *m = p->m;
    if (!accept_word(p, "thread")) return 0;
    const char *w = word(p);
    if (!is_name(w)) return fail(p, "'%s' is not a name", w);
    if (find_thread(m, w) >= 0) return fail(p, "thread '%s' is declared twice", w);
    if (m->thread_count == MZ_MODEL_THREADS) return fail(p, "more than %d threads", MZ_MODEL_THREADS);
    snprintf(m->threads[m->thread_count++].name, MZ_MODEL_NAME, "%s", w);
    return 0;
}

static int split_line(struct parser *p, const char *start, size_t length)
{
    int count = 0;
    char *rest = NULL;
    if (length >= sizeof p->line) return fail(p, "the line is too long");
    memcpy(p->line, start, length);
    p->line[length] = '\0';
    p->line[strcspn(p->line, "#")] = '\0';
    for (char *w = strtok_r(p->line, " \t\r", &rest); w; w = strtok_r(NULL, " \t\r", &rest)) {
        if (count == MAX_WORDS) return fail(p, "the line has too many words");
        p->words[count++] = w;
    }
    p->words[count] = NULL;
    p->next = 0;
    return 0;
}

static int each_line(struct parser *p, const char *text, int (*parse)(struct parser *), bool whole)
{
    p->number = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        p->number++;
        if (split_line(p, text, length) || parse(p)) return -1;
        if (whole && p->words[p->next])
            return fail(p, "unexpected '%s' at the end of the line", p->words[p->next]);
        text += length + (text[length] == '\n');
    }
    return 0;
}

int mz_model_parse(const char *text, struct mz_model *m, char *error, size_t error_size)
{
    struct parser p = {.m = m, .error = error, .error_size = error_size};
    memset(m, 0, sizeof *m);
    if (each_line(&p, text, declare_thread, false)) return -1;
    if (each_line(&p, text, parse_line, true) || resolve_jumps(&p)) return -1;
    const char *wrong = mz_model_check(m);
    if (wrong) snprintf(error, error_size, "%s", wrong);
    return wrong ? -1 : 0;
}

/* Writing. */

struct printer {
    char *text;
    size_t size, length;
};

static void put(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct printer *p, const char *format, ...)
{
    va_list arguments;
    size_t room = p->length < p->size ? p->size - p->length : 0;
    va_start(arguments, format);
    int n = vsnprintf(room ? p->text + p->length : NULL, room, format, arguments);
    va_end(arguments);
    if (n > 0) p->length += (size_t)n;
}

static void put_operand(struct printer *p, const struct mz_model_operand *o)
{
    put(p, o->is_register ? " r%d" : " %d", o->value);
}

static void put_part(struct printer *p, const struct mz_model *m, char shape, const struct mz_model_op *op)
{
    switch (shape) {
    case 'v':
        put(p, " %s", m->name[MZ_MODEL_VAR][op->object]);
        break;
    case 'm':
        put(p, " %s", m->name[MZ_MODEL_MUTEX][op->object]);
        break;
    case 'c':
        put(p, " %s", m->name[MZ_MODEL_COND][op->object]);
        break;
    case 's':
        put(p, " %s", m->name[MZ_MODEL_SEM][op->object]);
        break;
    case 'l':
        put(p, " %s", m->name[MZ_MODEL_RWLOCK][op->object]);
        break;
    case 'o':
        put(p, " %s", m->name[MZ_MODEL_ONCES][op->object]);
        break;
    case 'h':
        put(p, " %s", m->name[MZ_MODEL_CHAN][op->object]);
        break;
    case 'T':
        put(p, " %d", op->mutex);
        break;
    case 'W':
        if (op->joint == MZ_MODEL_ALONE) break;
        put(p, " %s %s %s", joints[op->joint], m->name[MZ_MODEL_VAR][op->mutex], relations[op->relation2]);
        put_operand(p, &op->b);
        break;
    case 'M':
        put(p, " %s", m->name[MZ_MODEL_MUTEX][op->mutex]);
        break;
    case 't':
        put(p, " %s", m->threads[op->object].name);
        break;
    case 'a':
        put_operand(p, &op->a);
        break;
    case 'b':
        put_operand(p, &op->b);
        break;
    case 'n':
        put(p, " %d", op->a.value);
        break;
    case 'R':
        put(p, " r%d", op->result);
        break;
    case '?':
        put(p, " %s", relations[op->relation]);
        break;
    case '=':
        put(p, " =");
        break;
    case '+':
        if (op->relation == MZ_MODEL_PLUS && !op->b.is_register && op->b.value == 0) break;
        put(p, " %s", relations[op->relation]);
        put_operand(p, &op->b);
        break;
    case 'g':
        put(p, " goto l%d", op->target);
        break;
    default:
        if (op->result != MZ_MODEL_NOWHERE) put(p, " -> r%d", op->result);
    }
}

static void put_label(struct printer *p, const struct mz_model_thread *t, int i)
{
    for (int j = 0; j < t->length; j++) {
        if (!mz_model_jumps(t->ops[j].code) || t->ops[j].target != i) continue;
        put(p, "l%d:\n", i);
        return;
    }
}

static void put_thread(struct printer *p, const struct mz_model *m, const struct mz_model_thread *t)
{
    put(p, "\nthread %s\n", t->name);
    for (int i = 0; i < t->length; i++) {
        put_label(p, t, i);
        put(p, "    %s", syntax[t->ops[i].code].word);
        for (const char *s = syntax[t->ops[i].code].shape; *s; s++) put_part(p, m, *s, &t->ops[i]);
        put(p, "\n");
    }
    put_label(p, t, t->length);
}

size_t mz_model_print(const struct mz_model *m, char *text, size_t size)
{
    struct printer p = {text, size, 0};
    if (size) text[0] = '\0';
    for (int k = 0; k < MZ_MODEL_KINDS; k++)
        for (int i = 0; i < m->object_count[k]; i++) {
            put(&p, "%s %s", kinds[k], m->name[k][i]);
            put(&p, m->initial[k][i] ? " = %d\n" : "\n", m->initial[k][i]);
        }
    for (int t = 0; t < m->thread_count; t++) put_thread(&p, m, &m->threads[t]);
    return p.length;
}
