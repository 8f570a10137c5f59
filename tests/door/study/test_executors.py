"""Answers in other processes: the rows are those of this process.

Processes that crash are distinguished from answers that do not crash them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.cli.commands.study import _executor
from equimargin.request import ComparisonRequest
from equimargin.solvers import SOLVERS
from equimargin.study import Study
from equimargin.study.database import Database
from equimargin.study.executors import (
    FREE_PORT,
    ClusterGone,
    Executor,
    _cluster,
    local,
    of_dask,
    of_joblib,
)
from equimargin.study.grid import AnswerSpec, grid
from equimargin.study.plan import DataPlan, Plan
from equimargin.study.run import run

DEADLY = """
import os, signal
from equimargin.solvers import Requirements, solver
from equimargin.formulations import MarginProblem

@solver("deadly", "svm.soft", algorithm="the end of its process", \
requires=Requirements(MarginProblem, losses=("hinge",)))
def deadly(problem, limits, start):
    os.kill(os.getpid(), signal.SIGKILL)
"""
TIMES = ("compile_seconds", "solve_seconds", "cpu_seconds", "finished")
RUN = CliRunner()


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    """Yield a plug-in with a solver that ends its process."""
    file = tmp_path / "deadly_solver_of_a_test.py"
    file.write_text(DEADLY, encoding="utf-8")
    yield file
    del SOLVERS["deadly"]
    del sys.modules[file.stem]
    sys.path.remove(str(tmp_path))


def of_iris(*solvers: str, plugins: tuple[str, ...] = ()) -> list[AnswerSpec]:
    """Return answers on twenty rows of iris."""
    data = (DataPlan("iris", sample=20),)
    request = ComparisonRequest(solvers=solvers, tol=1e-6)
    return grid(
        Plan(
            "iris",
            "",
            data,
            families=("svm.soft",),
            costs=(0.1, 1.0),
            request=request,
            plugins=plugins,
        )
    )


def rows(file: Path, asked: list[AnswerSpec], executor: Executor) -> list[dict[str, Any]]:
    """Return the table of a study without its times."""
    with Database(file, writes=True) as database:
        database.enter("iris", "", asked)
        run(database, executor)
    return [
        {name: value for name, value in row.items() if name not in TIMES}
        for row in Study(file).records()
    ]


def test_processes_find_what_this_one_finds(tmp_path: Path) -> None:
    asked = of_iris("CLARABEL")
    assert rows(tmp_path / "there.sqlite", asked, of_joblib(2)) == rows(
        tmp_path / "here.sqlite", asked, local()
    )


@pytest.mark.slow
def test_an_answer_that_takes_its_process_down_takes_no_other_with_it(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("equimargin.study.database.MOST_DEATHS", 2)
    found = rows(
        tmp_path / "study.sqlite",
        of_iris("CLARABEL", "deadly", plugins=(str(plugin),)),
        of_joblib(2),
    )
    assert {(row["solver"], row["ok"]) for row in found} == {("CLARABEL", 1), ("deadly", 0)}
    assert {row["reason"] for row in found if not row["ok"]} == {
        "the process that ran it crashed, 2 times"
    }


@pytest.mark.slow
def test_a_limit_of_memory_that_ends_a_process_does_not_end_the_study(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenBLAS ends its process if it is out of memory.

    With a limit, no answer is run in the process of the study.
    """
    monkeypatch.setattr("equimargin.study.database.MOST_DEATHS", 1)
    plan = tmp_path / "plan.toml"
    study = f'[study]\nplugins = "{plugin.name}"\n'
    plan.write_text(
        f'{study}[grid]\nfamily = "svm.soft"\nsolver = "deadly"\n[[data]]\nsource = "xor"\n',
        encoding="utf-8",
    )
    result = RUN.invoke(app, ["study", str(plan), "--memory", "2G"])
    assert result.exit_code == 0, result.output
    assert "1 of 1 answers: 0 solved, 1 failed, 0 skipped" in result.output


@pytest.mark.slow
def test_a_cluster_finds_what_this_process_finds(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask and distributed are not installed")
    asked = of_iris("CLARABEL")
    assert rows(tmp_path / "there.sqlite", asked, of_dask(None, 1)) == rows(
        tmp_path / "here.sqlite", asked, local()
    )


def test_clusters_of_a_machine_are_open_at_once_and_to_no_other_machine() -> None:
    """Dask warns if a port is taken, and a warning is an error here."""
    pytest.importorskip("distributed", reason="dask and distributed are not installed")
    with _cluster(None, 1) as one, _cluster(None, 1) as other:
        servers = [client.cluster.scheduler.http_server for client in (one, other)]
    assert {server.address for server in servers} == {"127.0.0.1"}
    assert servers[0].port != servers[1].port


def test_no_scheduler_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="dask and distributed are not installed")
    monkeypatch.setattr("equimargin.study.executors.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(
        ClusterGone,
        match=r"no scheduler answers at tcp://127\.0\.0\.1:9 .*--resume runs what is missing",
    ):
        rows(tmp_path / "study.sqlite", of_iris("CLARABEL"), of_dask("tcp://127.0.0.1:9", 1))
    assert Study(tmp_path / "study.sqlite").progress().total("leased") == 0


def test_a_cluster_without_workers_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    monkeypatch.setattr("equimargin.distributed.on_dask.SECONDS_WITHOUT_WORKERS", 0.0)
    monkeypatch.setattr("equimargin.distributed.on_dask.SECONDS_BETWEEN_LOOKS", 0.1)
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address=FREE_PORT, memory_limit=0
        ) as cluster,
        pytest.raises(
            ClusterGone,
            match=r"the cluster has had no workers for 0 s; start some \(dask worker tcp.* "
            r"--nthreads 1\)",
        ),
    ):
        rows(tmp_path / "study.sqlite", of_iris("CLARABEL"), of_dask(cluster.scheduler_address, 1))
    assert Study(tmp_path / "study.sqlite").progress().total("leased") == 0


def test_a_scheduler_that_does_not_answer_in_time_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from equimargin.study import executors

    def late(*arguments: Any) -> Any:
        raise TimeoutError

    monkeypatch.setattr(executors, "completed", late)
    with pytest.raises(
        executors.ClusterGone,
        match=r"^the scheduler of the cluster does not answer in time; the answers that were",
    ):
        executors._finished(None, [])


def test_processes_are_as_many_as_processors_that_may_be_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    asked: list[int] = []
    monkeypatch.setattr(
        "equimargin.study.executors.of_joblib", lambda jobs, memory: asked.append(jobs)
    )
    _executor("joblib", None, None, None)
    assert asked == [1]


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'equimargin\[cluster\]'"):
        rows(tmp_path / "study.sqlite", of_iris("CLARABEL"), of_dask(None, 1))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--scheduler", "tcp://here:1"],
            "--scheduler is the address of a Dask cluster, and --executor is local; "
            "add --executor dask",
        ),
        (
            ["--jobs", "2"],
            "--jobs does not apply: the local executor is one process; leave it out",
        ),
        (
            ["--executor", "dask", "--scheduler", "tcp://here:1", "--jobs", "2"],
            "the cluster has its own workers",
        ),
        (
            ["--executor", "joblib", "--jobs", "0"],
            "--jobs must be a number of processes, at least 1, not 0",
        ),
        (["--executor", "spark"], "'spark' is not one of local, joblib, dask"),
    ],
)
def test_options_that_do_not_belong_together(options: list[str], sentence: str) -> None:
    result = RUN.invoke(app, ["study", "plan.toml", *options])
    assert result.exit_code == 2
    assert sentence in result.output
