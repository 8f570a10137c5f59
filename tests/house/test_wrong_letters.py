"""The campaign of wrong letters: it notices them in a declaration, and fails where one is not noticed."""

from __future__ import annotations

import pytest

from campaigns import wrong_letters


@pytest.mark.slow
def test_every_letter_of_a_linear_program_and_of_a_dual_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong_letters.main(["rvm.primal", "svm.soft.dual"]) == 0
    assert "NOT NOTICED" not in capsys.readouterr().out


def test_a_letter_that_is_not_noticed_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of squared slacks xi >= 0 is redundant: without its reason the campaign must say that it misses this letter."""
    monkeypatch.setattr(wrong_letters, "THE_SAME", {})
    assert wrong_letters.main(["svm.nobias_l2.primal"]) == 1
    assert "svm.nobias_l2.primal: no slack: NOT NOTICED" in capsys.readouterr().out
