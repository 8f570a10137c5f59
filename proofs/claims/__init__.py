"""The ledger of what the documents claim: every claim with its verdict, and what shows it."""

from equimargin.proofs.claims.check import failure, statement_of
from equimargin.proofs.claims.ledger import Claim, Kind, Verdict, chosen, claim, claims

__all__ = ["Claim", "Kind", "Verdict", "chosen", "claim", "claims", "failure", "statement_of"]
