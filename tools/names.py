#!/usr/bin/env python3
"""Checks that every file and function that a comment or a page names exists.

    tools/names.py

Reads the comments of all C sources and all pages (*.md). Every file that they name (src/base/list.c, list.c, base/list.c,
docs/x.md) and every own function, type or macro (mz_..., MZ_...) must exist. In a page, only names in code marks
(`mz_explore_next`) and targets of links are checked. CHANGELOG.md describes the past and is left out.

A page that writes "`name` (`file`)" says that the file defines or declares the name. This is checked for ARCHITECTURE.md,
CONTRIBUTING.md and the pages of docs/. "`a` and `b` (`file`)" says it of both names; of "(`file1`, `file2`)" one file is enough.

Prints each name that does not exist or is not in its file, then "N passed, M failed": a source or a page passes if all its names are
right."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = re.compile(r"(?<![\w./<-])((?:[\w+-]+/)*[\w+-]+\.(?:c|h|cc|def|py|sh|md|awk|txt))(?![\w/])")
NAME = re.compile(r"(?<!\w)((?:mz|MZ)_[A-Za-z0-9_]+)(?!\w)")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
CODE = re.compile(r"`([^`\n]+)`|\]\(([^)#\s]+)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
# A pair: one or several names, then one or several files in parentheses.
MARKED = r"`(?:struct |enum )?[A-Za-z_]\w*(?:\(\))?`"
PAIR = re.compile(r"(%s(?:(?:,|,? and|,? or)\s+%s)*)\s+\((`[^`\n]+`(?:(?:,|,? and)\s+`[^`\n]+`)*)" % (MARKED, MARKED))
PAGES_WITH_PAIRS = re.compile(r"ARCHITECTURE\.md|CONTRIBUTING\.md|docs/.*\.md")
# Names that are examples: files of a user, or of another project.
EXAMPLES = {"my_test.c", "queue_test.c", "first.c", "f.c", "a.c", "b.c", "x.c", "file.c", "file.h", "long_file_name.c", "FILE.c", "NAME.c", "source_first.c"}


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [p for p in out.stdout.split("\n") if p and os.path.exists(os.path.join(ROOT, p))]


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as f:
        return f.read()


def comments(text):
    return "\n".join(m.group(0) for m in COMMENT.finditer(text) if m.group(0).startswith("/"))


def without_comments(text):
    return COMMENT.sub(lambda m: m.group(0) if m.group(0)[0] in "\"'" else " ", text)


def words_of_page(text):
    """What stands in code marks or behind a link; not the examples in fences."""
    return "\n".join(a or b for a, b in CODE.findall(FENCE.sub("", text)))


def is_in(name, text):
    """Does the C source or script define or declare the name? Definitions and prototypes of functions begin in the first column."""
    n = re.escape(name)
    return re.search(r"^(?:[A-Za-z_][^;={}\n]*[ *])?%s *\(|^#\s*define %s\b|^ *(?:def|class) %s\b|\b(?:struct|enum|union) %s *\{|"
                     r"^[A-Za-z_][^;={}()\n]*[ *]%s *(?:\[[^=]*)?[=;]|\(\*%s\)\(" % (n, n, n, n, n, n), text, re.M) is not None


def wrong_pairs(page, files):
    """Each (name, files) of a page where no file of the pair has the name."""
    wrong = []
    for names, places in PAIR.findall(FENCE.sub("", page)):
        sources = [f for f in re.findall(r"`([^`]+)`", places) if re.fullmatch(FILE.pattern, f) and f.endswith((".c", ".h", ".cc", ".def", ".py", ".sh"))]
        paths = [p for p in files if p in sources or p.endswith(tuple("/" + f for f in sources))] if sources else []
        texts = [without_comments(read(p)) for p in paths]
        for name in re.findall(r"(\w+)(?:\(\))?`", names):
            if texts and not any(is_in(name, t) for t in texts):
                wrong.append((name, ", ".join(sources)))
    return wrong


def main():
    files = tracked("*")
    endings = set()  # every ending of every path: "base/list.c" of "src/base/list.c"
    for path in files:
        parts = path.split("/")
        endings.update("/".join(parts[i:]) for i in range(len(parts)))
    sources = [p for p in files if re.search(r"\.(c|h|cc|cpp|def)$", p)]
    code = "\n".join(without_comments(read(p)) for p in sources) + "\n".join(
        read(p) for p in files if re.search(r"(Makefile|\.(sh|py|in))$", p) and not p.endswith("names.py"))
    known = set(NAME.findall(code))
    headers = set(re.findall(r"# *include *<([^>]+)>", code)) | {"fpu_control.h"}
    # Names that macros put together: MZ_OP_##name, mz_##name.
    stems = tuple(s for s in set(re.findall(r"\b((?:mz|MZ)_\w*?)##", code)) if len(s) > 4)
    prefixes = set()  # "mz_trace_" for `mz_trace_*`
    for name in known:
        parts = name.split("_")
        prefixes.update("_".join(parts[:i]) for i in range(2, len(parts)))
    passed = failed = 0
    for path in sources + [p for p in files if p.endswith(".md") and p != "CHANGELOG.md"]:
        page = read(path)
        text = words_of_page(page) if path.endswith(".md") else comments(page)
        here = os.path.dirname(path)
        bad = []
        for name in sorted(set(FILE.findall(text))):
            if name in endings or name.split("/")[-1] in EXAMPLES or name in headers or name.startswith("build/"):
                continue
            if os.path.exists(os.path.normpath(os.path.join(ROOT, here, name))):
                continue
            bad.append(name)
        for name in sorted(set(NAME.findall(text))):
            # mz_raw_NAME stands for mz_raw_memcpy and the like, MZ_END_ for all that begin so.
            if name in known or re.sub(r"_([A-Z]*)$" if name[0] == "m" else "_$", "", name) in prefixes or name.startswith(stems):
                continue
            bad.append(name)
        pairs = wrong_pairs(page, files) if PAGES_WITH_PAIRS.fullmatch(path) else []
        passed, failed = passed + (not bad and not pairs), failed + bool(bad or pairs)
        for name in bad:
            print("FAIL %s names %s, which does not exist" % (path, name))
        for name, places in pairs:
            print("FAIL %s: %s is not in %s" % (path, name, places))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
