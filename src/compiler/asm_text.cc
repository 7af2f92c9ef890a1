/* What inline assembly does to memory: see asm_text.h.
 *
 * The text is split into instructions at ';' and at line ends. In AT&T syntax the last operand is the one
 * that is written; "8(%rax)" is memory; for "%0" the constraint says what it is. An unknown instruction with
 * an operand in memory counts as writing: the answer may say too much, never too little. */
#include "compiler/asm_text.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace
{

struct instruction {
    std::string name;
    std::vector<std::string> operands;
    bool locked;
};

bool starts_with(const std::string &s, const char *prefix)
{
    return s.compare(0, strlen(prefix), prefix) == 0;
}

bool is_one_of(const std::string &s, const char *const *list)
{
    for (; *list; list++)
        if (s == *list) return true;
    return false;
}

std::string trimmed(const std::string &s)
{
    size_t from = 0, to = s.size();
    while (from < to && isspace((unsigned char)s[from])) from++;
    while (to > from && isspace((unsigned char)s[to - 1])) to--;
    return s.substr(from, to - from);
}

/* Returns the AT&T side of {att|intel}; %{, %| and %} are characters of the instruction. */
std::string choose_dialect(const char *text)
{
    std::string out;
    bool inside = false, other = false;
    for (const char *p = text; *p; p++) {
        if (*p == '%' && (p[1] == '{' || p[1] == '|' || p[1] == '}')) {
            if (!other) out += p[1];
            p++;
        } else if (*p == '{' && !inside) {
            inside = true;
        } else if (*p == '|' && inside) {
            other = true;
        } else if (*p == '}' && inside) {
            inside = other = false;
        } else if (!other) {
            out += *p;
        }
    }
    return out;
}

/* Removes comments. On x86 a '#' always begins a comment; only in other architectures can it be part of an
 * operand. */
std::string without_comments(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        size_t end = i;
        if (!text.compare(i, 2, "/*"))
            end = text.find("*/", i) == std::string::npos ? text.size() : text.find("*/", i) + 2;
        else if (text[i] == '#')
            end = text.find('\n', i);
        if (end == std::string::npos) break;
        if (end > i) out += ' ', i = end;
        if (i < text.size()) out += text[i];
    }
    return out;
}

/* Splits the text into lines. "lock; addl" is one instruction on two lines of the template. */
std::vector<std::string> split_lines(const std::string &text)
{
    std::vector<std::string> lines;
    std::string line;
    for (const char *p = text.c_str();; p++) {
        if (*p && *p != ';' && *p != '\n') {
            line += *p;
            continue;
        }
        line = trimmed(line);
        if (!line.empty()) lines.push_back(line);
        line.clear();
        if (!*p) return lines;
    }
}

std::vector<std::string> split_operands(const std::string &text)
{
    std::vector<std::string> operands;
    std::string operand;
    int depth = 0;
    for (char c : text) {
        if (c == '(') depth++;
        if (c == ')') depth--;
        if (c == ',' && depth == 0) {
            operands.push_back(trimmed(operand));
            operand.clear();
        } else {
            operand += c;
        }
    }
    if (!trimmed(operand).empty()) operands.push_back(trimmed(operand));
    return operands;
}

/* Takes the first word of the line, in lower case. A label ends with its colon: "1:incl %0". */
std::string take_word(std::string &line)
{
    size_t end = 0;
    std::string word;
    while (end < line.size() && !isspace((unsigned char)line[end]) && (word.empty() || word.back() != ':'))
        word += (char)tolower((unsigned char)line[end++]);
    line = trimmed(line.substr(end));
    return word;
}

bool is_prefix(const std::string &word)
{
    static const char *const prefixes[] = {"rep",     "repe",     "repz",     "repne", "repnz", "data16",
                                           "notrack", "xacquire", "xrelease", "bnd",   NULL};
    return is_one_of(word, prefixes);
}

std::vector<instruction> parse(const char *text)
{
    std::vector<instruction> all;
    bool locked = false;
    for (std::string line : split_lines(without_comments(choose_dialect(text)))) {
        std::string word = take_word(line);
        while (word == "lock" || is_prefix(word) || (!word.empty() && word.back() == ':')) {
            if (word == "lock") locked = true;
            word = take_word(line);
        }
        if (word.empty()) continue;
        all.push_back({word, split_operands(line), locked});
        locked = false;
    }
    return all;
}

/* Is it %0, %w1 or %[name], and not %%eax? */
bool is_constraint(const std::string &operand)
{
    return operand.size() > 1 && operand[0] == '%' && operand[1] != '%' &&
           operand.find('(') == std::string::npos;
}

/* Does the operand name a place in memory? %a0 is the memory that the operand points to; %P0, %p0 and %c0 are
 * a symbol without '$'. */
bool is_place(const std::string &operand)
{
    return is_constraint(operand) && operand.size() > 2 && strchr("aPpc", operand[1]) &&
           isdigit((unsigned char)operand[2]);
}

bool is_memory(const std::string &operand)
{
    if (operand.empty() || operand[0] == '$') return false;
    return operand.find('(') != std::string::npos || (operand[0] != '%' && operand[0] != '*') ||
           is_place(operand);
}

/* Returns the number of %0, %w1; MZ_ASM_MANY if it is not known. */
unsigned number_of(const std::string &operand)
{
    size_t digits = operand.find_first_of("0123456789");
    if (digits > 2) return MZ_ASM_MANY; /* also if there is none: npos */
    return (unsigned)strtoul(operand.c_str() + digits, NULL, 10);
}

void set_written(struct mz_asm_text *t, const std::string &operand)
{
    unsigned n = number_of(operand);
    t->writes_operands = true;
    t->written |= n < MZ_ASM_MANY ? (uint64_t)1 << n : ~(uint64_t)0;
}

bool on_own_stack(const std::string &operand)
{
    return operand.find("(%%rsp)") != std::string::npos || operand.find("(%%esp)") != std::string::npos ||
           operand.find("(%rsp)") != std::string::npos || operand.find("(%esp)") != std::string::npos;
}

/* Instructions that write no operand in memory. */
bool only_reads(const std::string &name)
{
    static const char *const families[] = {"cmp",     "test", "lea", "prefetch", "j",
                                           "clflush", "clwb", "bt",  NULL};
    if (starts_with(name, "cmpxchg") || starts_with(name, "bts") || starts_with(name, "btr") ||
        starts_with(name, "btc"))
        return false;
    for (const char *const *f = families; *f; f++)
        if (starts_with(name, *f)) return true;
    return false;
}

/* Instructions without operands that do not access memory, or only the thread's own stack. */
bool is_harmless(const std::string &name)
{
    static const char *const names[] = {
        "nop",      "pause",   "cpuid",   "rdtsc",  "rdtscp", "rdpmc", "ret",      "retq",       "iretq",
        "leave",    "cld",     "std",     "clc",    "stc",    "cmc",   "cli",      "sti",        "hlt",
        "ud2",      "cltq",    "cltd",    "cqto",   "cqo",    "cdq",   "cdqe",     "cwtl",       "cwtd",
        "cbtw",     "cbw",     "cwde",    "cwd",    "emms",   "int3",  "vzeroall", "vzeroupper", "syscall",
        "sysenter", "endbr64", "endbr32", "xgetbv", "xsetbv", "xend",  "xtest",    "serialize",  "lahf",
        "sahf",     "swapgs",  "wbinvd",  "invd",   "rdmsr",  "wrmsr", "pushf",    "pushfq",     "popf",
        "popfq",    "wait",    "monitor", "mwait",  "stac",   "clac",  "clui",     "stui",       NULL};
    return is_one_of(name, names) || name[0] == 'f'; /* x87 */
}

/* Instructions that read memory without naming it. */
bool reads_implicitly(const instruction &i)
{
    static const char *const families[] = {"lods", "scas", "xlat", "outs", NULL};
    for (const char *const *f = families; *f; f++)
        if (starts_with(i.name, *f)) return true;
    return starts_with(i.name, "cmps") && i.operands.size() < 3; /* not cmpss, which has a constant operand */
}

/* Instructions that write memory without naming it. */
bool is_implicit(const std::string &name)
{
    static const char *const families[] = {"movs",   "stos",  "call",   "push",    "pop",   "ins",
                                           "clzero", "xsave", "fxsave", "maskmov", "enclu", NULL};
    if (starts_with(name, "movss") || starts_with(name, "movsd")) return name == "movsd";
    if (starts_with(name, "movsb") || starts_with(name, "movsw") || starts_with(name, "movsl"))
        return name.size() == 5; /* movsbl and the like extend a sign */
    for (const char *const *f = families; *f; f++)
        if (starts_with(name, *f)) return !starts_with(name, "push") && !starts_with(name, "pop");
    return false;
}

void add_locked(struct mz_asm_text *t, const instruction &i)
{
    bool stack = !i.operands.empty() && on_own_stack(i.operands.back());
    if (stack) {
        t->full_fence = true;
        return;
    }
    t->locked = true;
    for (const std::string &o : i.operands) {
        if (is_memory(o)) t->writes_elsewhere = true;
        if (is_constraint(o)) set_written(t, o);
    }
}

/* Directives that produce bytes of an instruction, or that expand to anything. */
bool makes_code(const std::string &directive)
{
    static const char *const names[] = {".byte",  ".word",         ".short", ".hword",   ".2byte",  ".4byte",
                                        ".8byte", ".int",          ".long",  ".quad",    ".octa",   ".insn",
                                        ".macro", ".irp",          ".irpc",  ".include", ".incbin", ".ascii",
                                        ".rept",  ".intel_syntax", NULL};
    return is_one_of(directive, names);
}

bool is_stack_pointer(const std::string &operand)
{
    return operand == "%%rsp" || operand == "%rsp" || operand == "%%esp" || operand == "%esp";
}

void add_plain(struct mz_asm_text *t, const instruction &i)
{
    if (is_implicit(i.name)) t->writes_elsewhere = true;
    if (reads_implicitly(i))
        t->reads_elsewhere = true;
    else if (i.operands.empty() && !is_harmless(i.name))
        t->writes_elsewhere = true; /* perhaps a macro */
    if (starts_with(i.name, "mov") && !i.operands.empty() && is_stack_pointer(i.operands.back()))
        t->writes_elsewhere = true; /* another stack */
    for (size_t k = 0; k < i.operands.size(); k++) {
        const std::string &o = i.operands[k];
        bool last = k + 1 == i.operands.size();
        if (starts_with(i.name, "lea") || on_own_stack(o)) continue;
        bool written = last && !only_reads(i.name);
        if (is_memory(o) && starts_with(i.name, "j")) continue; /* a label */
        if (is_memory(o) && written) t->writes_elsewhere = true;
        if (is_memory(o) && !written) t->reads_elsewhere = true;
        if (is_constraint(o) && written) set_written(t, o);
        if (is_constraint(o)) t->reads_operands = true;
    }
}

bool is_bit_instruction(const instruction &i)
{
    return starts_with(i.name, "bt") && i.operands.size() == 2 && i.operands[0][0] != '$';
}

void add(struct mz_asm_text *t, const instruction &i)
{
    if (is_bit_instruction(i)) t->any_bit = true;
    if (i.name == "mfence")
        t->full_fence = true;
    else if (i.name == "lfence")
        t->load_fence = true;
    else if (i.name == "sfence")
        t->store_fence = true;
    else if (i.locked || (starts_with(i.name, "xchg") && i.operands.size() == 2))
        add_locked(t, i);
    else
        add_plain(t, i);
}

/* Does this section hold code? ".text.hot"; ".fixup", "ax". */
bool is_code_section(const instruction &i)
{
    if (i.operands.empty()) return true;
    return starts_with(i.operands[0], ".text") ||
           (i.operands.size() > 1 && i.operands[1].find('x') != std::string::npos);
}

/* Follows which section the text is in: data in other sections is not code. */
class sections
{
  public:
    bool in_code() const { return here.back(); }
    void follow(const instruction &i)
    {
        if (i.name == ".pushsection") here.push_back(is_code_section(i));
        if (i.name == ".popsection" && here.size() > 1) here.pop_back();
        if (i.name == ".section") change(is_code_section(i));
        if (i.name == ".text") change(true);
        if (i.name == ".data" || i.name == ".bss") change(false);
        if (i.name == ".previous") change(before);
    }

  private:
    std::vector<bool> here = {true};
    bool before = true;
    void change(bool code)
    {
        before = here.back();
        here.back() = code;
    }
};

bool is_one_mov(const std::vector<instruction> &all)
{
    static const char *const names[] = {"mov", "movb", "movw", "movl", "movq", NULL};
    return all.size() == 1 && !all[0].locked && is_one_of(all[0].name, names) &&
           all[0].operands.size() == 2 && !is_memory(all[0].operands[0]) && !is_memory(all[0].operands[1]);
}

} // namespace

struct mz_asm_text mz_asm_text_read(const char *text)
{
    struct mz_asm_text t = {};
    sections s;
    std::vector<instruction> all = parse(text);
    for (const instruction &i : all) {
        s.follow(i);
        if (!s.in_code()) continue;
        if (i.name[0] != '.')
            add(&t, i);
        else if (makes_code(i.name))
            t.writes_elsewhere = true;
    }
    t.one_mov = is_one_mov(all);
    return t;
}

const char *mz_asm_outside(const char *text, bool *writes)
{
    struct mz_asm_text t = mz_asm_text_read(text);
    *writes = t.writes_elsewhere || t.locked;
    if (*writes) return "assembly outside of functions writes memory";
    return t.reads_elsewhere ? "assembly outside of functions reads memory" : NULL;
}
