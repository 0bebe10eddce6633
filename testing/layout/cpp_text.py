"""Just enough C++ to measure it: text without comments and strings, and its functions.

Not a parser. It relies on formatted code (the `format` test) and counts braces; templates,
lambdas, raw strings, digit separators and constructor initialisers are understood.
"""

import re

_TOKEN = re.compile(
    r'R"(?P<delim>[^()\s\\]{0,16})\((?:.|\n)*?\)(?P=delim)"'  # raw string
    r"|//(?:[^\n\\]|\\.|\\\n)*|/\*(?:.|\n)*?\*/"              # comments
    r'|"(?:[^"\\\n]|\\.|\\\n)*"'                              # string
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'")                  # character, not 1'000


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def blank_comments_and_strings(text):
    """`text` with comments and literals turned into spaces: offsets and lines stay."""
    return _TOKEN.sub(lambda found: _blank(found[0]), text)


def comments_only(text):
    """`text` with everything but its comments turned into spaces."""
    kept, end = [], 0
    for found in _TOKEN.finditer(text):
        kept.append(_blank(text[end:found.start()]))
        kept.append(found[0] if found[0].startswith("/") else _blank(found[0]))
        end = found.end()
    return "".join(kept) + _blank(text[end:])


def _without_template_heads(head):
    while True:
        found = re.match(r"\s*template\s*<", head)
        if not found:
            return head
        depth, at = 1, found.end()
        while at < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]


def _kind(head, inside_function):
    """What the brace after `head` opens: function, scope, init or block."""
    if inside_function:
        return "block"
    head = _without_template_heads(head).strip()
    if re.match(r"(inline\s+)?namespace\b|extern\s*$", head):
        return "scope"
    if re.match(r"(typedef\s+)?(class|struct|union|enum)\b", head) and not head.endswith(")"):
        return "scope"
    if head.endswith("=") or "(" not in head:
        return "init"
    # `Name(…) : member{…}, other{…} {`: a member's initialiser, the body comes later.
    if re.search(r"\)[^;]*?(?<!:):(?!:)", head) and re.search(
            r"(?<!:)[,:]\s*[A-Za-z_][\w:]*(<[^()]*>)?$", head):
        return "init"
    return "function"


def functions(code):
    """(name, first line, last line) of each function of text without comments."""
    code = re.sub(r"(?m)^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda found: _blank(found[0]), code)
    found, stack, head_start = [], [], 0
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match[0] == "{":
            inside = any(kind in ("function", "block") for kind, _, _ in stack)
            head = code[head_start:at]
            kind = _kind(head, inside)
            stack.append((kind, head_start, head))
            if kind != "init":
                head_start = at + 1
        elif match[0] == "}" and stack:
            kind, start, head = stack.pop()
            if kind == "function":
                found.append(_describe(code, start, head, at))
            if kind != "init":
                head_start = at + 1
        elif not any(kind == "init" for kind, _, _ in stack):
            head_start = at + 1
    return sorted(found, key=lambda function: function[1])


def _describe(code, start, head, end):
    head = re.sub(r"^(?:\s|(public|private|protected):)+", _keep_length, head)
    first = start + len(head) - len(head.lstrip())
    names = re.findall(r"([A-Za-z_~][\w:~]*|operator\W{1,3})\s*\(", head)
    return (names[0] if names else "function", code.count("\n", 0, first) + 1,
            code.count("\n", 0, end) + 1)


def _keep_length(found):
    return _blank(found[0])
