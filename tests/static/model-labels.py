# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compare the labels of the models (*.pml) with the comments of the code that name them.

usage: model-labels.py TREE

A comment names the step of the model that the code beside it makes: `grace.pml: retire`; several models
with the same step: `grace.pml, unmap.pml: pass_end`. Labels of a model's own begin with `m_`, those for
SPIN with `end_` or `progress_`.
"""

import collections
import pathlib
import re
import sys

LABEL = re.compile(r'^\s*([a-z]\w*):(?!:)', re.M)
NAME = re.compile(r'((?:\w+\.pml,\s+(?:\*\s+)?)*\w+\.pml):\s+(?:\*\s+)?([a-z]\w*)')
COMMENT = re.compile(r'/\*.*?\*/', re.S)
OWN = ('m_', 'end_', 'progress_')


def labels_of(model):
    text = COMMENT.sub('', model.read_text())
    return {label for label in LABEL.findall(text) if not label.startswith(OWN)}


def names_in(path):
    for comment in COMMENT.findall(path.read_text()):
        for models, label in NAME.findall(comment):
            for model in re.findall(r'\w+\.pml', models):
                yield model, label


def main():
    source = pathlib.Path(sys.argv[1]) / 'emu'
    labels = {model.name: labels_of(model) for model in sorted(source.rglob('*.pml'))}
    named = collections.defaultdict(dict)
    for path in sorted([*source.rglob('*.c'), *source.rglob('*.h')]):
        for model, label in names_in(path):
            named[model].setdefault(label, path)
    for model in sorted(labels.keys() | named.keys()):
        for label in sorted(labels.get(model, set()) - named[model].keys()):
            print(f'{model}: no comment of the code names the step {label}')
        for label in sorted(named[model].keys() - labels.get(model, set())):
            path = named[model][label].relative_to(source.parent)
            print(f'{path}: {model} has no label {label}')
    if not labels:
        print('emu: there is no model')


if __name__ == '__main__':
    main()
