"""TREC's files of judgements (qrels) and of retrieved documents (runs)."""

from equimargin.data.formats.trec.qrels import JudgedRun, Qrels
from equimargin.data.formats.trec.run import TrecRun

__all__ = ["JudgedRun", "Qrels", "TrecRun"]
