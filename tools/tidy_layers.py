# SPDX-License-Identifier: MIT OR Apache-2.0
"""The layer rule of tools/tidy: reads tools/layers.txt (whose head explains its form) and checks
every include of every C and C++ file."""
import os
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PUBLIC = ("kevy/include", "kolibri/include")


def expand(pattern):
    """a{b,c}d becomes abd and acd."""
    match = re.search(r"\{([^}]*)\}", pattern)
    if not match:
        return [pattern]
    head, tail = pattern[:match.start()], pattern[match.end():]
    return [p for part in match[1].split(",") for p in expand(head + part + tail)]


def compile_patterns(words):
    out = []
    for word in words:
        for pattern in expand(word):
            text = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
            out.append(re.compile(text.replace(r"\*", "[^/]*") + "$"))
    return out


def matches(patterns, path):
    return any(p.match(path) for p in patterns)


class Rule:
    def __init__(self, files):
        self.files, self.may, self.system = compile_patterns(files), [], []


def read_rules(path):
    rules, groups = [], {}
    with open(path, encoding="utf-8") as handle:
        for line in handle:
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "group":
                groups.setdefault(words[1], []).extend(words[2:])
            elif words[0] == "files":
                rules.append(Rule(words[1:]))
            elif words[0] == "may":
                rules[-1].may += compile_patterns(words[1:])
            elif words[0] == "system":
                names = [h for w in words[1:] for h in groups.get(w, [w])]
                rules[-1].system += compile_patterns(names)
            else:
                raise SystemExit(f"tools/layers.txt: what is '{words[0]}'?")
    return rules


def resolve(root, includer, name):
    """The path from the root of an included header of this tree; None for a system header."""
    for base in ("",) + PUBLIC + (os.path.dirname(includer),):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def check(root, files):
    rules = read_rules(os.path.join(root, "tools", "layers.txt"))
    for f in files:
        rule = next((r for r in reversed(rules) if matches(r.files, f.path)), None)
        if rule is None:
            yield f.path, 0, "in no rule of tools/layers.txt: which layer is it?"
            continue
        # Comments are stripped in f.code, but so are the names in quotes: the raw line has them.
        for number, (code, line) in enumerate(zip(f.code, f.lines), 1):
            found = INCLUDE.match(line) if code.lstrip().startswith("#") else None
            if found is None:
                continue
            path = resolve(root, f.path, found[2])
            if path is None and found[1] == '"' and not matches(rule.system, found[2]):
                yield f.path, number, f'"{found[2]}" is not here: write the path from the root'
            elif path is not None and not matches(rule.may, path):
                yield f.path, number, f"this layer may not include {path}"
            elif path is None and not matches(rule.system, found[2]):
                yield f.path, number, f"this layer may not include <{found[2]}>"
