#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""compare.py EMULATED LINUX ACCEPTED: compare two outputs of kernel_answers, line by line and word by word.

A line is "STEP: ERRNO NAME=VALUE...". ACCEPTED has, below a heading "# REASON", the differences that are known:
"STEP | EMULATED | LINUX", each a pattern as of file names. A difference that no line names fails, and so does a line that
names no difference. A random step is named by the line for the same command in the section "verbs".
"""
import collections
import fnmatch
import re
import sys


def read(path):
    """The answers by step; a step that comes again gets a number."""
    steps, times, section, last = {}, collections.Counter(), "", ""
    with open(path, encoding="ascii") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("== "):
                section = line[3:]
                continue
            if line.startswith("  word "):  # of the answer before
                step, answer = line[2:].split(" = ")
                step = f"{last}, {step}"
            else:
                step, _, answer = line.partition(": ")
                last = step
            if section == "random":  # "seed N step N: COMMAND: ANSWER"
                command, _, answer = answer.rpartition(": ") if ": " in answer else ("", "", answer)
                step = f"{step}: {command}"
            step = f"{section}: {step}"
            times[step] += 1
            steps[step if times[step] == 1 else f"{step} ({times[step]})"] = answer
    return steps


def differences(emulated, linux):
    """Yields the step and both words."""
    for step in list(emulated) + [step for step in linux if step not in emulated]:
        ours, theirs = emulated.get(step, "nothing"), linux.get(step, "nothing")
        if ours == theirs:
            continue
        ours, theirs = ours.split(), theirs.split()
        if ours[0] != theirs[0] or len(ours) != len(theirs):
            both = [(" ".join(ours[:2]), " ".join(theirs[:2]))] if ours[0] == theirs[0] else [(ours[0], theirs[0])]
        else:
            both = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
        for pair in both:
            yield (step, *pair)


def name_of(step):
    """Of a random step: without its number and its objects."""
    if not step.startswith("random: "):
        return step
    words = step.split(": ", 2)[2].split()
    return "verbs: " + " ".join(word for word in words if not re.fullmatch(r"[a-z_]+\d+", word))


def read_accepted(path):
    with open(path, encoding="ascii") as lines:
        return [
            tuple(part.strip() for part in line.split("|"))
            for line in lines
            if line.strip() and not line.startswith("#")
        ]


def main():
    emulated, linux = read(sys.argv[1]), read(sys.argv[2])
    accepted = dict.fromkeys(read_accepted(sys.argv[3]), 0)
    unexpected = 0
    for difference in differences(emulated, linux):
        named = (name_of(difference[0]), *difference[1:])
        for rule in accepted:
            if all(fnmatch.fnmatchcase(word, pattern) for word, pattern in zip(named, rule)):
                accepted[rule] += 1
                break
        else:
            unexpected += 1
            print("unexpected:", " | ".join(difference))
    unused = [rule for rule, count in accepted.items() if not count]
    for rule in unused:
        print("no longer a difference:", " | ".join(rule))
    print(f"{len(linux)} answers, {sum(accepted.values())} accepted differences, {unexpected} unexpected")
    return 1 if unexpected or unused else 0


if __name__ == "__main__":
    sys.exit(main())
