"""Where a reference in a docstring leads: a name's home in the package may differ from where it is documented."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode


def resolve(app: Any, env: Any, node: Any, contnode: nodes.Element) -> nodes.Node | None:
    """Find ``pulens.estimate.Estimate`` under ``pulens.Estimate``; leave words of other libraries as they are."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    known = env.get_domain("py").objects
    last = target.rpartition(".")[2]
    for full in sorted(known, key=len):
        if full == target or (full.rpartition(".")[2] == last and full.startswith("pulens.")):
            return make_refnode(app.builder, node["refdoc"], known[full].docname, known[full].node_id, contnode, full)
    # a role that a person wrote must lead somewhere; a type in a signature may be no part of the reference
    written_by_hand = "refexplicit" in node and node["reftype"] != "mod"
    ours = target.startswith("pulens.") or "." not in target
    return None if written_by_hand and ours and "._" not in target else contnode


def setup(app: Any) -> dict[str, bool]:
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
