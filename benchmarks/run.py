"""Run a benchmark by the name of its module.

python benchmarks/run.py kinds.svm --quick        python benchmarks/run.py kinds.svm --help
"""

from __future__ import annotations

import sys

from table import benchmark_of

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("name a benchmark: python benchmarks/run.py NAME; docs/benchmarks.md has a list")
    benchmark_of(sys.argv[1]).main(sys.argv[1], sys.argv[2:])
