"""List all benchmarks, or run one by the name of its module.

python benchmarks/run.py        python benchmarks/run.py kinds.svm --quick
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
USAGE = """\
python benchmarks/run.py NAME [OPTION ...]    runs a benchmark
python benchmarks/run.py NAME --help          lists its options
"""


def benchmarks() -> Iterator[tuple[str, str]]:
    """Yield the name and the summary of every benchmark, without importing any."""
    for file in sorted(FOLDER.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "\nBENCHMARK = " in text:
            name = ".".join(file.relative_to(FOLDER).with_suffix("").parts)
            summary = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            yield name, summary.removesuffix(".")


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark that the first argument names; without one, print the list."""
    summaries = dict(benchmarks())
    name, *options = arguments or ["--help"]
    if name in ("-h", "--help"):
        print(USAGE)
        for listed, summary in summaries.items():
            print(f"{listed:<19} {summary}")
    elif name in summaries:
        import_module(name).BENCHMARK.main(name, options)
    else:
        sys.exit(f"there is no benchmark {name!r}; python benchmarks/run.py lists all")


if __name__ == "__main__":
    main(sys.argv[1:])
