"""Run a campaign by the name of its module.

python -m campaigns exact.nightly --seed 1 --examples 1000
"""

from __future__ import annotations

import sys

from campaigns.runner import campaign_of

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(
            "name a campaign: python -m campaigns NAME; those there are in tests/campaigns "
            "say how they are run"
        )
    sys.exit(campaign_of(sys.argv[1]).main(sys.argv[2:]))
