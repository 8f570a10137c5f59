"""The atlas: a folder of linked pages, one for every formulation, family and file of theorems, and one that checks certificates."""

from equimargin.atlas.writing import write_atlas

__all__ = ["write_atlas"]
