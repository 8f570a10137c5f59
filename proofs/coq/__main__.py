"""Build the program that is extracted from the proof of the checker: python -m equimargin.proofs.coq."""

from __future__ import annotations

import sys

from equimargin.proofs.coq import NotProved, build


def main() -> int:
    """The exit status: 0 the program is there, 2 it is not."""
    try:
        print(f"The program of the proved checker is {build()}; `equimargin verify` asks it too.")
    except NotProved as reason:
        print(f"equimargin: {reason}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
