# SPDX-License-Identifier: Apache-2.0
"""places.py: where a C or OpenCL C file can be broken, and how: one token or one statement at a time.

The text is cut into tokens, so that nothing changes in comments, strings, characters and what the preprocessor reads, but for
the number of a `#define NAME NUMBER`. Which `*`, `-` or `&` stands between two operands the format tells (ci/format puts spaces on
both sides of those). Names of mutants are FILE:LINE:COLUMN:OPERATION. Left out is what no test can notice: sizes of arrays (a byte
of room more), what only releases (the row sanitizers of ci/full sees what is lost, and checks every test for it), and assertions.

Kinds: comparison (also && and ||), constant, operand (an arithmetic operator, a negation, width for height), statement (one
that is left out, break and continue too) and lock (a mutex that a function does not take).
"""
import bisect
import collections
import re

KINDS = {"comparison": 30, "constant": 22, "operand": 22, "statement": 22, "lock": 4}  # how often each is drawn

Mutant = collections.namedtuple("Mutant", "file line column kind operation start end instead function")
Token = collections.namedtuple("Token", "kind text start end")

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>(?<![^\n])[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
""", re.VERBOSE | re.DOTALL)

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&",
              "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|="}
PAIRS = [("x", "y"), ("width", "height"), ("columns", "rows"), ("column", "row"), ("left", "top"), ("right", "bottom"), ("min", "max"),
         ("fmin", "fmax"), ("fminf", "fmaxf"), ("floor", "ceil"), ("first", "last"), ("begin", "end"), ("z", "w"), ("true", "false")]
PEERS = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
RELEASES = re.compile(r"(^|_)(free|destroy|close|fclose|release|clear|closedir|munmap|unlink|remove|drop)(_|$)|^(clRelease|sws_free|av_\w*free)|assert")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "goto", "default"}


def tokens_of(text):
    """All tokens but comments."""
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "comment"]


def functions_of(tokens):
    """For each token the name of the function that it is in, or None; a body's braces and parameters are no part of it."""
    names, depth, parens, name, candidate = [], 0, 0, None, None
    for i, token in enumerate(tokens):
        names.append(name)
        if token.kind != "mark":
            continue
        if token.text == "(":
            if depth == 0 and parens == 0 and i > 0 and tokens[i - 1].kind == "word":
                candidate = tokens[i - 1].text
            parens += 1
        elif token.text == ")":
            parens -= 1
        elif token.text == "{":
            if depth == 0 and tokens[i - 1].text == ")":
                name = candidate
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0:
                name = names[-1] = None
        elif token.text == ";" and depth == 0 and parens == 0:
            candidate = None
    return names


def changed_number(text):
    """What stands for a number: (operation, text) pairs."""
    whole = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if whole:
        value = int(whole[1], 0) if whole[1][:2] in ("0x", "0X") else int(whole[1])
        form = (lambda n: f"{n:#x}") if whole[1][:2] in ("0x", "0X") else str
        yield "+1", form(value + 1) + whole[2]
        if value > 0:
            yield "-1", form(value - 1) + whole[2]
        return
    real = re.fullmatch(r"((?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)([fF]?)", text)
    if not real:
        return
    value = float(real[1])
    if value == 0.0:
        yield "1.0", "1.0" + real[2]
    else:
        for factor in (1.1, 2.0):
            changed = f"{value * factor:.12g}"
            yield f"*{factor}", (changed if "." in changed or "e" in changed else changed + ".0") + real[2]


class File:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokens_of(text)
        self.functions = functions_of(self.tokens)
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def line_of(self, place):
        return bisect.bisect_right(self.starts, place)

    def line_text(self, line):
        return self.text.splitlines()[line - 1].strip()

    def mutant(self, kind, operation, start, end, instead, function):
        line = self.line_of(start)
        return Mutant(self.path, line, start - self.starts[line - 1] + 1, kind, operation, start, end, instead, function)

    def mutants(self):
        """All mutants of the file, in the order of the text."""
        found = []
        for i, token in enumerate(self.tokens):
            function = self.functions[i]
            if token.kind == "directive":
                found += self.of_define(token)
            elif token.kind == "number":
                found += self.of_number(i, function)
            elif function is None:
                continue
            elif token.kind == "mark":
                found += self.of_mark(i, function)
            elif token.kind == "word":
                found += self.of_word(i, function)
        return found

    def before(self, i):
        return self.tokens[i - 1] if i > 0 else Token("mark", "", 0, 0)

    def between(self, i):
        """Whether spaces stand on both sides of a token, or a line ends behind it: it stands between two operands."""
        token = self.tokens[i]
        return self.text[token.start - 1].isspace() and self.text[token.end:token.end + 1].isspace()

    def of_define(self, token):
        define = re.fullmatch(r"\s*#\s*define\s+(\w+)\s+\(?(-?[\w.]+(?:[eE][+-]\d+)?)\)?\s*(/\*.*)?", token.text, re.DOTALL)
        if define:
            start = token.start + define.start(2)
            for operation, instead in changed_number(define[2]):
                yield self.mutant("constant", operation, start, start + len(define[2]), instead, None)

    def of_number(self, i, function):
        token, before = self.tokens[i], self.before(i)
        if before.text == "[" and self.tokens[i + 1].text == "]" and i > 2 and self.tokens[i - 2].kind == self.tokens[i - 3].kind == "word":
            return  # the size of an array
        if before.text == "-" and self.tokens[i - 2].text in ("case", "=") and function is None:
            return  # errors' numbers
        for operation, instead in changed_number(token.text):
            yield self.mutant("constant", operation, token.start, token.end, instead, function)

    def of_mark(self, i, function):
        token = self.tokens[i]
        if token.text in COMPARISONS and self.between(i):
            instead = COMPARISONS[token.text]
            yield self.mutant("comparison", instead, token.start, token.end, instead, function)
        elif token.text in ARITHMETIC and self.between(i):
            instead = ARITHMETIC[token.text]
            yield self.mutant("operand", instead, token.start, token.end, instead, function)
        elif token.text in ("!", "-") and not self.between(i) and self.tokens[i + 1].kind in ("word", "mark") and \
                self.before(i).text not in (")", "]") and self.before(i).kind != "number":
            yield self.mutant("operand", "without " + token.text, token.start, token.end, "", function)

    def of_word(self, i, function):
        token, before = self.tokens[i], self.before(i)
        if self.begins_statement(i):
            yield from self.of_statement(i, function)
        if token.text in PEERS and self.tokens[i + 1].text not in ("=",):
            yield self.mutant("operand", PEERS[token.text], token.start, token.end, PEERS[token.text], function)

    def begins_statement(self, i):
        before = self.before(i).text
        if before == ")":
            return self.follows_condition(i - 1)
        if before == ":":  # of a label, not of `? :`
            return "default" in (self.tokens[i - 2].text, self.tokens[i - 3].text) or self.tokens[i - 3].text == "case"
        return before in (";", "{", "}", "else")

    def follows_condition(self, i):
        """Whether the `)` at i ends the head of an if, for or while, and not a cast."""
        depth = 0
        while i > 0:
            depth += {")": 1, "(": -1}.get(self.tokens[i].text, 0)
            if depth == 0:
                return self.tokens[i - 1].text in ("if", "for", "while")
            i -= 1
        return False

    def of_statement(self, i, function):
        first, second = self.tokens[i], self.tokens[i + 1]
        if first.text in ("break", "continue"):
            yield self.mutant("statement", "remove", first.start, first.end, "", function)
            return
        if first.text in KEYWORDS or second.kind != "mark" or second.text not in ("(", "=", "->", ".", "[", "+=", "-=", "*=", "/=", "|=", "&="):
            return
        end = self.end_of(i)
        if end is None or second.text == "(" and RELEASES.search(first.text):
            return
        if first.text in ("pthread_mutex_lock", "pthread_mutex_unlock"):
            if first.text == "pthread_mutex_lock":
                yield from self.of_lock(i, end, function)
            return
        yield self.mutant("statement", "remove", first.start, self.tokens[end - 1].end, "", function)

    def end_of(self, i):
        """The `;` that ends the statement that begins at i, or None where it is none."""
        depth = 0
        for j in range(i, len(self.tokens)):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self.tokens[j].text, 0)
            if depth < 0:
                return None
            if depth == 0 and self.tokens[j].text == ";":
                return j
        return None

    def of_lock(self, i, end, function):
        """The function as it stands, without this mutex: from the first lock of it to the end of the function."""
        stop = i
        while stop < len(self.tokens) and self.functions[stop] == function:
            stop += 1
        argument = self.text[self.tokens[i + 2].start:self.tokens[end - 2].end]
        start, last = self.tokens[i].start, self.tokens[stop - 1].end
        part = re.sub(rf"pthread_mutex_(un)?lock\({re.escape(argument)}\);", ";", self.text[start:last])
        yield self.mutant("lock", "remove", start, last, part, function)


def name_of(mutant):
    return f"{mutant.file}:{mutant.line}:{mutant.column}:{mutant.operation}"


def applied(text, mutant):
    """The text with the mutant in it, with as many lines as before."""
    removed = text[mutant.start:mutant.end]
    return text[:mutant.start] + mutant.instead + "\n" * (removed.count("\n") - mutant.instead.count("\n")) + text[mutant.end:]
