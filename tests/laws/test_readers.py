"""File readers on any content: each returns a result or one sentence of refusal.

`make fuzz` runs longer.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.fuzz.drawn import CORPUS
from campaigns.fuzz.readers import READERS
from campaigns.fuzz.watch import examine
from places import ROOT

FILES = [(file.parent.name, file.name) for file in sorted(CORPUS.glob("*/*"))]
"""Reader and name of every file of the corpus."""


def test_every_reader_has_a_corpus() -> None:
    assert {reader for reader, _ in FILES} == set(READERS)


def test_the_security_page_names_every_reader() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("## Trusted input")[0]
    assert set(re.findall(r"\(`(\w+)`\)", page)) == set(READERS)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("reader", "name"), FILES)
def test_a_file_of_the_corpus_is_read_or_refused_in_a_sentence(
    tmp_path: Path, reader: str, name: str
) -> None:
    refused = examine(READERS[reader], (CORPUS / reader / name).read_bytes(), tmp_path)
    assert refused == name.startswith("refused_")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("reader", sorted(READERS))
@given(data=st.data())
@settings(max_examples=20)
def test_what_is_nearly_right_is_read_or_refused_in_a_sentence(
    reader: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        examine(READERS[reader], data.draw(READERS[reader].drawn), Path(folder))
