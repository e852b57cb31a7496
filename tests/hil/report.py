# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One page about a run: the verdict first."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts/lib"))
import results  # noqa: E402

FIGURE = ("name", "value", "unit", "test")


def read_lines(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def assumptions():
    """Of each question in docs/hardware.md: what we assume."""
    text = (ROOT / "docs/hardware.md").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and re.fullmatch(r"\d+", cells[0]) and len(cells) >= 3:
            found[int(cells[0])] = (cells[1], cells[2])
    return found


def verdict_line(status, verdict, tests):
    count = [test.outcome for test in tests].count
    numbers = f"{count('pass')} passed, {count('fail')} failed, {count('skip')} skipped"
    if status == 0:
        return f"**PASSED**: {numbers}"
    if status == 1:
        return f"**FAILED**: {numbers}"
    return f"**NOT COMPLETE** ({verdict or 'the tests could not run'}): {numbers}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def machines(facts):
    names = sorted({key for side in facts.values() for key in side if key != "functions"})
    rows = [[name, *(facts[side].get(name, "") for side in facts)] for name in names]
    text = table(["", *facts], rows)
    for side, words in facts.items():
        text += f"\n\n{side}:\n\n    " + words.get("functions", "").replace("\n", "\n    ")
    return text


def questions(answers):
    """A row for each question and verdict; what several tests saw stands together."""
    seen = {}
    for line in answers:
        seen.setdefault((line["question"], line["as_assumed"]), []).append(line["seen"])
    assumed = assumptions()
    verdicts = {True: "as assumed", False: "**DIFFERENT**", None: ""}
    rows = []
    for (number, same), texts in sorted(seen.items(), key=lambda item: item[0][0]):
        text = "; ".join(dict.fromkeys(texts))
        rows.append([number, assumed.get(number, ("", ""))[1], text, verdicts[same]])
    return table(["#", "assumed", "seen", ""], rows)


def speeds(figures):
    """A row for each thing that was measured, with all its figures."""
    rows = {}
    for line in figures:
        rest = [(key, value) for key, value in line.items() if key not in FIGURE]
        what = ", ".join(f"{key} {value}" for key, value in rest)
        text = f"{line['name']} {line['value']:.4g} {line['unit']}"
        rows.setdefault((line["test"].partition("[")[0], what), []).append(text)
    lines = [[test, what, ", ".join(texts)] for (test, what), texts in rows.items()]
    return table(["test", "of", "figures"], lines)


def write(out, options, facts, status, verdict, seconds, beside):
    """report.md, with the text beside, and the figures and answers as JSON."""
    junit = out / "junit.xml"
    tests = results.read_junit(junit) if junit.exists() else []
    figures, answers = read_lines(out / "figures.jsonl"), read_lines(out / "answers.jsonl")
    for name, lines in (("figures", figures), ("answers", answers), ("machines", facts)):
        (out / f"{name}.json").write_text(json.dumps(lines, indent=2) + "\n", encoding="utf-8")
        (out / f"{name}.jsonl").unlink(missing_ok=True)
    parts = [
        f"# Hardware in the loop: {options.host} and {options.dpu}",
        verdict_line(status, verdict, tests),
        f"Profile {options.profile}, {options.bytes} bytes, {seconds:.0f} s.",
    ]
    bad = [[test.name, test.reason] for test in tests if test.outcome == "fail"]
    if bad:
        parts += ["## Failed", table(["test", "why"], bad)]
    if answers:
        parts += ["## Answers for docs/hardware.md", questions(answers)]
    if figures:
        parts += ["## Figures", speeds(figures)]
    if beside:
        parts += [beside]
    skipped = [[test.name, test.reason] for test in tests if test.outcome == "skip"]
    if skipped:
        parts += ["## Not tested", table(["test", "why"], skipped)]
    if facts:
        parts += ["## Machines", machines(facts)]
    (out / "report.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
