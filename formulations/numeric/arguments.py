"""The checks of arguments. A refusal is one sentence, which names the argument and says what it must be and what it is.

numpy converts text in digits, dates, complex values and None to numbers without a
warning. Here they are refused. True and False are refused where a single number is
asked for, and accepted as entries of arrays.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array

Choice = TypeVar("Choice", bound=str)

SHOWN_CHARACTERS = 40
"""Characters of a refused value that a message shows at most."""
SAID_CHARACTERS = 300
"""Characters, at most, of what another program's error says within a sentence: it may
quote the file.
"""
SUGGESTIONS = 3
"""Names that a message suggests at most."""


def check_number(value: object, name: str, wanted: str, accepted: Callable[[float], bool]) -> float:
    """One number as a float.

    Parameters
    ----------
    value : object
        A real number of any type.
    name : str
        Of the argument.
    wanted : str
        What it must be, in words.
    accepted : Callable[[float], bool]
        Whether a float is that.

    Raises
    ------
    ValueError
        No number, or one that is not accepted.
    """
    one = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    with suppress(OverflowError):  # whole numbers beyond float64
        if is_number(one) and not isinstance(one, bool | np.bool_) and accepted(float(one)):  # type: ignore[arg-type]
            return float(one)  # type: ignore[arg-type]
    raise ValueError(f"{name} must be {wanted}, not {format_value(value)}")


def positive_finite(value: object, name: str) -> float:
    """Return a tolerance or a limit of time as a float."""
    return check_number(value, name, "a positive, finite number", lambda v: 0 < v < np.inf)


def optional_limit(value: object, name: str) -> float | None:
    """Return a limit of time as a float, or None for none."""
    return None if value is None else positive_finite(value, name)


def cost(C: object) -> float:
    """C of a margin problem."""
    return check_number(C, "C", "a positive number or inf", lambda c: c > 0)


def finite_cost(C: object) -> float:
    """C of a one-norm problem."""
    return check_number(
        C, "C", "a positive finite number for a one-norm problem", lambda c: 0 < c < np.inf
    )


def positive(value: object, name: str) -> float:
    """A tolerance, or a limit of time."""
    return check_number(value, name, "a positive number", lambda v: v > 0)


def check_count(value: object, name: str) -> int:
    """A limit of steps, or a number of threads."""
    return int(
        check_number(value, name, "at least 1 and whole", lambda v: v >= 1 and v.is_integer())
    )


def check_choice(value: object, name: str, options: Sequence[Choice]) -> Choice:
    """One of some words.

    Raises
    ------
    ValueError
        Anything else.
    """
    for option in options:
        if isinstance(value, str) and value == option:
            return option
    raise ValueError(f"{name} must be {' or '.join(map(repr, options))}, not {format_value(value)}")


def check_reals(values: object, name: str) -> Array:
    """Numbers of any real type, truth values among them, as an array of float64 of the same shape.

    Raises
    ------
    ValueError
        An entry that is no number, with its place; rows of different lengths; a whole
        number beyond float64.
    """
    given = array(values, name)
    if given.dtype.kind not in "biuf":
        for place, entry in np.ndenumerate(given):
            if given.dtype.kind != "O" or not is_number(entry):
                raise ValueError(f"{name} must hold numbers, not {format_value(entry)}{_at(place)}")
    try:
        with np.errstate(over="ignore"):  # longer floats beyond float64 become inf
            return np.asarray(given, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} holds a number beyond float64") from None


def check_weights(values: object, m: int, name: str) -> Array:
    """Factors of C, (m,), in an array of its own.

    Raises
    ------
    ValueError
        Another shape, negative, NaN.
    """
    w = check_reals(values, name)
    if w.shape != (m,) or np.isnan(w).any() or (w < 0).any():
        raise ValueError(f"{name} must be {m} numbers in [0, inf]")
    return w.copy()


def array(values: object, name: str) -> NDArray[Any]:
    """Values as numpy has them.

    Raises
    ------
    ValueError
        Rows of different lengths.
    """
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be an array, and its rows are of different lengths"
        ) from None


def is_number(value: object) -> bool:
    """Whether a value is a real number or a truth value.

    Spans of time are no numbers, although numpy counts them among the integers. A
    signaling NaN is none, because no float can hold it.
    """
    if isinstance(value, Decimal):
        return not value.is_snan()
    return isinstance(value, Real | np.bool_) and not isinstance(value, np.timedelta64)


def format_value(value: object) -> str:
    """A value in a sentence: on one line, not too long."""
    plain = value.item() if isinstance(value, np.str_ | np.bytes_) else value
    text = " ".join((str(plain) if isinstance(plain, np.generic | Real) else repr(plain)).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 4]}...{text[-1]}"


def format_error(error: BaseException) -> str:
    """What an error says, on one line and not too long; its kind where it says nothing."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= SAID_CHARACTERS else f"{text[: SAID_CHARACTERS - 3]}..."


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a question after a name that is not known, with the nearest known ones; empty where none is near.

    Near are, in this order, names that begin with it, names of which it is a part
    between points, and names that are spelled like it. Names with fewer points go
    first, and among equals the order of the known ones is kept.
    """
    lower, text = (
        {each.lower(): each for each in sorted(known, key=lambda each: each.count("."))},
        name.lower(),
    )
    begun = [each for each in lower if text and each.startswith(text)]
    parts = [each for each in lower if text in each.split(".")]
    spelled = difflib.get_close_matches(text, lower, n=SUGGESTIONS)
    near = [*dict.fromkeys([*begun, *parts, *spelled])][:SUGGESTIONS]
    return f"; did you mean {one_of_these([lower[each] for each in near])}?" if near else ""


def one_of_these(names: Sequence[str]) -> str:
    """Return names as text, such as "a, b or c".

    Parameters
    ----------
    names : Sequence[str]
        Sequence of str Names in the order of the text.
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _at(place: tuple[int, ...]) -> str:
    """The place of an entry in an array, in words; empty for a single value."""
    return "".join(
        f"{before} {index}"
        for before, index in zip((" at row", ", column", ","), place, strict=False)
    )
