"""How the documentation is built: `make docs`, or `sphinx-build -W docs docs/_build`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from method_tables import write_pages  # noqa: E402

import conspectus  # noqa: E402

write_pages(HERE)  # before the pages are counted

project = "Conspectus"
author = "the Conspectus developers"
release = version = conspectus.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generated/methods.md", "gallery/*.ipynb", "gallery/*.py.md5"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # the types stand in the docstrings' sections
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
html_theme = "pydata_sphinx_theme"
html_title = "Conspectus"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_show_sourcelink = False
nitpicky = False
os.environ.setdefault("OMP_NUM_THREADS", "1")

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "copyfile_regex": r".*\.css",
}
