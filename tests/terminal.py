"""Program in a pseudo-terminal, and a comparison that takes minutes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np

from places import HANG, ROOT


def hard_ranking() -> str:
    """Return the table of a ranking of one query, whose comparison can take minutes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5))
    y = np.digitize(X[:, 0] + random.normal(size=200), [-1, 0, 1])
    rows = "\n".join(
        ",".join(map(str, [label, *x])) for label, x in zip(y.tolist(), X.tolist(), strict=True)
    )
    return f"relevance,a,b,c,d,e\n{rows}\n"


class Terminal:
    """Program in a pseudo-terminal; it receives Ctrl-C even if this process ignores it."""

    def __init__(
        self,
        *arguments: str,
        columns: int,
        lines: int = 50,
        folder: Path = ROOT,
        program: tuple[str, ...] = ("-m", "equimargin"),
    ) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
        }
        environment |= {
            "PYTHONPATH": str(ROOT / "src"),
            "TERM": "xterm",
            "PYTHONIOENCODING": "utf-8",
        }

        def own_terminal() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.setsid()
            fcntl.ioctl(1, termios.TIOCSCTTY, 0)

        command = [sys.executable, *program, *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            preexec_fn=own_terminal,
            close_fds=True,
        )
        os.close(slave)
        self.output = ""
        self.until = time.monotonic() + HANG

    def read(self) -> bool:
        """Read the available output; return False at the end."""
        ready, _, _ = select.select([self.master], [], [], 1.0)
        if not ready:
            assert time.monotonic() < self.until, self.output
            return True
        try:
            content = os.read(self.master, 65536)
        except OSError:  # The other side is closed.
            return False
        self.output += content.decode("utf-8", "replace")
        return bool(content)

    def read_until(self, pattern: str) -> None:
        """Read until the output matches a pattern."""
        while not re.search(pattern, self.output):
            assert self.read(), self.output

    def finish(self) -> int:
        """Read all output and return the exit status."""
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(HANG)

    @property
    def text(self) -> str:
        """Output without the sequences that move the cursor and set colours."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.output).replace("\r", "\n")

    @property
    def screen(self) -> str:
        """Final screen of the terminal, with overwritten lines in their last state."""
        lines, row = [""], 0
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", self.output):
            if part == "\n":
                row += 1
                lines += [""] * (row == len(lines))
            elif part.startswith("\x1b[") and part[-1] == "A":
                row = max(row - int(part[2:-1] or 1), 0)
            elif part.startswith("\x1b[") and part[-1] == "K":
                lines[row] = ""
            elif not part.startswith("\x1b") and part != "\r":
                lines[row] += part
        return "\n".join(lines)
