#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Translate functions of LLVM's intermediate language to SMT-LIB, as formulas about bits.

    clang -O2 -fno-discard-value-names -S -emit-llvm -o - FILE.c | tests/proof/smt.py FOLDER

Each function takes one pointer and returns an int. FOLDER/FUNCTION.smt2 is satisfiable if there are bytes behind
the pointer for which the function does not return 1. The code must have neither loops nor stores nor
other pointers: the optimizer has removed them. Any other instruction is an error. Functions without a body are
any functions of their arguments.
"""
import pathlib
import re
import sys

WIDTH = re.compile(r"^i(\d+)$")
ARITHMETIC = {"or": "bvor", "and": "bvand", "xor": "bvxor", "shl": "bvshl", "lshr": "bvlshr", "add": "bvadd",
              "sub": "bvsub"}
COMPARISONS = {"ugt": "bvugt", "uge": "bvuge", "ult": "bvult", "ule": "bvule", "sgt": "bvsgt", "sge": "bvsge",
               "slt": "bvslt", "sle": "bvsle"}
HINTS = r"(?:nuw |nsw |exact )*"


def bits(value, width):
    return f"(_ bv{value % 2 ** width} {width})"


class Function:
    def __init__(self, name, parameter, lines, big_endian):
        self.name, self.big_endian = name, big_endian
        self.types = {}  # of values
        self.offsets = {parameter: 0}  # of pointers
        self.edges = {}  # (from, to): the condition in block `from`
        self.bytes, self.declared, self.defined = set(), {}, []
        self.block, self.wrong = None, None
        self.reach = {}
        for line in lines:
            self.translate(line)

    def value(self, text, kind):
        width = int(WIDTH.match(kind).group(1))
        if text in ("true", "false"):
            return bits(text == "true", 1)
        if re.fullmatch(r"-?\d+", text):
            return bits(int(text), width)
        if self.types.get(text) != width:
            sys.exit(f"{self.name}: {text} is not a known value of {width} bits")
        return self.symbol(text)

    def symbol(self, name):
        return f"|{name}|"

    def define(self, name, width, formula):
        self.types[name] = width
        self.defined.append(f"(define-fun {self.symbol(name)} () (_ BitVec {width}) {formula})")

    def begin(self, block):
        self.block = block
        edges = [edge for (_, target), edge in self.edges.items() if target == block]
        condition = "true" if not self.reach else "false" if not edges else f"(or {' '.join(edges)} false)"
        self.reach[block] = f"|reach {block}|"
        self.defined.append(f"(define-fun {self.reach[block]} () Bool {condition})")

    def branch(self, target, condition):
        if target in self.reach:
            sys.exit(f"{self.name}: there is a loop to {target}")
        here = (self.block, target)
        edge = f"(and {self.reach[self.block]} {condition})"
        self.edges[here] = f"(or {self.edges[here]} {edge})" if here in self.edges else edge

    def load(self, name, width, pointer):
        if width % 8:
            sys.exit(f"{self.name}: {name} is a load of {width} bits")
        parts = [self.offsets[pointer] + n for n in range(width // 8)]
        self.bytes.update(parts)
        if not self.big_endian:
            parts.reverse()
        joined = " ".join(f"byte{part}" for part in parts)
        self.define(name, width, f"(concat {joined})" if len(parts) > 1 else joined)

    def call(self, name, width, callee, arguments):
        values, kinds = [], []
        for argument in arguments.split(", "):
            kind, value = re.fullmatch(r"(i\d+) (?:noundef |zeroext |signext )*(\S+)", argument).groups()
            values.append(self.value(value, kind))
            kinds.append(f"(_ BitVec {kind[1:]})")
        signature = f"({' '.join(kinds)}) (_ BitVec {width})"
        if self.declared.setdefault(callee, signature) != signature:
            sys.exit(f"{self.name}: {callee} has two types")
        self.define(name, width, f"({callee} {' '.join(values)})")

    def phi(self, name, kind, incoming):
        formula = None
        for value, block in re.findall(r"\[ (\S+), (%\S+) \]", incoming):
            here = self.value(value, kind)
            edge = self.edges[(block, self.block)]
            formula = here if formula is None else f"(ite {edge} {here} {formula})"
        self.define(name, int(kind[1:]), formula)

    def translate(self, line):
        line = re.sub(r"\s*;.*$|(, !\w[\w.]* !\d+)+$| #\d+$", "", line)
        line = re.sub(r", align \d+$", "", line).strip()
        if not line:
            return
        label = re.fullmatch(r"([\w.$-]+):", line)
        if label:
            self.begin(f"%{label.group(1)}")
            return
        if self.instruction(line):
            return
        sys.exit(f"{self.name}: cannot translate '{line}'")

    def instruction(self, line):
        for pattern, action in (
                (r"(%\S+) = getelementptr (?:inbounds )?i8, (?:i8\*|ptr) (%\S+), i\d+ (-?\d+)", self.on_pointer),
                (r"(%\S+) = bitcast i8\* (%\S+) to i\d+\*", self.on_cast),
                (r"(%\S+) = load i(\d+), (?:i\d+\*|ptr) (%\S+)",
                 lambda name, width, pointer: self.load(name, int(width), pointer)),
                (r"(%\S+) = (zext|sext|trunc) (i\d+) (\S+) to i(\d+)", self.on_extension),
                (rf"(%\S+) = ({'|'.join(ARITHMETIC)}) {HINTS}(i\d+) (\S+), (\S+)", self.on_arithmetic),
                (r"(%\S+) = icmp (\w+) (i\d+) (\S+), (\S+)", self.on_comparison),
                (r"(%\S+) = select i1 (\S+), (i\d+) (\S+), i\d+ (\S+)", self.on_choice),
                (r"(%\S+) = (?:tail )?call (i\d+) @llvm\.bswap\.i\d+\(i\d+ (\S+)\)", self.on_swap),
                (r"(%\S+) = (?:tail )?call (?:zeroext |signext )?i(\d+) @(\w+)\((.*)\)",
                 lambda name, width, callee, arguments: self.call(name, int(width), callee, arguments)),
                (r"(%\S+) = phi (i\d+) (.*)", self.phi),
                (r"br label (%\S+)", lambda target: self.branch(target, "true")),
                (r"br i1 (\S+), label (%\S+), label (%\S+)", self.on_condition),
                (r"ret (i\d+) (\S+)", self.on_return)):
            found = re.fullmatch(pattern, line)
            if found:
                action(*found.groups())
                return True
        return False

    def on_pointer(self, name, base, offset):
        self.offsets[name] = self.offsets[base] + int(offset)

    def on_cast(self, name, base):
        self.offsets[name] = self.offsets[base]

    def on_extension(self, name, operation, kind, text, width):
        old, new, value = int(kind[1:]), int(width), self.value(text, kind)
        if operation == "trunc":
            self.define(name, new, f"((_ extract {new - 1} 0) {value})")
        else:
            extend = "zero_extend" if operation == "zext" else "sign_extend"
            self.define(name, new, f"((_ {extend} {new - old}) {value})")

    def on_arithmetic(self, name, operation, kind, left, right):
        self.define(name, int(kind[1:]),
                    f"({ARITHMETIC[operation]} {self.value(left, kind)} {self.value(right, kind)})")

    def on_swap(self, name, kind, text):
        value, width = self.value(text, kind), int(kind[1:])
        parts = " ".join(f"((_ extract {at + 7} {at}) {value})" for at in range(0, width, 8))
        self.define(name, width, f"(concat {parts})")

    def on_comparison(self, name, operation, kind, left, right):
        left, right = self.value(left, kind), self.value(right, kind)
        compare = {"eq": f"(= {left} {right})", "ne": f"(not (= {left} {right}))"}.get(operation)
        compare = compare or f"({COMPARISONS[operation]} {left} {right})"
        self.define(name, 1, f"(ite {compare} #b1 #b0)")

    def on_choice(self, name, condition, kind, left, right):
        self.define(name, int(kind[1:]),
                    f"(ite (= {self.value(condition, 'i1')} #b1) {self.value(left, kind)} {self.value(right, kind)})")

    def on_condition(self, condition, yes, no):
        value = self.value(condition, "i1")
        self.branch(yes, f"(= {value} #b1)")
        self.branch(no, f"(= {value} #b0)")

    def on_return(self, kind, text):
        if self.wrong:
            sys.exit(f"{self.name}: there are two returns")
        self.wrong = f"(and {self.reach[self.block]} (not (= {self.value(text, kind)} {bits(1, int(kind[1:]))})))"

    def formula(self):
        lines = ["(set-logic QF_UFBV)"]
        lines += [f"(declare-const byte{n} (_ BitVec 8))" for n in sorted(self.bytes)]
        lines += [f"(declare-fun {name} {signature})" for name, signature in self.declared.items()]
        return "\n".join([*lines, *self.defined, f"(assert {self.wrong})", "(check-sat)"]) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    text = sys.stdin.read()
    big_endian = re.search(r'^target datalayout = "E', text, re.M) is not None
    functions = re.findall(r"^define [^\n]*@(\w+)\([^%\n]*(%\S+)\) [^\n]*\{\n(.*?)^\}", text, re.M | re.S)
    if not functions:
        sys.exit("there is no function with one argument")
    for name, parameter, body in functions:
        function = Function(name, parameter, body.splitlines(), big_endian)
        (folder / f"{name}.smt2").write_text(function.formula())


if __name__ == "__main__":
    main()
