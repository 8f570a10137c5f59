"""Data sets by name, and loading of files and data frames as finite arrays with a target."""

from equimargin.data.formats.trec import JudgedRun, Qrels, TrecRun
from equimargin.data.loaded import Data, Origin
from equimargin.data.loading import load
from equimargin.data.pairs.clicks import Preferences, preferences
from equimargin.data.sets.bundled import BUNDLED
from equimargin.data.sets.fetching import fetch
from equimargin.data.sets.published import PUBLIC, PublicSet, data_folder
from equimargin.data.table import ReadOptions
from equimargin.data.words import DataError

__all__ = [
    "BUNDLED",
    "PUBLIC",
    "Data",
    "DataError",
    "JudgedRun",
    "Origin",
    "Preferences",
    "PublicSet",
    "Qrels",
    "ReadOptions",
    "TrecRun",
    "data_folder",
    "fetch",
    "load",
    "preferences",
]
