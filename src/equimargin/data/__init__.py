"""Bundled data sets, and loading of files and data frames as finite arrays with a target."""

from equimargin.data.bundled import BUNDLED
from equimargin.data.formats.trec import JudgedRun, Qrels, TrecRun
from equimargin.data.loaded import Data, Origin
from equimargin.data.loading import load
from equimargin.data.pairs.clicks import Preferences, preferences
from equimargin.data.table import ReadOptions
from equimargin.data.words import DataError

__all__ = [
    "BUNDLED",
    "Data",
    "DataError",
    "JudgedRun",
    "Origin",
    "Preferences",
    "Qrels",
    "ReadOptions",
    "TrecRun",
    "load",
    "preferences",
]
