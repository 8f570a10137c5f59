"""Build of the program extracted from the checker that is proved in Coq.

Command: python -m equimargin.proofs.coq
"""

from __future__ import annotations

import sys

from equimargin.proofs.coq import NotProved, build


def main() -> int:
    """Build the program; return the exit status, 0 if it is built and 2 otherwise."""
    try:
        print(f"The program of the proved checker is {build()}; `equimargin verify` asks it too.")
    except NotProved as reason:
        print(f"equimargin: {reason}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
