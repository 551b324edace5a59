"""How the site is built: ``make docs``, or ``sphinx-build -W -n -b html docs docs/_build/html``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

from pulens import __version__  # noqa: E402

gc.set_threshold(100_000, 20, 50)  # trees of pages are looked through for circles again and again: a fifth of the time

project = "pulens"
author = "The pulens developers"
copyright = "the pulens developers, MIT licence"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "docstrings",
    "references",
    "mathjax",
    "pictures",
    "gallery",
    "live",
    "links",
    "catalogues",
    "commands",
    "one_file",
    "moved",
    "sidebar",
]
exclude_patterns = ["_build", "_ext", "pictures"]

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

nitpicky = True
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autosummary_generate = False
add_module_names = False
toc_object_entries = False

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
pygments_style = "tango"
pygments_dark_style = "monokai"

html_theme = "furo"
html_title = "pulens"
html_static_path = ["_static"]
html_css_files = ["pulens.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5fa8",
        "color-brand-content": "#1f5fa8",
        "color-picture-strong": "#1f5fa8",
        "color-picture-contrast": "#b8431f",
        "color-picture-third": "#2f7d4f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7db2f0",
        "color-brand-content": "#7db2f0",
        "color-picture-strong": "#7db2f0",
        "color-picture-contrast": "#f0926e",
        "color-picture-third": "#7cc79a",
    },
}
