"""Data at the edge: bundled sets, files of several formats and data frames become finite arrays with a target for each row."""

from equimargin.data.bundled import BUNDLED
from equimargin.data.loaded import Data, Origin
from equimargin.data.loading import load
from equimargin.data.pairs.clicks import Preferences, preferences
from equimargin.data.table import ReadOptions
from equimargin.data.words import DataError

__all__ = [
    "BUNDLED",
    "Data",
    "DataError",
    "Origin",
    "Preferences",
    "ReadOptions",
    "load",
    "preferences",
]
