"""Long campaigns: seeded faults, nightly instances, tampered certificates, theorems.

Each is a `make` target.

    python -m campaigns NAME --seed 1 --examples 1000 [PART ...]

Seeded faults, theorems and the tests of claims are no examples, and have their own
commands: `python -m campaigns.faults` etc.
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
