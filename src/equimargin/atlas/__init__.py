"""Atlas: a folder of linked pages on formulations, families and theorems.

One page checks certificates in the browser.
"""

from equimargin.atlas.writing import write_atlas

__all__ = ["write_atlas"]
