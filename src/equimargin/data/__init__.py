"""Data at the edge: bundled sets and files of several formats become finite arrays with a target each."""

from equimargin.data.bundled import BUNDLED
from equimargin.data.loaded import Data
from equimargin.data.loading import load
from equimargin.data.words import DataError

__all__ = ["BUNDLED", "Data", "DataError", "load"]
