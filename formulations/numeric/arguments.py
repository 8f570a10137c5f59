"""Checks of arguments; messages name the argument, the accepted values and the value.

numpy converts text in digits, dates, complex values and None to numbers without a
warning. They are rejected here. True and False are rejected where a single number is
required, and accepted as entries of arrays.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from fnmatch import fnmatchcase
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array

Choice = TypeVar("Choice", bound=str)

SHOWN_CHARACTERS = 40
"""Maximum characters of a rejected value in a message."""
SAID_CHARACTERS = 300
"""Maximum characters of a third-party error within a message.

The error may quote the file.
"""
SUGGESTIONS = 3
"""Maximum names that a message suggests."""


def check_number(value: object, name: str, wanted: str, accepted: Callable[[float], bool]) -> float:
    """Return one number as a float.

    Parameters
    ----------
    value : object
        Real number of any type.
    name : str
        Name of the argument.
    wanted : str
        Accepted values, as text.
    accepted : callable
        Function that returns True for an accepted float.

    Raises
    ------
    ValueError
        If the value is no number or is not accepted.
    """
    one = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    with suppress(OverflowError):
        if (
            is_number(one)
            and not isinstance(one, bool | np.bool_)
            # float() of an integer outside the float64 range raises OverflowError.
            and accepted(float(one))  # type: ignore[arg-type]
        ):
            return float(one)  # type: ignore[arg-type]
    raise ValueError(f"{name} must be {wanted}, not {format_value(value)}")


def positive_finite(value: object, name: str) -> float:
    """Return a tolerance or a time limit as a float.

    Parameters
    ----------
    value : object
        Positive, finite number.
    name : str
        Name of the argument.
    """
    return check_number(value, name, "a positive, finite number", lambda v: 0 < v < np.inf)


def optional_limit(value: object, name: str) -> float | None:
    """Return a time limit as a float, or None if there is none.

    Parameters
    ----------
    value : object
        Positive, finite number, or None.
    name : str
        Name of the argument.
    """
    return None if value is None else positive_finite(value, name)


def cost(C: object) -> float:
    """Return C of a margin problem.

    Parameters
    ----------
    C : object
        Positive number or inf.
    """
    return check_number(C, "C", "a positive number or inf", lambda c: c > 0)


def finite_cost(C: object) -> float:
    """Return C of a one-norm problem.

    Parameters
    ----------
    C : object
        Positive, finite number.
    """
    return check_number(
        C, "C", "a positive finite number for a one-norm problem", lambda c: 0 < c < np.inf
    )


def positive(value: object, name: str) -> float:
    """Return a tolerance or a time limit, which may be infinite, as a float.

    Parameters
    ----------
    value : object
        Positive number.
    name : str
        Name of the argument.
    """
    return check_number(value, name, "a positive number", lambda v: v > 0)


def check_count(value: object, name: str) -> int:
    """Return a limit of steps or a number of threads as an int.

    Parameters
    ----------
    value : object
        Integer >= 1 of any type.
    name : str
        Name of the argument.
    """
    return int(
        check_number(value, name, "at least 1 and whole", lambda v: v >= 1 and v.is_integer())
    )


def check_jobs(value: object, name: str) -> int | None:
    """Return a number of processes or threads for joblib.

    Parameters
    ----------
    value : object
        Integer of any type, except 0: -1 is all cores, -2 all but one, and so on; or
        None, joblib's default.
    name : str
        Name of the argument.
    """
    if value is None:
        return None
    wanted = "a whole number from 1 on, -1 for all cores or -2 for all but one"
    return int(check_number(value, name, wanted, lambda v: v != 0 and v.is_integer()))


def check_choice(value: object, name: str, options: Sequence[Choice]) -> Choice:
    """Return the option that equals a value.

    Parameters
    ----------
    value : object
        Value to check.
    name : str
        Name of the argument.
    options : sequence of str
        Accepted values.

    Raises
    ------
    ValueError
        If the value is none of the options.
    """
    for option in options:
        if isinstance(value, str) and value == option:
            return option
    raise ValueError(f"{name} must be {' or '.join(map(repr, options))}, not {format_value(value)}")


def check_reals(values: object, name: str) -> Array:
    """Return real numbers of any type, booleans included, as a float64 array.

    Parameters
    ----------
    values : array-like
        Numbers.
    name : str
        Name of the argument.

    Returns
    -------
    ndarray
        Array of the shape of the values.

    Raises
    ------
    ValueError
        If an entry is no number (the message has its place), rows have different
        lengths, or an integer is outside the float64 range.
    """
    given = array(values, name)
    if given.dtype.kind not in "biuf":
        for place, entry in np.ndenumerate(given):
            if given.dtype.kind != "O" or not is_number(entry):
                raise ValueError(f"{name} must hold numbers, not {format_value(entry)}{_at(place)}")
    try:
        # Extended-precision floats outside the float64 range become inf.
        with np.errstate(over="ignore"):
            return np.asarray(given, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} holds a number outside the float64 range") from None


def check_weights(values: object, m: int, name: str) -> Array:
    """Return a copy of the factors of C.

    Parameters
    ----------
    values : array-like of shape (m,)
        Numbers in [0, inf].
    m : int
        Number of factors.
    name : str
        Name of the argument.

    Returns
    -------
    ndarray of shape (m,)
        Factors.

    Raises
    ------
    ValueError
        If the shape is another one, or a factor is negative or NaN.
    """
    w = check_reals(values, name)
    if w.shape != (m,) or np.isnan(w).any() or (w < 0).any():
        raise ValueError(f"{name} must be {m} numbers in [0, inf]")
    return w.copy()


def array(values: object, name: str) -> NDArray[Any]:
    """Return values as a numpy array of any type.

    Parameters
    ----------
    values : array-like
        Values.
    name : str
        Name of the argument.

    Raises
    ------
    ValueError
        If rows have different lengths.
    """
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be an array, and its rows are of different lengths"
        ) from None


def is_number(value: object) -> bool:
    """Return True if a value is a real number or a boolean.

    Time spans are no numbers, although numpy counts them among the integers. A
    signalling NaN is no number, because no float can hold it.

    Parameters
    ----------
    value : object
        Value to check.
    """
    if isinstance(value, Decimal):
        return not value.is_snan()
    return isinstance(value, Real | np.bool_) and not isinstance(value, np.timedelta64)


def format_value(value: object) -> str:
    """Return a value as text for a message: on one line, truncated.

    Parameters
    ----------
    value : object
        Value to show.
    """
    plain = value.item() if isinstance(value, np.str_ | np.bytes_) else value
    text = " ".join((str(plain) if isinstance(plain, np.generic | Real) else repr(plain)).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 4]}...{text[-1]}"


def format_error(error: BaseException) -> str:
    """Return the text of an error on one line, truncated; its type if it has no text.

    Parameters
    ----------
    error : BaseException
        Error to show.
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= SAID_CHARACTERS else f"{text[: SAID_CHARACTERS - 3]}..."


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Return True if a name matches a pattern, ignoring case.

    Parameters
    ----------
    name : str
        Name.
    patterns : iterable of str
        Names, or patterns with * and ?.
    """
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a question that suggests known names close to an unknown one.

    The question is empty if no name is close. Close are, in this order, names that
    begin with the unknown one, names with it as a part between dots, and names of
    similar spelling. Names with fewer dots go first; ties keep the order of the known
    names.

    Parameters
    ----------
    name : str
        Unknown name.
    known : sequence of str
        Known names.
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
    names : sequence of str
        Names in the order of the text.
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _at(place: tuple[int, ...]) -> str:
    """Return the place of an entry in an array as text; empty for a single value."""
    return "".join(
        f"{before} {index}"
        for before, index in zip((" at row", ", column", ","), place, strict=False)
    )
