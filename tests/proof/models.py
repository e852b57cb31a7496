# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run SPIN on the models (*.pml) of the protocols without locks.

usage: models.py [--self-test | --long] TREE [MODEL...]

A model names its runs in its first comment:

    check: NAME -DX ...            the model with these macros has no error
    progress: NAME -DX ...         the same, and no run without end passes no label `progress`, if each
                                   process that can make a step makes one in the end
    long: and long_progress:       the same, for runs that take longer
    mutant: NAME -DX ... : WHY     with the macro NAME too, SPIN finds an error

Without an option all checks run, and the number of states of each is printed; with --long all checks and the
long ones; with --self-test all mutants.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

RUN = re.compile(r'^ \* (check|long|progress|long_progress|mutant): (\w+)((?: -D[\w=]+)*)(?: : (.+))?$', re.M)
COMPILE = {
    'check': ['-O2', '-DSAFETY', '-DCOLLAPSE'],
    'progress': ['-O2', '-DNP', '-DNFAIR=3', '-DCOLLAPSE'],
    'mutant': ['-O0', '-DSAFETY', '-DCOLLAPSE'],
}
ALSO = {'long': 'check', 'long_progress': 'progress'}
# Deadlocks are errors where a model says so, as processes end at each step. A search that reaches its
# limits is an error.
PAN = {'check': ['-E'], 'progress': ['-l', '-f', '-E'], 'mutant': ['-E']}
LIMITS = ['-m1000000', '-b', '-w22']
MEMORY_MB = 6000


def run(command, where):
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f'{" ".join(command)} failed:\n{done.stdout}{done.stderr}')
    return done.stdout


class Search:
    """What pan found."""

    def __init__(self, model, kind, macros):
        with tempfile.TemporaryDirectory(prefix='dpumap-model.') as where:
            run(['spin', '-a', *macros, str(model)], where)
            run(['gcc', '-w', f'-DMEMLIM={MEMORY_MB}', *COMPILE[kind], '-o', 'pan', 'pan.c'], where)
            out = subprocess.run(['./pan', *PAN[kind], *LIMITS], cwd=where, capture_output=True, text=True,
                                 check=False).stdout
        self.out = out
        self.errors = int((re.search(r'errors: (\d+)', out) or [0, '-1'])[1])
        self.complete = 'Search not completed' not in out and 'max search depth' not in out
        self.states = re.search(r'(\d+) states, stored', out)
        self.states = int(self.states[1]) if self.states else 0
        self.megabytes = float((re.search(r'([\d.]+)\s+total actual memory', out) or [0, '0'])[1])
        self.unreached = re.findall(r'(\S+\.pml:\d+), state \d+, "(.*)"', out)


def verify(model, kind, name, macros):
    found = Search(model, kind, macros)
    if found.errors or not found.complete:
        print(found.out)
        return f'{model.name}: {name}: SPIN finds an error, or has not searched all states'
    print(f'{model.name}: {name}: {found.states} states, {found.megabytes:.0f} MB, no error')
    return None


def kill(model, name, macros, why):
    found = Search(model, 'mutant', [f'-D{name}', *macros])
    if found.errors < 1:
        return f'{model.name}: SPIN does not find that {why} ({name})'
    print(f'{model.name}: {name}: found after {found.states} states: {why}')
    return None


def main():
    arguments = sys.argv[1:]
    option = arguments.pop(0) if arguments[0].startswith('--') else None
    wanted = {'--self-test': {'mutant'}, '--long': {'check', 'progress', *ALSO}, None: {'check', 'progress'}}[option]
    tree, *names = arguments
    models = sorted((pathlib.Path(tree).resolve() / 'emu').rglob('*.pml'))
    wrong, states = [], 0
    for model in models:
        if names and model.stem not in names:
            continue
        runs = RUN.findall(model.read_text())
        if not {'check', 'mutant'} <= {kind for kind, *_ in runs}:
            wrong.append(f'{model.name} names no check, or no mutant')
        for kind, name, macros, why in runs:
            if kind not in wanted:
                continue
            said = kill(model, name, macros.split(), why) if kind == 'mutant' else verify(
                model, ALSO.get(kind, kind), name, macros.split())
            wrong += [said] if said else []
            sys.stdout.flush()
    if not models:
        wrong.append('no model found')
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
