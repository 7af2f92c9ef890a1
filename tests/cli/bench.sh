#!/bin/sh
# `mazurka bench`: names, one row, resuming, JSON, the page, other tools. Measures only rows that take milliseconds.
#   sh tests/cli/bench.sh [TEST...]
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"

# Each test keeps its measurements in its own directory. $bench measures, $row is the fastest row.
bench() { mazurka bench --no-peers --results=kept.jsonl "$@"; }
row=2017-fig1-optimal

has_bench() { [ -f "$root/bench/papers/main.py" ] && command -v python3 > /dev/null; }

test_bench_is_found_or_explained() {
    [ -f "$root/bench/papers/main.py" ] && return 0
    refuses "bench/papers" mazurka bench
}

test_bench_without_python() {
    has_bench || return 0
    mkdir empty
    refuses "python3 is not installed" env PATH="$PWD/empty" "$mazurka" bench --list
}

test_bench_lists_names() {
    has_bench || return 0
    run 0 mazurka bench --list && has out "2017-table1-fig10-6-source" && has out "2005-fig6-dynamic-sleep  (1 to 16 threads)" &&
        has out "2008-table1-bzip2smp-6-sdpor" && has out "2007-fig12-bbuf-modified" && empty err
}

test_bench_refuses() {
    has_bench || return 0
    refuses "there is no experiment \`2017-tabel3\`: did you mean 2017-table3" mazurka bench 2017-tabel3 &&
        refuses "did you mean 2017-table4-lastzero?" mazurka bench $row lastzero &&
        refuses "\`mazurka bench --list\` prints the names" mazurka bench xyz &&
        refuses "did you mean --full?" mazurka bench --ful && refuses "exclude each other" mazurka bench --quick --full &&
        refuses "--limit needs a number" mazurka bench --limit=soon && refuses "takes no argument" mazurka bench --list=x &&
        refuses "its argument is missing" mazurka bench --html page.html &&
        refuses "cannot write nothere/page.html" bench --html=nothere/page.html $row &&
        refuses "Is a directory" bench --results=. $row
}

test_bench_one_row() {
    has_bench || return 0
    run 0 bench $row && empty err && has out "2017, Fig. 1: A writer and two readers" && has out "i7-3770" && no_wide_lines out &&
        grep -Eq '^optimal +4 +4 +1 +0$' out && has out "Executions: 1 row with exactly the paper's number, 0 with fewer, 0 with more." ||
        complain "$(cat out)"
    # A row with more executions than the paper is named, and so is what cannot be repeated.
    run 0 bench --json=r.json --html=p.html 2008-table1-example1-2-best 2017-table5-rushhour-optimal &&
        tr "\n" " " < out | tr -s " " > line && has line "0 with fewer, 1 with more: 2008-table1-example1-2-best" && has out "1 row that cannot be repeated." &&
        has p.html "1 with more: 2008-table1-example1-2-best" && json_is r.json "len(d['summary']) == 3" || complain "$(cat out)"
}

# The kept row is shown and not measured again; another build, other options or --fresh measure again.
test_bench_resumes() {
    has_bench || return 0
    run 0 bench $row && [ "$(wc -l < kept.jsonl)" -eq 1 ] || return 1
    sed 's/"traces": 4/"traces": 1234/' kept.jsonl > changed && printf '{"key": "half a li' >> changed && mv changed kept.jsonl
    run 0 bench $row && has out "1,234" && run 0 bench --kept $row && has out "1,234" || return 1
    run 0 bench 2017-fig1 && has out "1,234" && [ "$(wc -l < kept.jsonl)" -eq 4 ] || complain "kept: $(cat kept.jsonl)"
    run 0 bench --fresh $row && hasnt out "1,234" && run 0 bench $row && hasnt out "1,234" || return 1
    sed 's/"key": "/"key": "other/' kept.jsonl > changed && mv changed kept.jsonl
    run 0 bench --kept $row && has out "not measured yet"
}

# A search that a limit ended is kept for this limit and lower ones, and its figures are lower bounds.
test_bench_limits() {
    has_bench || return 0
    slow=2008-table1-example1-2-dpor
    run 0 bench --limit=0.5 $slow && has out "time limit of 0.5 s" && grep -Eq '>[0-9,]+' out || return 1
    sed 's/time limit of/time limit of just/' kept.jsonl > changed && mv changed kept.jsonl
    run 0 bench --limit=0.25 $slow && has out "limit of just" && run 0 bench --limit=0.75 $slow && hasnt out "limit of just" &&
        run 0 bench --limit=0.25 --fresh $slow && run 0 bench --kept $slow && has out "time limit of 0.75 s"
}

test_bench_survives_interrupts() {
    has_bench || return 0
    mazurka bench --no-peers --results=kept.jsonl --limit=600 2017-fig1 2017-table4-lastzero-15-classic --full > out 2> err &
    wait_until grep -qs "2017-fig1-optimal" kept.jsonl
    sleep 0.5
    kill -TERM $!
    wait $!
    got=$?
    [ $got -eq 130 ] && has err "interrupted" && has out "optimal" && [ "$(wc -l < kept.jsonl)" -eq 3 ] ||
        complain "status $got, $(cat err kept.jsonl)"
}

test_bench_json() {
    has_bench || return 0
    run 0 bench --json 2017-fig1 && json_valid out &&
        json_is out "len(d['rows']) == 3 and d['rows'][2]['figures']['traces'] == 4" &&
        json_is out "d['rows'][0]['paper_figures']['traces']['value'] == 5 and d['rows'][0]['ratio']['traces'] == 1" &&
        run 0 bench --json=r.json 2017-table5-dialyzer-classic && json_is r.json "d['rows'][0]['text'].endswith('an Erlang program')" &&
        json_is r.json "d['rows'][0]['figures'] == {}"
}

# A mazurka that refuses every check: it stands for one that lacks an algorithm. A refusal is not a figure.
fake_mazurka() { # its message
    {
        echo '#!/bin/sh'
        echo "case \$1 in --version) echo 'mazurka <0>' ;; check) echo '$1' >&2; exit 2 ;; esac"
    } > fake && chmod +x fake
}

test_bench_says_what_is_refused() {
    has_bench || return 0
    fake_mazurka "mazurka: --algorithm=optimal: <b>not</b> & never"
    MAZURKA=$PWD/fake
    export MAZURKA
    run 0 bench --html=p.html $row 2005-fig6-dynamic && has out "not available: --algorithm=optimal: <b>not</b> & never" &&
        [ ! -s kept.jsonl ] && has out "n/a" && has p.html "&lt;b&gt;not&lt;/b&gt; &amp; never" && hasnt p.html "<b>not</b>" &&
        has p.html "mazurka &lt;0&gt;"
}

# The page is well-formed and needs nothing from outside: no address, no script, only links to itself.
test_bench_page() {
    has_bench || return 0
    run 0 bench --limit=1 2005-fig6-ours-optimal-1 2005-fig6-ours-dpor-2 && has out "threads  ours  ours" &&
        run 0 bench --limit=1 --html=p.html 2017-fig1 2017-table1-fig10-1 2005-fig6-ours-optimal-2 2005-fig6-ours-optimal-3 2017-table5 &&
        run 0 python3 -c '
import sys, xml.etree.ElementTree as tree
page = tree.parse("p.html").getroot()
names = [e.tag for e in page.iter()]
assert names.count("svg") >= 3 and names.count("polyline") == 1, names
assert "script" not in names and "link" not in names and "img" not in names
ids = [e.get("id") for e in page.iter() if e.get("id")]
assert len(ids) == len(set(ids)), ids
for e in page.iter():
    for key, value in e.attrib.items():
        assert key != "src" and not (key == "href" and value[1:] not in ids), (key, value)
' && hasnt p.html "://" && hasnt p.html "@import" && hasnt p.html "url("
}

# Nidhugg and GenMC are measured in the same run, if they are in PATH.
test_bench_other_tools() {
    has_bench || return 0
    mkdir bin
    printf '#!/bin/sh\necho "$@" > %s/nidhugg\necho "Trace count: 17 (also 3 sleepset blocked)"\n' "$PWD" > bin/nidhuggc
    printf '#!/bin/sh\necho "no such model"; exit 1\n' > bin/genmc
    chmod +x bin/*
    PATH=$PWD/bin:$PATH
    run 0 mazurka bench --results=kept.jsonl --json=r.json 2017-table1-fig10-4-optimal &&
        has out "2017-table1-fig10-4-optimal, Nidhugg" && has out "no such model" && has nidhugg "-DN=4 -- --sc --optimal tests/papers/fig10.c" &&
        json_is r.json "d['rows'][0]['peers']['Nidhugg']['figures']['traces'] == 20" &&
        json_is r.json "d['rows'][0]['peers']['GenMC']['status'] == 'failed'" || return 1
    # The time limit ends all processes that the tool has started.
    printf '#!/bin/sh\nsleep 1000 &\necho $! > %s/child\nwait\n' "$PWD" > bin/nidhuggc
    run 0 mazurka bench --results=kept.jsonl --limit=0.5 2017-table1-fig10-3-source && has out "not finished in 0.5 s" &&
        wait_until is_gone "$(cat child)"
}

# Sizes of sets come from a run of their own. An overhead is a ratio of two searches of one run.
test_bench_sets_and_overhead() {
    has_bench || return 0
    run 0 bench --json=r.json 2017-table2-wakeup_stress-3 2017-overhead-filesystem-19 && has out "largest" && has out "overhead %" &&
        json_is r.json "[row['figures'].get('nodes') for row in d['rows']] == [4, 4, 23, None]" &&
        json_is r.json "all(row['figures']['mean'] > 1 for row in d['rows'][:3])" &&
        json_is r.json "d['rows'][3]['figures']['source'] > 0 and -90 < d['rows'][3]['figures']['overhead'] < 900" &&
        json_is r.json "d['rows'][3]['paper_figures']['overhead']['value'] == 5.1" || return 1
    run 0 bench 2017-table2-wakeup_stress-3 2017-overhead-filesystem-19 && [ "$(wc -l < kept.jsonl)" -eq 4 ]
}

# A program that Debian packages is measured if it was built; if not, the row says how to build it.
test_bench_packaged() {
    has_bench || return 0
    run 0 bench --limit=5 packaged-small && has out "not in the paper" || return 1
    [ -x "$root/build/packaged/pbzip2" ] || has out "sh bench/packaged.sh" || return 1
    run 2 sh "$root/bench/packaged.sh" xyz && has err "the only package is pbzip2" || return 1
    mkdir empty && ln -s "$(command -v dirname)" empty/dirname
    run 2 env PATH="$PWD/empty" /bin/sh "$root/bench/packaged.sh" && has err "apt-get is not installed (Debian, Ubuntu: apt install"
}

# The tables of the manual of experiments are those of experiments.txt.
test_bench_docs() {
    has_bench || return 0
    run 0 mazurka bench --check-docs="$root/docs/PAPERS.md" || return 1
    sed '/^| fig10-6-optimal |/d; s/^| fig10-7-source |/| fig10-77-source |/' "$root/docs/PAPERS.md" > page.md
    run 1 mazurka bench --check-docs=page.md && has err "no row \`fig10-6-optimal\`" && has err "\`fig10-77-source\` is not in experiments.txt" ||
        return 1
    # --docs writes what is kept: the table that was measured, and with what; the other tables stay.
    cp "$root/docs/PAPERS.md" page.md && sed 's/| optimal | 4 | 4 | 1 | 0 |/| optimal | 4 | 5 | 1 | 0 |/' page.md > changed.md &&
        run 0 bench --limit=7 2017-fig1 && run 0 bench --docs=changed.md && has changed.md "| optimal | 4 | 4 | 1 | 0 |" &&
        has changed.md "Rows: 3, measured 20" && tr '\n' ' ' < changed.md > line && has line "limits of 7 seconds" &&
        grep '^| fig10-7-source ' page.md > before && grep '^| fig10-7-source ' changed.md > after && cmp before after &&
        run 0 mazurka bench --check-docs=changed.md || return 1
    # A table with more figures than this build has measured stays.
    run 0 bench --limit=7 2017-table1-fig10-1 && run 0 bench --docs=changed.md && has out "The table of 2017-table1 stays" &&
        grep '^| fig10-7-source ' changed.md > after && cmp before after
}

run_tests "$@"
