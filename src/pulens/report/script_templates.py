"""The page's templates as JavaScript: the one page fills them in the browser, where there is no jinja2.

Templates stay the only source of a page's form. They are parsed by jinja2 when the one page is written, and each
node becomes the expression that does the same (``assets/one_file/filling.js`` holds what they share). A node that has
no such expression is an error then, not a hole in somebody's page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, nodes

from pulens.errors import PulensError

#: Names of what stands in a page a thousand times; arguments of macros begin with the mark that ends these.
SHORT = """const p$ = (whole, ...names) => names.reduce((found, name) => filling.part(found, name), whole);
const e$ = (value, ...names) => filling.escaped(p$(value, ...names));
const t$ = (value, ...names) => filling.truth(p$(value, ...names));
const l$ = (items, body, test) => filling.each(items, body, test);
const c$ = (place, name, given, named) => filling.call(place, name, given, named);
"""
COMPARED = {"eq": "===", "ne": "!==", "lt": "<", "gt": ">", "lteq": "<=", "gteq": ">="}


def templates_as_script(names: Iterable[str]) -> str:
    """A script that defines ``templates``: for each name its blocks, macros and the template that it extends.

    >>> "chart card" in templates_as_script(["figure.html.j2"])
    True
    """
    environment = Environment(loader=PackageLoader("pulens.report", "templates"), autoescape=True)
    waiting, parts = list(names), dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name in parts:
            continue
        assert environment.loader is not None
        source = environment.loader.get_source(environment, name)[0]
        template = _Template(name)
        parts[name] = template.script(environment.parse(source))
        waiting += template.needed
    return (
        SHORT
        + "const templates = {\n"
        + ",\n".join(f"{json.dumps(name)}: {parts[name]}" for name in sorted(parts))
        + "\n};"
    )


def _quoted(text: str) -> str:
    """Text as a script has it, in the marks of which it holds fewer.

    >>> print(_quoted('<b class="wide">'), _quoted("it's"))
    '<b class="wide">' "it's"
    """
    if text.count('"') <= text.count("'"):
        return json.dumps(text, ensure_ascii=False)
    pieces = (json.dumps(piece, ensure_ascii=False)[1:-1].replace("'", "\\'") for piece in text.split('"'))
    return "'" + '"'.join(pieces) + "'"


@dataclass
class _Template:
    """One template on its way; ``needed`` are those that it extends or takes macros from."""

    name: str
    needed: list[str] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)  # macro to its template
    own: set[str] = field(default_factory=set)
    counter: int = 0

    def script(self, tree: nodes.Template) -> str:
        self.own = {result.name for result in tree.find_all(nodes.Macro)}
        base, blocks, macros = "null", [], []
        for result in tree.find_all(nodes.FromImport):
            place = self._constant(result.template)
            self.needed.append(place)
            for each in result.names:
                self.imported[each if isinstance(each, str) else each[1]] = place
        for extends in tree.find_all(nodes.Extends):
            base = json.dumps(self._constant(extends.template))
            self.needed.append(self._constant(extends.template))
        for macro in tree.find_all(nodes.Macro):
            macros.append(f"{json.dumps(macro.name)}: {self._macro(macro)}")
        for block in tree.find_all(nodes.Block):
            blocks.append(f"{json.dumps(block.name)}: (c, $b) => {self._joined(block.body, {})}")
        root = "null" if base != "null" else f"(c, $b) => {self._joined(tree.body, {})}"
        return f"{{base: {base}, blocks: {{{', '.join(blocks)}}}, macros: {{{', '.join(macros)}}}, root: {root}}}"

    def _constant(self, node: nodes.Expr) -> str:
        if not isinstance(node, nodes.Const):
            raise self._unknown(node)
        return str(node.value)

    def _unknown(self, node: nodes.Node) -> PulensError:
        return PulensError(
            f"the template {self.name}, line {node.lineno}: {type(node).__name__} has no counterpart in the one page. "
            "Say it with what other templates use, or teach pulens.report.script_templates."
        )

    def _fresh(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    # --- statements: each is an expression whose value is text -----------------------------------------------------

    def _joined(self, body: Iterable[nodes.Node], scope: Mapping[str, str]) -> str:
        parts = [part for node in body for part in self._statement(node, scope)]
        return " + ".join(parts) if parts else '""'

    def _statement(self, node: nodes.Node, scope: Mapping[str, str]) -> list[str]:
        if isinstance(node, nodes.Output):
            return [self._output(part, scope) for part in node.nodes]
        if isinstance(node, nodes.If):
            return [self._if(node, scope)]
        if isinstance(node, nodes.For):
            return [self._for(node, scope)]
        if isinstance(node, nodes.Block):
            return [f"$b({json.dumps(node.name)}, c)"]
        if isinstance(node, nodes.Extends | nodes.FromImport | nodes.Macro):
            return []
        raise self._unknown(node)

    def _output(self, node: nodes.Expr, scope: Mapping[str, str]) -> str:
        if isinstance(node, nodes.TemplateData):
            return _quoted(node.data)
        return self._called_on("e$", self._of(node, scope))

    def _called_on(self, name: str, expression: str) -> str:
        """What is shown or asked is nearly always a part of something: then both stand in one call."""
        is_part = expression.startswith("p$(") and expression.count("(") == 1
        return f"{name}{expression.removeprefix('p$')}" if is_part else f"{name}({expression})"

    def _part(self, whole: str, name: str) -> str:
        """A part of a part of something: one call with both names."""
        is_part = whole.startswith("p$(") and whole.count("(") == 1
        return f"{whole[:-1]}, {name})" if is_part else f"p$({whole}, {name})"

    def _if(self, node: nodes.If, scope: Mapping[str, str]) -> str:
        last = self._joined(node.else_, scope)
        for branch in [*reversed(node.elif_), node]:
            test, text = self._called_on("t$", self._of(branch.test, scope)), self._joined(branch.body, scope)
            last = f"({test} ? {text} : {last})"
        return last

    def _for(self, node: nodes.For, scope: Mapping[str, str]) -> str:
        if node.else_ or node.recursive:
            raise self._unknown(node)
        item, loop = self._fresh(), self._fresh()
        inner = {**scope, "loop": loop}
        if isinstance(node.target, nodes.Name):
            inner[node.target.name], taken = item, item
        elif isinstance(node.target, nodes.Tuple):
            names = [self._fresh() for _ in node.target.items]
            inner |= {name.name: new for name, new in zip(node.target.items, names, strict=True)}  # type: ignore[attr-defined]
            taken = f"[{', '.join(names)}]"
        else:
            raise self._unknown(node)
        test = "null" if node.test is None else f"({taken}) => t$({self._of(node.test, inner)})"
        items, body = self._of(node.iter, scope), self._joined(node.body, inner)
        return f"l$({items}, ({taken}, {loop}) => {body}, {test})"

    def _macro(self, node: nodes.Macro) -> str:
        """The macro as a function of its arguments by name, and their order: calls may give them by place."""
        names = [argument.name for argument in node.args]
        defaults = [None] * (len(names) - len(node.defaults)) + list(node.defaults)
        given = [
            f"{name}: ${name}" if default is None else f"{name}: ${name} = {self._of(default, {})}"
            for name, default in zip(names, defaults, strict=True)
        ]
        body = self._joined(node.body, {"": "macro", **{name: f"${name}" for name in names}})
        return f"[({{{', '.join(given)}}}) => filling.safe({body}), {json.dumps(names)}]"

    # --- expressions -----------------------------------------------------------------------------------------------

    def _of(self, node: nodes.Node, scope: Mapping[str, str]) -> str:
        if isinstance(node, nodes.Const):
            return json.dumps(node.value)
        if isinstance(node, nodes.Name):
            return self._name(node, scope)
        if isinstance(node, nodes.Getattr):
            return self._part(self._of(node.node, scope), json.dumps(node.attr))
        if isinstance(node, nodes.Getitem):
            return self._part(self._of(node.node, scope), self._of(node.arg, scope))
        if isinstance(node, nodes.CondExpr):
            other = '""' if node.expr2 is None else self._of(node.expr2, scope)
            return f"(t$({self._of(node.test, scope)}) ? {self._of(node.expr1, scope)} : {other})"
        if isinstance(node, nodes.Tuple | nodes.List):
            return f"[{self._each(node.items, scope)}]"
        if isinstance(node, nodes.Concat):
            return f"filling.concat([{self._each(node.nodes, scope)}])"
        if isinstance(node, nodes.Filter) and node.node is not None and not node.kwargs:
            return f"filling.filters.{node.name}({self._each((node.node, *node.args), scope)})"
        if isinstance(node, nodes.Call):
            return self._call(node, scope)
        return self._compared(node, scope)

    def _each(self, parts: Iterable[nodes.Node], scope: Mapping[str, str]) -> str:
        return ", ".join(self._of(part, scope) for part in parts)

    def _compared(self, node: nodes.Node, scope: Mapping[str, str]) -> str:
        """What is true or not."""
        if isinstance(node, nodes.Not):
            return f"!t$({self._of(node.node, scope)})"
        if isinstance(node, nodes.And | nodes.Or):
            name = "and" if isinstance(node, nodes.And) else "or"
            return f"filling.{name}({self._of(node.left, scope)}, () => {self._of(node.right, scope)})"
        if isinstance(node, nodes.Compare) and len(node.ops) == 1 and node.ops[0].op in COMPARED:
            return f"({self._of(node.expr, scope)} {COMPARED[node.ops[0].op]} {self._of(node.ops[0].expr, scope)})"
        raise self._unknown(node)

    def _name(self, node: nodes.Name, scope: Mapping[str, str]) -> str:
        if node.name in scope:
            return scope[node.name]
        if scope.get("") == "macro":
            raise self._unknown(node)
        return f"p$(c, {json.dumps(node.name)})"

    def _call(self, node: nodes.Call, scope: Mapping[str, str]) -> str:
        if not isinstance(node.node, nodes.Name) or node.dyn_args or node.dyn_kwargs:
            raise self._unknown(node)
        name = node.node.name
        if name not in self.imported and name not in self.own:
            raise self._unknown(node)
        place = self.imported.get(name, self.name)
        given = [self._of(each, scope) for each in node.args]
        named = [f"{each.key}: {self._of(each.value, scope)}" for each in node.kwargs]
        return f"c$({json.dumps(place)}, {json.dumps(name)}, [{', '.join(given)}], {{{', '.join(named)}}})"
