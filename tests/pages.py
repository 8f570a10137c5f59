"""Follow a page of the documentation as a reader would, from an empty folder.

Run `python tests/pages.py PAGE` in that folder.

Blocks run from top to bottom. The Python blocks share one session; a `text` block that
follows a Python block directly is its output. A block with a caption is written to the
file of that name. A command of a `console` block runs in the folder; its output must
contain the parts between "..." of the output on the page. Numbers must agree within the
tolerances of `occurs`; times may differ, and with them the places where columns truncate
words. `sh` blocks set up an environment, and are not run.
"""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from places import HANG

FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})(?P<language>\{[\w-]+\} *\S*|\w*)\n"
    r"(?P<text>(?:.*\n)*?)(?P=fence)$",
    re.MULTILINE,
)
QUANTITY = r"[-+]?\d+(?:,\d{3})*(?:\.\d*)?(?:e[-+]?\d+)?"
NUMBER = re.compile(
    rf"(?P<time>(?<![\w<])<?\.\d+|{QUANTITY}(?= *(?:m?s|seconds|minutes)\b))|{QUANTITY}"
)
"""Number; a time if it has a unit of time, or no digit before the point, as by `compare`."""
SETTING_UP = ("make", "pip")
"""First words of commands that set up an environment."""

FOLLOWED_AS_BUILT = (
    "README.md",
    "SKILL.md",
    "docs/how_to/compare.md",
    "docs/how_to/use_in_python.md",
)
"""Pages whose blocks run with the installed wheel; others run in the source tree."""
FOLLOWED_WITH_A_PACKAGE = "docs/how_to/own_problem.md"
"""Page whose reader installs a package; `house/test_packaging.py` runs its commands."""


class Block(NamedTuple):
    """Block of a page: language, text, and the file that its caption names.

    `adjacent` is True if it follows the previous block directly.
    """

    language: str
    text: str
    file: str
    line: int
    adjacent: bool


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page."""
    end = 0
    for found in FENCE.finditer(page):
        text, caption = found["text"], re.match(r":caption: (\S+)\n\n?", found["text"])
        language = found["language"].rpartition("}")[2].strip()
        adjacent = not page[end : found.start()].strip()
        line, file = page.count("\n", 0, found.start()), caption[1] if caption else ""
        yield Block(language, text[caption.end() :] if caption else text, file, line, adjacent)
        end = found.end()


def follow(page: Path) -> Iterator[str]:
    """Yield a sentence for every difference; after a failing Python block, stop."""
    session: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        place = f"{page.name}, line {block.line + 1}"
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            said = io.StringIO()
            try:
                with redirect_stdout(said):
                    exec(
                        compile(
                            "\n" * (block.line + 1) + block.text,
                            str(page),
                            "exec",
                            dont_inherit=True,
                        ),
                        session,
                    )
            except BaseException:
                yield f"{place}:\n{traceback.format_exc()}"
                return
            printed = said.getvalue()
        elif block.language == "text" and block.adjacent and printed:
            yield from differences(place, block.text, printed)
        elif block.language == "console":
            printed = ""
            yield from commands(place, block.text)
        elif block.language == "sh" and not all(
            line.startswith(SETTING_UP) for line in block.text.splitlines()
        ):
            yield f"{place}: a block of sh only sets up, by {' or '.join(SETTING_UP)}"


def commands(place: str, text: str) -> Iterator[str]:
    """Run the commands of a block in turn."""
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        answer = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, encoding="utf-8", timeout=HANG
        )
        if answer.returncode != 0 and "; echo" not in command:
            yield (
                f"{place}: {command} ended with {answer.returncode}: {answer.stdout}{answer.stderr}"
            )
        yield from differences(f"{place}, {command}", expected, answer.stdout)


def differences(place: str, expected: str, printed: str) -> Iterator[str]:
    """Yield a sentence for each difference between the output and the page.

    Times, spaces and truncated words do not count; "..." at the end of a line matches
    anything.
    """
    for part in re.split(r"\.\.\.\n|\S*\s*…", expected):
        if not occurs(part, printed):
            yield f"{place}: the page has\n{part}\nand what was printed is\n{printed}"


def occurs(part: str, printed: str) -> bool:
    """Return True if a text contains a part whose numbers agree with the expected ones.

    Times agree. Other numbers agree to a relative 1e-3, or to 1e-6: gaps and residuals
    below are at the level of the solvers' tolerances and of rounding.
    """
    (wanted, numbers), (said, all_numbers) = split_numbers(part), split_numbers(printed)
    for match in re.finditer(f"(?={re.escape(wanted)})", said):
        first = said.count("\0", 0, match.start())
        pairs = zip(numbers, all_numbers[first:], strict=False)
        if all(
            math.isnan(a) or math.isnan(b) or math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-6)
            for a, b in pairs
        ):
            return True
    return False


def split_numbers(text: str) -> tuple[str, list[float]]:
    """Return a text of single spaces, NUL for each number, and the numbers, NaN for a time."""
    numbers = [
        math.nan if match["time"] else float(match[0].replace(",", ""))
        for match in NUMBER.finditer(text)
    ]
    return " ".join(NUMBER.sub("\0", text).split()), numbers


if __name__ == "__main__":
    sys.path.insert(0, "")  # The next block imports files of the page.
    found = list(follow(Path(sys.argv[1])))
    print(*found, sep="\n")
    sys.exit(1 if found else 0)
