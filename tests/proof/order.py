# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which outcomes of pairs of accesses x86 and Armv8 processors allow, with and without each barrier.

usage: order.py [--self-test] TREE

A row is a name, the steps of two threads, and the outcome that must not happen: `x=1`, a load of x returns 1;
`x:=1`, x is 1 in the end. All executions are searched: a thread makes its steps in any order that its
processor allows, on one memory. That is the order of Armv8 (other-multi-copy atomic) without the forwarding
of a store to a later load of the same thread, which no row depends on; and that of x86 (TSO).

Steps: `W x 1` stores, `R x` loads, `U x 1` is an atomic read-modify-write. `.rel`, `.acq` and `.sc` are the
order of C11. `F.st`, `F.ld` and `F.full` are barriers; the first two cost x86 nothing. `dep` orders a store
after the loads that it depends on. A step with `*` is removed, or loses its order, in a mutant of the row.

Each row of docs/memory-order.md has a row here, and tests/hil/order.c tries its pattern, or the row is in
NOT_TRIED. The outcome must be impossible on both; in each mutant it
must be possible on Armv8, so nothing in a row is there without need. --self-test fails unless the search
finds an outcome that is known to be possible.
"""

import pathlib
import re
import sys

ROWS = {
    'wqe-record': ('W wqe 1; F.st*; W record 1', 'R record.acq*; R wqe', 'record=1 wqe=0'),
    'record-page': ('W record 1; F.st*; W page 1', 'R page.acq; R record.acq', 'page=1 record=0'),
    'cqe-owner': ('W cqe 1; W owner.rel* 1', 'R owner; F.ld*; R cqe', 'owner=1 cqe=0'),
    'cqe-index': ('R cqe; W index 1 dep*', 'R index.acq*; W cqe 1', 'index=1 cqe=1'),
    'ring-protect': ('W arm 1; F.full*; R page', 'W page 1; F.full*; R arm.acq', 'arm=0 page=0'),
    'fill-serial': ('W entry 1; W serial.rel* 1', 'R serial.sc*; R entry', 'serial=1 entry=0'),
    'epoch-serial': ('U epoch.sc* 1; R serial.sc', 'W serial.sc* 1; R epoch.sc', 'epoch=0 serial=0'),
    'use-epoch': ('R entry; U epoch.sc* 1', 'R epoch.sc*; W entry 1', 'epoch=1 entry=1'),
    'epoch-ended': ('U epoch.sc* 1; R ended.sc', 'W ended.sc* 1; R epoch.sc', 'epoch=0 ended=0'),
    'maps-serial': ('W maps.sc* 1; R serial.sc', 'W serial.sc* 1; R maps.sc', 'maps=0 serial=0'),
    'asleep-message': ('W asleep.sc* 1; R message.sc', 'W message.sc* 1; R asleep.sc', 'asleep=0 message=0'),
    'armed-wake': ('W armed.sc 1; U wake.sc* 1', 'R wake.sc*; R armed.sc', 'wake=1 armed=0'),
    'change-wake': ('U change 1; U wake.sc* 1', 'R wake.sc*; R change.sc', 'wake=1 change=0'),
    'message-state': ('W message 1; W state.sc* 1', 'R state.sc*; R message', 'state=1 message=0'),
    'attributes-state': ('W route 1; U state.sc* 1', 'R state.sc*; R route', 'state=1 route=0'),
    'gid-serial': ('W gid 1; W serial.rel* 1', 'R serial.acq*; R gid', 'serial=1 gid=0'),
    'frozen-epoch': ('U epoch.sc* 1; R frozen.sc', 'W frozen.sc* 1; R epoch.sc', 'epoch=0 frozen=0'),
    'rule-action': ('W rule 1; W action.sc* 1', 'R action.sc*; R rule', 'action=1 rule=0'),
    'socket-armed': ('W armed.sc 1; U epoll.sc* 1', 'R epoll.sc*; R armed', 'epoll=1 armed=0'),
    'record-head': ('W record 1; W head.rel* 1', 'R head.acq*; R record', 'head=1 record=0'),
    'record-tail': ('R record; W tail.rel* 1', 'R tail.acq*; W record 1', 'tail=1 record=1'),
    'map-state': ('W map 1; W state.rel* 1', 'R state.acq*; R map', 'state=1 map=0'),
    'link-up': ('W link 1; W state.rel* 1', 'R state.acq*; R link', 'state=1 link=0'),
    'link-events': ('W state.sc 1; W events.sc* 1', 'W events.sc* 0; R state.sc', 'events:=0 state=0'),
    'event-set': ('W event 1; U set.sc* 1', 'R set.sc*; R event', 'set=1 event=0'),
    'value-data': ('W data 1; W value.sc* 1', 'R value.sc*; R data', 'value=1 data=0'),
    'event-armed': ('W event 1; F.full*; R armed', 'W armed.sc 1; F.full*; R event', 'event=0 armed=0'),
}
# It needs a protected page, which a program cannot have a billion times.
NOT_TRIED = {'ring-protect'}

STEP = re.compile(r'^([WRU]) (\w+)(?:\.(rel|acq|sc)(\*)?)?(?: (\d))?(?: (dep)(\*)?)?$|^F\.(st|ld|full)(\*)?$')


class Step:
    def __init__(self, text):
        m = STEP.match(text)
        assert m, text
        self.kind, self.place, self.order = m[1] or 'F', m[2], m[3]
        self.value = int(m[5] or 0)
        self.depends = bool(m[6])
        self.fence = m[8]
        self.optional = bool(m[4] or m[7] or m[9])
        self.reads, self.writes = self.kind in 'RU', self.kind in 'WU'

    def weaken(self):
        self.order, self.depends = None, False
        if self.kind == 'F':
            self.fence = 'none'


def ordered_by_fence(fence, a, b, arm):
    if fence == 'full':
        return True
    if not arm or fence == 'none':
        return False
    return a.reads if fence == 'ld' else a.writes and b.writes and not a.reads


def ordered(steps, i, j, arm):
    """Must step i come before step j?"""
    a, b = steps[i], steps[j]
    if a.place == b.place:
        return True
    if any(s.kind == 'F' and ordered_by_fence(s.fence, a, b, arm) for s in steps[i + 1:j]):
        return True
    if not arm:
        locked = (a.writes and a.order == 'sc') or a.kind == 'U' or b.kind == 'U'
        return locked or not (a.writes and b.reads)
    if a.reads and a.order in ('acq', 'sc'):
        return True
    if b.writes and b.order in ('rel', 'sc'):
        return True
    if a.writes and b.reads and a.order == b.order == 'sc':
        return True
    return b.depends and a.reads


def outcomes(threads, arm):
    """All values that the loads of plain R steps can return, by place, and those in memory in the end."""
    seen, found, stack = set(), set(), [(frozenset(), (), ())]
    while stack:
        done, memory, read = stack.pop()
        if (done, memory, read) in seen:
            continue
        seen.add((done, memory, read))
        values, left = dict(memory), 0
        for t, steps in enumerate(threads):
            for i, s in enumerate(steps):
                if (t, i) in done or s.kind == 'F':
                    continue
                left += 1
                if any((t, k) not in done and steps[k].kind != 'F' and ordered(steps, k, i, arm)
                       for k in range(i)):
                    continue
                got = dict(read)
                if s.kind == 'R':
                    got[s.place] = values.get(s.place, 0)
                after = {**values, s.place: s.value} if s.writes else values
                stack.append((done | {(t, i)}, tuple(sorted(after.items())), tuple(sorted(got.items()))))
        if not left:
            found.add(read + tuple((f'{place}:', value) for place, value in memory))
    return found


def parse(row, weak=None):
    threads = [[Step(s.strip()) for s in text.split(';')] for text in row[:2]]
    optional = [s for t in threads for s in t if s.optional]
    if weak is not None:
        optional[weak].weaken()
    return threads, len(optional)


def possible(row, weak, arm):
    bad = {(p, int(v)) for p, v in (word.split('=') for word in row[2].split())}
    return any(bad <= set(read) for read in outcomes(parse(row, weak)[0], arm))


def check_row(name, row):
    wrong = [f'{name}: the outcome is possible on {where}' for where, arm in (('Armv8', True), ('x86', False))
             if possible(row, None, arm)]
    fails = []
    for weak in range(parse(row)[1]):
        if not possible(row, weak, True):
            wrong.append(f'{name}: nothing depends on its barrier {weak + 1}')
        fails.append('Armv8 and x86' if possible(row, weak, False) else 'Armv8')
    print(f'{name}: impossible; without one of its barriers possible on: {", ".join(fails)}')
    return wrong


def main():
    if sys.argv[1] == '--self-test':
        bad = ('W x 1; W y 1', 'R y; R x', 'y=1 x=0')
        sys.exit(0 if possible(bad, None, True) and not possible(bad, None, False) else 'not found')
    document = pathlib.Path(sys.argv[1]) / 'docs' / 'memory-order.md'
    listed = set(re.findall(r'^\| `([\w-]+)` \|', document.read_text(), re.M))
    wrong = [f'docs/memory-order.md lacks the row {name}' for name in sorted(ROWS.keys() - listed)]
    wrong += [f'order.py lacks the row {name}' for name in sorted(listed - ROWS.keys())]
    program = (pathlib.Path(sys.argv[1]) / 'tests' / 'hil' / 'order.c').read_text()
    tried = set(re.findall(r'[\w-]+', ' '.join(re.findall(r'^/\*[\s*]+rows?: (.*?)\*/', program, re.M | re.S))))
    wrong += [f'tests/hil/order.c does not try the row {name}' for name in sorted(ROWS.keys() - tried - NOT_TRIED)]
    for name, row in ROWS.items():
        wrong += check_row(name, row)
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
