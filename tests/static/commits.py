#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: commits.py TREE

Check the new commits of TREE against the rules in CONTRIBUTING.md, and print a line for each violation.
A commit is new if it is in neither the last tag, nor origin/main (if HEAD is ahead of it), nor the first
commit in tests/base. Exit status 77: the history is missing; the last line is the reason.
"""
import pathlib
import re
import subprocess
import sys

SUBJECT_COLUMNS = 72
# Numbers of changed lines, without renames, vectors and generated files. A commit above the first limit
# needs a body, above the second an explanation, and above the third a line "Large: WHY".
NEEDS_BODY, NEEDS_REASON, NEEDS_LARGE = 200, 600, 2000
REASON_LINES = 2
NOT_COUNTED = ("tests/vectors", "tests/fuzz/corpus", "tests/emu/fuzz/corpus", "docs/emu/conformance.md",
               "docs/emu/conformance-newest.md", "docs/doca-compatibility.md", "docs/doca-mmap-rules.md",
               "docs/doca-comch-rules.md", "docs/doca-rdma-rules.md", "docs/doca-sync-event-rules.md", "docs/doca-verbs-rules.md")

AREA = r"[a-z0-9][a-z0-9_./-]*"
SUBJECT = re.compile(rf"^{AREA}(, {AREA})*: [a-z0-9`\"(]")
# First words that are not imperatives.
NOUNS = set("a an the what who whoever each every no nothing after before once when it its".split())
WORDS_IN_S = re.compile(r"(ss|us|is|focus|alias|bias)$")
WORDS_IN_ED_ING = set("need feed embed seed shed speed proceed exceed succeed bring ring string ping".split())


def git(tree, *arguments):
    return subprocess.run(["git", "-C", str(tree), *arguments], capture_output=True, text=True,
                          check=False)


def skip(reason):
    print(reason)
    sys.exit(77)


def read_base(tree):
    """The commit before the first one that is checked."""
    lines = (tree / "tests/base").read_text().splitlines()
    return next(line for line in lines if line and not line.startswith("#"))


def new_commits(tree, base):
    inside = git(tree, "rev-parse", "--show-toplevel")
    if inside.returncode or pathlib.Path(inside.stdout.strip()).resolve() != tree:
        skip("this is not a git repository")
    if git(tree, "rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        skip("the clone is shallow")
    known = []
    tag = git(tree, "describe", "--tags", "--abbrev=0")
    if not tag.returncode:
        known.append(tag.stdout.strip())
    head = git(tree, "rev-parse", "HEAD").stdout.strip()
    main = git(tree, "rev-parse", "--verify", "-q", "origin/main")
    if not main.returncode and main.stdout.strip() != head:
        known.append("origin/main")
    if not git(tree, "merge-base", "--is-ancestor", base, "HEAD").returncode:
        known.append(base)
    if not known:
        skip(f"the history contains neither a tag nor {base[:12]}")
    return git(tree, "rev-list", "--reverse", "HEAD", "--not", *known).stdout.split()


def changed_lines(tree, commit):
    paths = [f":!{path}" for path in NOT_COUNTED]
    out = git(tree, "show", "-M40%", "-w", "--numstat", "--format=", commit, "--", ".", *paths).stdout
    return sum(int(count) for line in out.splitlines() for count in line.split("\t")[:2]
               if count.isdigit())


def is_imperative(subject):
    word = re.match(r"[a-z]*", subject.split(": ", 1)[1])[0]
    if word in NOUNS:
        return False
    if word.endswith("s") and not WORDS_IN_S.search(word):
        return False
    return word in WORDS_IN_ED_ING or not re.search(r".(ed|ing)$", word)


def wrong_subject(subject):
    if len(subject) > SUBJECT_COLUMNS:
        yield f"the subject has {len(subject)} columns; at most {SUBJECT_COLUMNS} are allowed"
    if not SUBJECT.match(subject) or subject.endswith("."):
        yield "the subject is not \"area: what it does\", in lower case and without a full stop"
    elif not is_imperative(subject):
        yield "the subject does not begin with an imperative (\"refuse\", not \"refuses\" or \"a\")"


def wrong_size(lines, body):
    if re.search(r"^Large: \S", body, re.M):
        return
    if lines > NEEDS_LARGE:
        yield f"{lines} changed lines: split it, or say why in a line \"Large: ...\""
    elif lines > NEEDS_REASON and len(body.splitlines()) < REASON_LINES:
        yield f"{lines} changed lines: split it, or say in the body why it is one change"
    elif lines > NEEDS_BODY and not body:
        yield f"{lines} changed lines without a body that says why"


def wrong(tree, commit):
    parents, _, message = git(tree, "log", "-1", "--format=%P%n%B", commit).stdout.partition("\n")
    if len(parents.split()) > 1:
        yield "it is a merge; rebase instead"
        return
    subject, _, body = message.strip().partition("\n")
    yield from wrong_subject(subject)
    yield from wrong_size(changed_lines(tree, commit), body.strip())


def main(tree):
    for commit in new_commits(tree, read_base(tree)):
        for complaint in wrong(tree, commit):
            print(f"{commit[:12]} {git(tree, 'log', '-1', '--format=%s', commit).stdout.strip()}: {complaint}")


main(pathlib.Path(sys.argv[1]).resolve())
