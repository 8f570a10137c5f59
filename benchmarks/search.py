"""Wall seconds of GridSearchCV over costs and losses on LETOR's MQ2008.

    python benchmarks/run.py search [--data DIR] [--jobs 2]

The search has five folds of whole queries. The folder DIR has S1.txt to S5.txt of
MQ2008: 15,211 documents of 784 queries. Features are not scaled; the score is LETOR's
mean NDCG. A first fit, which compiles, is not timed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from clock import timed
from sklearn import set_config
from sklearn.model_selection import GridSearchCV, GroupKFold
from table import DATA, Benchmark, Line, Table

from equimargin.data import load
from equimargin.estimators import MarginRanker, ranking_scorer
from equimargin.formulations.numeric.arrays import dense

GRID: dict[str, Any] = {
    "C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0],
    "loss": ["hinge", "squared_hinge"],
}


def settings(asked: Namespace) -> Iterator[Line]:
    """Search, print the time, and yield the score and the seconds of every setting."""
    set_config(enable_metadata_routing=True)
    parts = [load(asked.data / f"S{k}.txt") for k in range(1, 6)]
    X = np.vstack([dense(part.X) for part in parts])
    y, qid = (
        np.concatenate([np.asarray(getattr(part, name)) for part in parts]) for name in ("y", "qid")
    )
    for loss in GRID["loss"]:
        MarginRanker(1e-3, loss=loss).fit(X[:500], y[:500], qid[:500])
    folds = GroupKFold(5).set_split_request(groups="qid")
    search = GridSearchCV(
        MarginRanker(), GRID, cv=folds, scoring=ranking_scorer("mean_ndcg"), n_jobs=asked.jobs
    )
    _, cpu, wall = timed(lambda: search.fit(X, y, qid=qid))
    found = search.cv_results_
    print(
        f"{len(y):,} documents, {len(np.unique(qid))} queries, {len(found['params'])} "
        f"settings in 5 folds, {asked.jobs} processes"
    )
    print(
        f"{wall:.1f} s of wall time, of which this process {cpu:.1f} s of CPU time; best "
        f"{search.best_params_}"
    )
    print(
        f"fits {found['mean_fit_time'].sum() * 5:.1f} s, scores "
        f"{found['mean_score_time'].sum() * 5:.1f} s"
    )
    for setting, score, seconds in zip(
        found["params"], found["mean_test_score"], found["mean_fit_time"], strict=True
    ):
        yield setting | {"score": score, "s a fit": seconds}


COLUMNS = {"C": "7g", "loss": "14s", "score": "7.4f", "s a fit": "8.2f"}
OPTIONS = {"data": (DATA / "mq2008", "the folder of S1.txt to S5.txt"), "jobs": (2, "processes")}
BENCHMARK = Benchmark(__doc__, lambda asked: iter([Table(COLUMNS, list(settings(asked)))]), OPTIONS)
