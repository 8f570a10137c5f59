"""The content of a file, and its format, told by the content rather than by the name."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Final

from equimargin.data.bundled import BUNDLED
from equimargin.data.words import DataError, number, one_line

# A number and then a colon, or a colon after an index where no delimiter of CSV is about: a first line with a fault still counts.
SVMLIGHT_LINE: Final = re.compile(rb"[-+.\deE]+\s+\S*:|[^,;]*(?<!\S)(?:qid|[-+]?\d+):[^,;]*$")
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
PICKLE: Final = "is a pickle, which could run code when read; save X and y with numpy.savez instead"
FOREIGN: Final = {
    b"\x80": PICKLE,
    b"\x1f\x8b": "is compressed with gzip; decompress it first",
    b"\x93NUMPY": "holds one NumPy array; save X and y together with numpy.savez instead",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}


def content_of(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path}: is a directory; name a file in it")
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # the mark some editors put before UTF-8 text
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file and no such bundled data set; bundled are {', '.join(BUNDLED)}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise DataError(f"{path}: cannot be read ({one_line(error)}); check the path and its permissions") from None
    if not content or content.isspace():
        raise DataError(f"{path}: the file is empty; supply at least one row")
    return content


def kind_of(path: Path, content: bytes) -> str:
    """Tell the format by the content; the extension decides only where the content fits none."""
    if content.startswith(ZIP):
        return "NPZ"
    for start, reason in FOREIGN.items():
        if content.startswith(start):
            raise DataError(f"{path}: the file {reason}")
    if path.suffix.lower() in (".pkl", ".pickle", ".joblib"):
        raise DataError(f"{path}: the file {PICKLE}")
    if b"\0" in content:
        raise DataError(f"{path}: the file is binary and no NPZ archive; supply svmlight, CSV or NPZ")
    line = _telling_line(content)
    if SVMLIGHT_LINE.match(line):
        return "svmlight"
    if re.search(rb"[,;\t]", line) or path.suffix.lower() in (".csv", ".tsv"):
        return "CSV"
    if path.suffix.lower() in (".svm", ".svmlight", ".libsvm", ".letor"):
        return "svmlight"
    raise DataError(f"{path}: the file is neither svmlight (label index:value ...) nor CSV nor NPZ; convert it to one")


def _telling_line(content: bytes) -> bytes:
    """Return the first line that is more than a comment or a lone number (a svmlight row of zeros)."""
    for line in io.BytesIO(content):
        text = line.partition(b"#")[0].strip()
        if text and number(text.decode("latin-1")) is None:
            return text
    return b""
