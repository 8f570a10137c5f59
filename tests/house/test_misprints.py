"""Campaign of misprints: it detects them in a declaration, and fails on a miss."""

from __future__ import annotations

import pytest

from campaigns import misprints


@pytest.mark.slow
def test_every_misprint_of_a_linear_program_and_of_a_dual_is_noticed() -> None:
    lines: list[str] = []
    assert (
        misprints.CAMPAIGN.main(["rvm.primal", "svm.soft.dual", "svr.l1.beta"], lines.append) == 0
    )
    assert "NOT NOTICED" not in "".join(lines)


def test_a_misprint_that_is_not_noticed_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """With squared slacks xi >= 0 is redundant.

    Without its reason the campaign must report that it misses this misprint.
    """
    monkeypatch.setattr(misprints, "THE_SAME", {})
    lines: list[str] = []
    assert misprints.CAMPAIGN.main(["svm.nobias_l2.primal"], lines.append) == 1
    assert any("svm.nobias_l2.primal" in line and "no slack: NOT NOTICED" in line for line in lines)
