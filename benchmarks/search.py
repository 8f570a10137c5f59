"""A search over costs and losses on LETOR's MQ2008, in five folds of whole queries: wall seconds of scikit-learn's GridSearchCV.

    python benchmarks/search.py [--data DIR] [--n-jobs 2]

The folder DIR has S1.txt to S5.txt of MQ2008: 15,211 documents of 784 queries. Features are used as they are; the score is LETOR's mean
NDCG. The first fit compiles what is not compiled yet, before the clock starts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import set_config
from sklearn.model_selection import GridSearchCV, GroupKFold

from equimargin.data import load
from equimargin.estimators import MarginRanker, ranking_scorer
from equimargin.formulations.numeric.arrays import dense

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mq2008"
GRID: dict[str, Any] = {"C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0], "loss": ["hinge", "squared_hinge"]}


def main() -> None:
    """Search, and print what was found and how long it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    set_config(enable_metadata_routing=True)
    parts = [load(options.data / f"S{k}.txt") for k in range(1, 6)]
    X = np.vstack([dense(part.X) for part in parts])
    y, qid = (np.concatenate([np.asarray(getattr(part, name)) for part in parts]) for name in ("y", "qid"))
    for loss in GRID["loss"]:
        MarginRanker(1e-3, loss=loss).fit(X[:500], y[:500], qid[:500])
    folds = GroupKFold(5).set_split_request(groups="qid")
    search = GridSearchCV(MarginRanker(), GRID, cv=folds, scoring=ranking_scorer("mean_ndcg"), n_jobs=options.n_jobs)
    started, spent = time.perf_counter(), time.process_time()
    search.fit(X, y, qid=qid)
    settings = search.cv_results_["params"]
    print(f"{len(y):,} documents, {len(np.unique(qid))} queries, {len(settings)} settings in 5 folds, {options.n_jobs} processes")
    print(f"{time.perf_counter() - started:.1f} s of wall time, of which this process {time.process_time() - spent:.1f} s of CPU time")
    print(f"fits {search.cv_results_['mean_fit_time'].sum() * 5:.1f} s, scores {search.cv_results_['mean_score_time'].sum() * 5:.1f} s")
    for setting, score, seconds in zip(settings, *(search.cv_results_[name] for name in ("mean_test_score", "mean_fit_time")), strict=True):
        print(f"  {score:.4f}  {seconds:6.2f} s a fit  {setting}")
    print(f"best {search.best_score_:.4f} with {search.best_params_}")


if __name__ == "__main__":
    main()
