"""The ledger of what the documents claim: every claim with its verdict, and what shows it."""

from ledger.entries import Claim, Kind, Verdict, chosen, claim, claims

__all__ = ["Claim", "Kind", "Verdict", "chosen", "claim", "claims"]
