"""Ledger of the claims of five documents, each with its verdict and its evidence."""

from ledger.entries import Claim, Kind, Verdict, chosen, claim, claims

__all__ = ["Claim", "Kind", "Verdict", "chosen", "claim", "claims"]
