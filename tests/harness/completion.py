# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Completions, and the shells that are asked for them.

The build has the files bash/PROGRAM, zsh/_PROGRAM and fish/PROGRAM.fish. A shell completes many lines, and the
programs print each help once, because a start of a shell or of a program costs more than a completion.
"""

import os
import pathlib
import shlex
import shutil
import subprocess

from harness.machine import PATIENCE, LocalMachine

FILES = pathlib.Path(
    os.environ.get("DPUMAP_COMPLETION") or pathlib.Path(os.environ["DPUMAP_BIN"]).resolve().parent / "completion"
)
PROGRAMS = ("dpumap", "dpumapd", "dpumap-emu")
# Keeps what the program printed; anything but a successful --help is a run of the program itself.
REMEMBER = """#!/bin/sh
case $* in
*/*) exec {program} "$@" ;;
*--help) kept="{directory}/{name} $*" ;;
*) exec {program} "$@" ;;
esac
if [ ! -e "$kept" ]; then
	{program} "$@" >"$kept.$$" || exit
	mv "$kept.$$" "$kept"
fi
exec cat "$kept"
"""


def remember_help(machine):
    """The same machine, on which each --help of our programs starts the program only the first time."""
    directory = pathlib.Path(machine.dir, "help")
    (directory / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        program = shlex.quote(shutil.which(name, path=machine.environment["PATH"]))
        script = directory / "bin" / name
        script.write_text(REMEMBER.format(program=program, directory=directory, name=name), encoding="utf-8")
        script.chmod(0o755)
    path = f"{directory}/bin:{machine.environment['PATH']}"
    return LocalMachine(machine.name, machine.dir, {**machine.environment, "PATH": path})


class Shell:
    """A shell that answers requests with a text that ends with NUL."""

    def __init__(self, machine, command, **more):
        self.process = machine.start(command, stdin=subprocess.PIPE, **more)

    def ask(self, request):
        self.process.stdin.write(request.encode())
        self.process.stdin.flush()
        answer = b""
        while not answer.endswith(b"\0"):
            piece = self.process.stdout.read1()
            assert piece, f"the shell ended: {request}"
            answer += piece
        return answer[:-1].decode()

    def close(self):
        self.process.communicate(timeout=PATIENCE)


class Bash(Shell):
    """A bash that has read the completion of a program."""

    def __init__(self, machine, program):
        super().__init__(machine, ["bash"])
        self.program, self.dir = program, machine.dir
        self.ask(f". {shlex.quote(str(FILES / 'bash' / program))}; printf '\\0'\n")

    def registered(self):
        return self.ask(f"complete -p {self.program}; printf '\\0'\n")

    def offers(self, words, cwd=None, **variables):
        """What is offered when the cursor is at the end of the last word, sorted."""
        line = " ".join([self.program, *words])
        variables = {"COMP_LINE": line, "COMP_POINT": len(line), **variables}
        lines = [f"cd {shlex.quote(str(cwd or self.dir))}"]
        lines += [f"export {name}={shlex.quote(str(value))}" for name, value in variables.items()]
        lines += ["COMPREPLY=()", f"_{self.program.replace('-', '_')}", "printf '%s\\n' \"${COMPREPLY[@]}\""]
        # A shell of its own, whose variables end with it.
        answer = self.ask("( " + "\n".join(lines) + "\n) </dev/null\nprintf '\\0'\n")
        return " ".join(sorted(set(answer.split())))


class Fish(Shell):
    """A fish that has read all completions."""

    LOOP = "while read line; complete -C $line; printf '\\0'; end"

    def __init__(self, machine, **more):
        sources = "".join(f"source {shlex.quote(f'{FILES}/fish/{name}.fish')}; " for name in PROGRAMS)
        super().__init__(machine, ["fish", "--no-config", "-c", sources + self.LOOP], **more)

    def offers(self, line):
        """The rows WORD, tab, meaning."""
        return self.ask(f"{line}\n").splitlines()
