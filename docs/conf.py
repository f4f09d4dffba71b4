"""How the pages of this directory become a site: ``./sconsw docs`` writes it to build/docs.

The API pages are made from docstrings. Every warning is an error there, among them those of
``reference.py``: a public name that no page has, or that has no docstring.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import iron

project = "iron"
author = "the iron authors"
version = release = iron.__version__
project_copyright = author

extensions = ["sphinx.ext.autodoc", "myst_parser", "reference"]
html_theme = "furo"
html_title = f"iron {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

default_role = "iron-name"  # of `words` in docstrings
add_module_names = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88  # longer ones get a line for each parameter

myst_heading_anchors = 3  # links to headings
