"""Long campaigns: seeded faults, nightly instances, tampered certificates, theorems.

Each is a `make` target. Most try random examples:

    python -m campaigns NAME --seed 1 --examples 1000 [PART ...]

Campaigns without examples (seeded faults, theorems, tests of claims) have their own
commands, such as `python -m campaigns.faults`.
"""

import os

# numpy reads these variables once, at its import.
for _library in (
    "OPENBLAS",
    "OMP",
    "MKL",
    "VECLIB_MAXIMUM",
):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
