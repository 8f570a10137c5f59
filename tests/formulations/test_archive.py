"""Arrays of NPZ archives: read as by numpy, except sizes that a small file claims."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from campaigns.fuzz.drawn import archive
from equimargin.formulations.numeric.archive import Archive

TYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(),
    npst.floating_dtypes(),
    npst.unicode_string_dtypes(max_len=3),
)


def written(descr: Any, shape: tuple[int, ...], data: bytes) -> bytes:
    """Return an array file: a header with arbitrary claims, and the data."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return file.getvalue() + data


@given(
    st.dictionaries(
        st.sampled_from("abc"),
        npst.arrays(TYPES, npst.array_shapes(min_dims=0, min_side=0, max_side=4)),
    ),
    st.booleans(),
)
def test_arrays_are_those_that_numpy_reads(arrays: dict[str, Any], by_columns: bool) -> None:
    file = io.BytesIO()
    held: dict[str, Any] = {
        name: np.asfortranarray(array) if by_columns else array for name, array in arrays.items()
    }
    np.savez_compressed(file, **held)
    found = Archive(file.getvalue())
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].flags.writeable


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (written("<f8", (2**40,), b""), "claims to be of shape .* and has 0 bytes"),
        (written("<f8", (2,), bytes(15)), "claims to be of shape .* and has 15 bytes"),
        (written("<f8", (1,), bytes(16)), "claims to be of shape .* and has 16 bytes"),
        (written("|V0", (2**62,), b""), "claims to be of shape"),
        (written("|O", (1,), b"\x80\x04N."), "is pickled, and a pickle could run code"),
        (b"\x93NUMPY\x03\x00", "of an unknown version, 3.0"),
        (b"no array", "magic string"),
        (b"", "magic"),
    ],
)
def test_what_an_array_only_claims_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Archive(archive([("a", content)]))["a"]


def test_an_archive_that_unpacks_to_more_than_deflate_can_is_refused() -> None:
    packed = archive([("a", written("<f8", (2**17,), bytes(2**20)))])
    assert Archive(packed)["a"].shape == (2**17,)
    start, end = packed.rindex(b"PK\x01\x02"), packed.rindex(b"PK\x05\x06")
    entries = b"".join(packed[start:end].replace(b"a.npy", b"%05d" % k) for k in range(100))
    overlapping = (
        packed[:start]
        + entries
        + packed[end : end + 8]
        + 2 * (100).to_bytes(2, "little")
        + len(entries).to_bytes(4, "little")
    )
    with pytest.raises(ValueError, match=r"its arrays would come to 10.,...,... bytes"):
        Archive(overlapping + start.to_bytes(4, "little") + b"\0\0")


def test_other_compressions_are_refused_because_nothing_bounds_what_they_unpack() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as out:
        out.writestr("a.npy", written("<f8", (1,), bytes(8)))
    with pytest.raises(ValueError, match="compressed in another way"):
        Archive(file.getvalue())["a"]
