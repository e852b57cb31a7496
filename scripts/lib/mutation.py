# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Changes of one place in a C file: operators, constants, branches, and statements that are omitted."""
import re

OPERATORS = [
    ("negate a condition", re.compile(r"\bif \((.*)\)$"), r"if (!(\1))"),
    ("==", re.compile(r" == "), " != "),
    ("!=", re.compile(r" != "), " == "),
    ("&&", re.compile(r" && "), " || "),
    ("||", re.compile(r" \|\| "), " && "),
    ("<", re.compile(r" < (?!<)"), " <= "),
    (">", re.compile(r"(?<!-) > "), " >= "),
    ("<=", re.compile(r" <= "), " < "),
    (">=", re.compile(r" >= "), " > "),
    ("+ 1", re.compile(r" \+ 1\b"), ""),
    ("- 1", re.compile(r" - 1\b"), ""),
    ("true", re.compile(r"\btrue\b"), "false"),
    ("false", re.compile(r"\bfalse\b"), "true"),
    ("++", re.compile(r"\+\+(?=;)"), "--"),
    ("--", re.compile(r"--(?=;)"), "++"),
    ("+=", re.compile(r" \+= "), " -= "),
    ("-=", re.compile(r" -= "), " += "),
    ("!", re.compile(r"(?<=[(|& ])!(?=[a-z(])"), ""),
    ("omit a call", re.compile(r"^(\t+)(\(void\))?[a-z]\w+\(.*\);$"), r"\1;"),
    ("omit an assignment", re.compile(r"^(\t+)[a-z][\w.>\[\]-]* = .*;$"), r"\1;"),
    ("&", re.compile(r" & (?=[~\w(])"), " | "),
    ("|", re.compile(r" \| "), " & "),
    ("<<", re.compile(r" << "), " >> "),
    (">>", re.compile(r" >> "), " << "),
    ("+", re.compile(r" \+ (?=[a-zA-Z(])"), " - "),
    ("-", re.compile(r"(?<=[\w)\]]) - (?=[a-zA-Z(])"), " + "),
    ("a larger constant", re.compile(r"(?<![\w.\"])(?:[2-9]|[1-9]\d+|0x[0-9a-f]+)u?(?![\w.])"), r"(\g<0> + 1)"),
    ("0", re.compile(r"(?<![\w.])0u?(?![\w.])"), "1"),
    ("1", re.compile(r"(?<![\w.+-])(?<![+-] )1u?(?![\w.])"), "2"),
    ("swap branches", re.compile(r" \? ([^?:;]+) : ([^?:;,()]+|[^?:;,]*\([^()]*\))(?=[;,)])"), r" ? \2 : \1"),
    ("omit a return", re.compile(r"^(\t{2,})return .*;$"), r"\1;"),
    ("omit a break", re.compile(r"^(\t+)break;$"), r"\1;"),
    ("omit a change", re.compile(r"^(\t+)[a-z][\w.>\[\]-]*(?: [-+|&]= .*|\+\+|--);$"), r"\1;"),
    ("another error", re.compile(r"\breturn DOCA_ERROR_\w+;"), "return DOCA_ERROR_UNKNOWN;"),
]
# Texts of messages, declarations and hints to the compiler are no behaviour.
SKIPPED = re.compile(r'^\s*(/?\*|//|#|static |const |"|_Static_assert|for \(.*;$)|dpumap_log')
DECLARATION = re.compile(r"^\t+(const |struct |enum |u?int\w* |size_t |bool |doca_error_t |union )")


def without_text(line):
    """Strings and comments become blanks of the same length."""
    blank = lambda found: " " * len(found.group())
    return re.sub(r'"(\\.|[^"\\])*"|/\*.*?\*/', blank, line)


def candidates(path):
    """Yield operator, line number from 0, and the changed line."""
    inside = comment = False
    for number, line in enumerate(path.read_text().splitlines()):
        comment = (comment or line.lstrip().startswith("/*")) and "*/" not in line
        inside = line == "{" or (inside and line != "}")
        if comment or not inside or SKIPPED.search(line):
            continue
        for name, pattern, new in OPERATORS:
            if name == "omit an assignment" and DECLARATION.search(line):
                continue
            for found in pattern.finditer(without_text(line)):
                changed = line[:found.start()] + pattern.sub(new, line[found.start():], count=1)
                if changed != line:
                    yield name, number, changed
