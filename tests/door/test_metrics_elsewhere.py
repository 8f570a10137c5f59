"""Measures of other packages, by the tables in `docs/explanation/which_ndcg.md`."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, ndcg_score

from equimargin.estimators import ranking_scorer
from equimargin.metrics import average_precision, mean_ndcg, ndcg, precision

Array = NDArray[np.float64]
PLACES = [1, 2, 3, 5, 10]
SIZES = [14, 10, 9, 5, 3, 2, 1, 6]
"""Numbers of documents of the queries; the last query has no relevant one."""
close: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}
"""Tolerances: LightGBM and XGBoost print or store fewer digits than float64 has."""


def query(seed: int, size: int) -> tuple[Array, Array]:
    """Return relevances 0 to 2 and scores that are whole numbers in float32."""
    random = np.random.default_rng([seed, size])
    y = random.integers(0, 3, size).astype(float) if size != SIZES[-1] else np.zeros(size)
    return y, random.integers(0, 4, size).astype(float)


def rankings() -> list[tuple[Array, Array]]:
    return [query(seed, size) for seed in range(4) for size in SIZES]


def has_relevant(y: Array) -> bool:
    return bool((y >= 1).any())


def first_precisions(y: Array, f: Array, k: int) -> float:
    """Return average precision up to place k, over min(k, relevant documents)."""
    hits = (y >= 1)[np.argsort(-f, kind="stable")]
    upto = np.cumsum(hits) / np.arange(1, len(y) + 1)
    return float(upto[:k][hits[:k]].sum() / min(k, hits.sum()))


def test_ndcg_of_scikit_learn() -> None:
    for y, f in rankings():
        for k in PLACES:
            if len(y) > 1:
                assert ndcg(y, f, k=k, gain="linear", discount="shifted").mean == pytest.approx(
                    ndcg_score([y], [f], k=k), abs=1e-12
                )


def test_average_precision_of_scikit_learn() -> None:
    for y, f in rankings():
        if has_relevant(y):
            assert average_precision(y, f, ties="max").mean == pytest.approx(
                average_precision_score(y >= 1, f), abs=1e-12
            )


def lightgbm_values(name: str, y: Array, f: Array) -> list[float]:
    """Return LightGBM's values at all PLACES, after one round that cannot split."""
    lightgbm = pytest.importorskip(
        "lightgbm", reason="compares with LightGBM: pip install lightgbm"
    )
    data = lightgbm.Dataset(np.zeros((len(y), 1)), y, group=[len(y)], init_score=f)
    settings = {
        "objective": "lambdarank",
        "metric": name,
        "eval_at": PLACES,
        "verbose": -1,
        "num_threads": 1,
        "learning_rate": 1e-12,
    }
    said: dict[str, Any] = {}
    lightgbm.train(
        settings,
        data,
        1,
        valid_sets=[data],
        valid_names=["all"],
        callbacks=[lightgbm.record_evaluation(said)],
    )
    return [said["all"][f"{name}@{k}"][0] for k in PLACES]


def xgboost_values(name: str, y: Array, f: Array) -> list[float]:
    """Return XGBoost's values at all PLACES, without a tree.

    `name` may end in a minus.
    """
    xgboost = pytest.importorskip("xgboost", reason="compares with XGBoost: pip install xgboost")
    data = xgboost.DMatrix(np.zeros((len(y), 1)), y, group=[len(y)], base_margin=f)
    base, minus = name.removesuffix("-"), "-" * name.endswith("-")
    names = [f"{base}@{k}{minus}" for k in PLACES]
    said = xgboost.train(
        {"objective": "rank:pairwise", "eval_metric": names, "nthread": 1}, data, 0
    ).eval(data)
    values = dict(part.split("eval-", 1)[1].rsplit(":", 1) for part in said.split("\t")[1:])
    return [float(values[name]) for name in names]


@pytest.mark.parametrize("values", [lightgbm_values, xgboost_values], ids=["LightGBM", "XGBoost"])
def test_ndcg_of_boosting_packages(values: Callable[..., list[float]]) -> None:
    for y, f in rankings():
        ours = [
            ndcg(y, f, k=k, discount="shifted", ties="ordinal", no_relevant="one").mean
            for k in PLACES
        ]
        np.testing.assert_allclose(values("ndcg", y, f), ours, **close)


@pytest.mark.parametrize("values", [lightgbm_values, xgboost_values], ids=["LightGBM", "XGBoost"])
def test_map_of_boosting_packages(values: Callable[..., list[float]]) -> None:
    for y, f in rankings():
        wanted = (
            [first_precisions(y, f, k) for k in PLACES] if has_relevant(y) else np.ones(len(PLACES))
        )
        ours = [
            average_precision(y, f, k=k, ties="ordinal", no_relevant="one").mean for k in PLACES
        ]
        np.testing.assert_allclose(values("map", (y >= 1) * 1.0, f), ours, **close)
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)


def test_xgboost_with_a_minus_counts_queries_without_a_relevant_document_as_0() -> None:
    y, f = query(0, SIZES[-1])
    for name in ("ndcg-", "map-"):
        assert xgboost_values(name, y, f) == [0.0] * len(PLACES)


def test_precision_of_xgboost() -> None:
    for y, f in rankings():
        relevant = (y >= 1).astype(np.float64)
        ours = np.array([precision(y, f, k=k, ties="ordinal").mean for k in PLACES])
        np.testing.assert_allclose(np.array(xgboost_values("pre", relevant, f)), ours, **close)


def test_measures_of_trec_eval() -> None:
    pytrec_eval = pytest.importorskip(
        "pytrec_eval", reason="compares with trec_eval: pip install pytrec-eval-terrier"
    )
    cuts = ",".join(map(str, PLACES))
    for y, f in rankings():
        names = [f"d{i:02}" for i in range(len(y))]
        judged, retrieved = (
            {"q": dict(zip(names, y.astype(int).tolist(), strict=True))},
            {"q": dict(zip(names, f.tolist(), strict=True))},
        )
        found = pytrec_eval.RelevanceEvaluator(
            judged, {f"ndcg_cut.{cuts}", f"P.{cuts}", "map"}
        ).evaluate(retrieved)["q"]
        last_name_first = y[::-1], f[::-1]
        assert found["map"] == pytest.approx(
            average_precision(*last_name_first, ties="ordinal").mean, abs=1e-12
        )
        for k in PLACES:
            gains = ndcg(*last_name_first, k=k, gain="linear", discount="shifted", ties="ordinal")
            hits = precision(*last_name_first, k=k, ties="ordinal").mean * min(k, len(y))
            assert found[f"ndcg_cut_{k}"] == pytest.approx(gains.mean, abs=1e-12)
            assert found[f"P_{k}"] == pytest.approx(hits / k, abs=1e-12)


def letor_query(y: Array, f: Array) -> dict[str, list[float]]:
    """Return NDCG@k and P@k of a query at its places 1, ..., l, as LETOR defines them."""
    order = y[np.argsort(-f, kind="stable")].tolist()

    def dcg(levels: list[float]) -> float:
        return sum((2**level - 1) / log2(max(2, place)) for place, level in enumerate(levels, 1))

    best = sorted(order, reverse=True)
    upto = range(1, len(order) + 1)
    return {
        "NDCG": [dcg(order[:k]) / dcg(best[:k]) if dcg(best[:k]) else 0.0 for k in upto],
        "P": [sum(level >= 1 for level in order[:k]) / k for k in upto],
    }


def letor_mean(name: str, queries: list[tuple[Array, Array]], k: int, holes: bool = False) -> float:
    """Return the mean over all queries at place k; a query without this place adds 0.

    With holes, irrelevant documents fill the places up to k.
    """
    total = 0.0
    for y, f in queries:
        filled = max(k - len(y), 0) if holes else 0
        values = letor_query(
            np.append(y, np.zeros(filled)), np.append(f, np.full(filled, -np.inf))
        )[name]
        total += values[k - 1] if k <= len(values) else 0.0
    return total / len(queries)


def joined(queries: list[tuple[Array, Array]]) -> tuple[Array, Array, Array]:
    return (
        np.concatenate([y for y, _ in queries]),
        np.concatenate([f for _, f in queries]),
        np.repeat(np.arange(len(queries)), [len(y) for y, _ in queries]),
    )


@pytest.mark.parametrize("k", PLACES)
def test_measures_of_letor(k: int) -> None:
    """NDCG@k of short queries is 0 in both scripts, P@k in that of 3.0 alone."""
    queries = rankings()
    y, f, q = joined(queries)
    assert ndcg(y, f, q, k=k, ties="ordinal", short_queries="zero").mean == pytest.approx(
        letor_mean("NDCG", queries, k), abs=1e-12
    )
    at_k, sizes = precision(y, f, q, k=k, ties="ordinal").values, np.bincount(q)
    assert (at_k * (sizes >= k)).mean() == pytest.approx(letor_mean("P", queries, k), abs=1e-12)
    assert (at_k * np.minimum(sizes, k) / k).mean() == pytest.approx(
        letor_mean("P", queries, k, holes=True), abs=1e-12
    )
    means = [np.mean(letor_query(*one)["NDCG"]) for one in queries]
    assert mean_ndcg(y, f, q, ties="ordinal").mean == pytest.approx(np.mean(means), abs=1e-12)
    average = [first_precisions(y, f, len(y)) if has_relevant(y) else 0.0 for y, f in queries]
    assert average_precision(y, f, q, ties="ordinal").mean == pytest.approx(
        np.mean(average), abs=1e-12
    )


def test_short_queries_are_those_of_fewer_than_k_documents() -> None:
    y, f, q = [1, 0, 1, 0, 0], [2, 1, 3, 2, 1], [0, 0, 1, 1, 1]
    assert ndcg(y, f, q, k=3).values.tolist() == [1.0, 1.0]
    assert ndcg(y, f, q, k=3, short_queries="zero").values.tolist() == [0.0, 1.0]
    assert ndcg(y, f, q, short_queries="zero").values.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="short_queries must be 'count' or 'zero', not 'none'"):
        ndcg(y, f, q, k=3, short_queries="none")  # type: ignore[arg-type]
    assert ranking_scorer("ndcg", k=3, short_queries="zero") is not None
    # The two queries without a relevant document are skipped, also the short one.
    y, f, q = [0, 0, 0, 0, 1], [1, 3, 2, 1, 1], [0, 1, 1, 1, 2]
    values = ndcg(y, f, q, k=3, short_queries="zero", no_relevant="skip").values
    np.testing.assert_array_equal(values, [np.nan, np.nan, 0.0])
