"""Configuration of Sphinx for `make docs`; neither it nor the pages use the network."""

import logging
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_extensions"), str(DOCS.parent / "src"), str(DOCS.parent / "examples")]

from elsewhere import write_inventories  # noqa: E402
from reference import class_addresses  # noqa: E402

import equimargin  # noqa: E402

# A package of furo's shows the logs of all packages at level INFO.
logging.getLogger("equimargin").setLevel(logging.WARNING)

project = "equimargin"
author = "The equimargin developers"
project_copyright = "the equimargin developers"
version = release = equimargin.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.intersphinx"]
extensions += ["sphinx_gallery.gen_gallery", "docstrings", "mathml", "reference", "scrolling"]
exclude_patterns = [
    "reference/api/parts",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.md5",
    "gallery/**/*.json",
]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings have types, shapes and units
add_module_names = False

# numpydoc reads docstrings, and links public classes and the names of `elsewhere` in types.
numpydoc_show_class_members = False  # autodoc documents them
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # any other word of a type is text
numpydoc_xref_aliases = {
    **class_addresses(),
    "Fraction": "fractions.Fraction",
    "Path": "pathlib.Path",
    "cvxpy.Problem": ":obj:`cvxpy.Problem`",
}
intersphinx_mapping = write_inventories(DOCS.parent / "build" / "inventories")

html_theme = "furo"
html_title = f"equimargin {version}"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/{folder}"
        for folder in (
            "first_steps",
            "formulations",
            "solvers",
            "rankings",
            "questions",
            "documents",
        )
    ],
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(DOCS / "static" / "table.svg"),  # of examples without a picture
    "filename_pattern": r"\.py$",  # every example is run
    "ignore_pattern": r"(__init__|experiment)\.py$",  # shared code of examples is not an example
    "nested_sections": False,
    "download_all_examples": False,
    "first_notebook_cell": "# pip install 'equimargin[compare]'",
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}
