/* What inline assembly does to memory: see asm_text.h.
 *
 * The text is split into instructions at ';' and at line ends. In AT&T syntax the last operand is the one that
 * is written; "8(%rax)" is memory, "%0" and "%[name]" are whatever the constraint says. What this file does
 * not know counts as writing, if it has an operand in memory: the answer may say too much, never too little. */
#include "asm_text.h"

#include <cctype>
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

/* "lock; addl" is one instruction on two lines of the template. */
std::vector<std::string> split_lines(const char *text)
{
    std::vector<std::string> lines;
    std::string line;
    for (const char *p = text;; p++) {
        if (*p && *p != ';' && *p != '\n') {
            line += *p;
            continue;
        }
        line = trimmed(line);
        if (!line.empty() && line[0] != '#') lines.push_back(line);
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

std::string take_word(std::string &line)
{
    size_t end = 0;
    while (end < line.size() && !isspace((unsigned char)line[end])) end++;
    std::string word = line.substr(0, end);
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
    for (std::string line : split_lines(text)) {
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

bool is_memory(const std::string &operand)
{
    if (operand.empty() || operand[0] == '$') return false;
    return operand.find('(') != std::string::npos || (operand[0] != '%' && operand[0] != '*');
}

/* %0, %w1, %[name], %a0; not %%eax. */
bool is_constraint(const std::string &operand)
{
    return operand.size() > 1 && operand[0] == '%' && operand[1] != '%' &&
           operand.find('(') == std::string::npos;
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

/* Instructions that touch memory without naming it. */
bool is_implicit(const std::string &name)
{
    static const char *const families[] = {"movs", "stos",  "call",   "push",    "pop",   "ins",
                                           "outs", "xsave", "fxsave", "maskmov", "enclu", NULL};
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
        if (is_constraint(o)) t->writes_operands = true;
    }
}

void add_plain(struct mz_asm_text *t, const instruction &i)
{
    if (i.name[0] == '.') return; /* a directive */
    if (is_implicit(i.name)) t->writes_elsewhere = true;
    for (size_t k = 0; k < i.operands.size(); k++) {
        const std::string &o = i.operands[k];
        bool last = k + 1 == i.operands.size();
        if (starts_with(i.name, "lea") || on_own_stack(o)) continue;
        bool written = last && !only_reads(i.name);
        if (is_memory(o) && starts_with(i.name, "j")) continue; /* a label */
        if (is_memory(o) && written) t->writes_elsewhere = true;
        if (is_memory(o) && !written) t->reads_elsewhere = true;
        if (is_constraint(o) && written) t->writes_operands = true;
        if (is_constraint(o)) t->reads_operands = true;
    }
}

void add(struct mz_asm_text *t, const instruction &i)
{
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

} // namespace

struct mz_asm_text mz_asm_text_read(const char *text)
{
    struct mz_asm_text t = {};
    for (const instruction &i : parse(text)) add(&t, i);
    return t;
}
