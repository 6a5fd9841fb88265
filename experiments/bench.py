"""Speed and memory of the fits, as ratios measured in one run (make bench). Prints; stores nothing.

python experiments/bench.py [solver.tolerance=1e-8] ...
"""

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import choix
import evalica
import numpy as np
import pandas as pd
from hydra import compose
from omegaconf import DictConfig, OmegaConf
from scipy.special import expit
from threadpoolctl import threadpool_limits

from judgerank import Comparisons, fit
from judgerank.errors import MethodUnavailableError
from judgerank.likelihood import evaluate
from judgerank.model import BTL, JUDGE_AWARE, Parameters
from judgerank.separation import NetResults, differences_under_equality
from judgerank.separation_at_scale import ManyResults, differences_of_many
from judgerank.simulate import draw_outcomes, draw_truth, generator, uniform_triples
from replication.config import main, solver_settings
from replication.methods.bt_sigma import by_evaluatorq
from replication.methods.study import method_of
from replication.outputs import load_section_data
from replication.replicate import Study
from replication.scaling import measures, nothing
from replication.schemas.section import Parallel
from replication.simulation import drawn, interval_coverage, squared_error, study_of


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Median time of a call, after one that is not counted if there are several."""
    times = []
    for _ in range(repeats + (repeats > 1)):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times[repeats > 1 :])


def simulated(seed: int, n_models: int, n_judges: int, size: int) -> tuple[Comparisons, Parameters]:
    """Raw comparisons on a uniform design under a drawn truth, and that truth."""
    rng = generator(seed, "bench", n_models, n_judges, size)
    truth = draw_truth(rng, n_models, n_judges, 1.0, 1.0)
    i, j, k = uniform_triples(rng, n_models, n_judges, size).astype(np.int32)
    k[:n_judges] = np.arange(n_judges)  # no judge is left without a comparison
    eta = np.exp(truth.judges[0])[k] * (truth.scores[i] - truth.scores[j])
    names = [tuple(f"{kind}{n:04d}" for n in range(many)) for kind, many in (("m", n_models), ("j", n_judges))]
    return Comparisons(*names, i, j, k, draw_outcomes(rng, expit(eta))), truth


def against_passes(cfg: DictConfig) -> Iterator[tuple]:
    rows, truth = simulated(cfg.seed, 100, 20, 200_000)
    cells = rows.aggregate()
    one = seconds(lambda: evaluate(cells, JUDGE_AWARE, truth), 21)
    # cells of their own each time: what was found of cells is remembered with them
    whole = seconds(lambda: fit(replace(cells), "judge_aware", solver_settings(cfg.solver, "judge_aware")), 7)
    yield "exact fit / likelihood-and-gradient pass, N=100 K=20 T=200,000", whole, one, "at most 40"
    member = solver_settings(cfg.solver, "position_aware")
    positions = seconds(lambda: fit(replace(cells), "position_aware", member), 7)
    yield "position-aware fit / judge-aware fit, the same cells", positions, whole, "at most 2"


def against_adam(cfg: DictConfig, comparisons: Comparisons, title: str, goal: int) -> Iterator[tuple]:
    adam = fit(comparisons, solver="adam")
    slow = seconds(lambda: fit(comparisons, solver="adam"), 1)
    fast = seconds(lambda: fit(comparisons, "judge_aware", solver_settings(cfg.solver, "judge_aware")), 21)
    how = f"{title}, {adam.status} after {adam.solution.iterations} iterations"
    yield f"Algorithm 1 / exact fit, {how}", slow, fast, f"at least {goal}"


def against_choix(cfg: DictConfig, frame: pd.DataFrame, title: str) -> Iterator[tuple]:
    def ours() -> None:
        settings = solver_settings(cfg.solver, "judge_aware")
        fit(Comparisons.from_frame(frame), "judge_aware", settings).confidence_intervals(cfg.level)

    label = f"judge-aware fit with intervals / choix unweighted fit, both from the frame, {title}"
    yield label, seconds(ours, 51), seconds(lambda: by_choix(frame), 51), "at most 2"


def by_choix(frame: pd.DataFrame) -> pd.Series:
    codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]))
    i, j = codes[: len(frame)], codes[len(frame) :]
    y = frame["judge_preferred_model"].map({"a": 1.0, "b": 0.0, "c": 0.5}).to_numpy()
    wins = np.zeros((len(names), len(names)))
    np.add.at(wins, (i, j), y)
    np.add.at(wins, (j, i), 1 - y)
    return pd.Series(choix.ilsr_pairwise_dense(wins), names)


def by_evalica(frame: pd.DataFrame) -> pd.Series:
    winner = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "c": evalica.Winner.Draw}
    winners = frame["judge_preferred_model"].map(winner)
    return np.log(evalica.bradley_terry(frame["model_a"], frame["model_b"], winners).scores)


def by_arena_rank(frame: pd.DataFrame) -> pd.Series:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    winner = frame["judge_preferred_model"].map({"a": "model_a", "b": "model_b", "c": "tie"})
    pairs = PairDataset.from_pandas(frame.assign(winner=winner))
    model = BradleyTerry(n_competitors=pairs.n_competitors)
    model.fit(pairs)
    return pd.Series(np.asarray(model.params["ratings"]), pairs.competitors)


def against_libraries(cfg: DictConfig, comparisons: Comparisons, title: str) -> Iterator[tuple]:
    """Unweighted and judge-aware fits from the same frame, and how close to the maximum each comes."""
    frame, pooled = comparisons.to_frame(), comparisons.pool_judges().aggregate()

    def ours(model: str):
        return fit(Comparisons.from_frame(frame), model, solver_settings(cfg.solver, model))

    mine = seconds(lambda: ours("btl"), 51)
    others = {"choix": by_choix, "evalica": by_evalica}
    if find_spec("arena_rank"):  # not in the lock file: it fixes the version of numpy
        others["arena-rank"] = by_arena_rank
    reached = {"ours": ours("btl").scores} | {name: other(frame) for name, other in others.items()}
    for name, other in others.items():
        ends = (
            Parameters(reached[who][list(pooled.models)].to_numpy(), np.empty((0, 1))) for who in ("ours", name)
        )
        left = " and ".join(f"{evaluate(pooled, BTL, at).relative_gradient:.0e}" for at in ends)
        time_of = seconds(lambda other=other: other(frame), 51)
        yield f"unweighted fit / {name}, {title}, relative gradients {left}", mine, time_of, "at most 1"
    label = f"BT-sigma by evaluatorq / judge-aware fit, {title}"
    yield (
        label,
        seconds(lambda: by_evaluatorq(comparisons), 1),
        seconds(lambda: ours("judge_aware"), 21),
        "at least 10",
    )


def against_methods(comparisons: Comparisons, title: str) -> Iterator[tuple]:
    """The methods of `method_comparison` against the unweighted fit."""
    methods = OmegaConf.to_container(compose("method_comparison").methods)
    times = {}
    for name, method in methods.items():
        rank = method_of(name, method["function"], method["settings"])
        try:
            times[name] = seconds(lambda rank=rank: rank(comparisons), 3)
        except MethodUnavailableError:
            continue
    for name in sorted(times, key=times.get):
        yield f"{methods[name]['title']} / unweighted BTL, {title}", times[name], times["btl"], ""


def at_scale(cfg: DictConfig) -> Iterator[tuple]:
    tracemalloc.start()
    rows, _ = simulated(cfg.seed, 1000, 100, 10_000_000)
    tracemalloc.reset_peak()
    arrays = (rows.first, rows.second, rows.judge, rows.outcome)
    cells = fit(rows, "judge_aware", solver_settings(cfg.solver, "judge_aware")).comparisons
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    arrays += (cells.first, cells.second, cells.judge, cells.outcome, cells.count)
    size = sum(array.nbytes for array in arrays)
    del cells
    label = "N=1,000 K=100 T=10,000,000"
    once = seconds(rows.aggregate, 3)
    whole = seconds(lambda: fit(rows, "judge_aware", solver_settings(cfg.solver, "judge_aware")), 3)
    yield f"exact fit from rows / one aggregation, {label}", whole, once, "at most 4"
    yield f"peak memory / arrays of rows and cells (bytes), {label}", float(peak), float(size), "at most 1.5"


def against_drawing(cfg: DictConfig) -> Iterator[tuple]:
    """The two studies of section 4 against drawing their data, on a share of their replications."""
    totals = np.zeros(2)
    for section, task in (("convergence_mse", squared_error), ("ci_coverage", interval_coverage)):
        study = study_of(compose(section, ["draws=0"]), section, task)
        by_size: dict[str, list] = {}
        for cell, settings in study.cells.items():
            many = max(2, round(cfg.study_share * study.replications[cell]))
            times = [seconds_a_replication(run, settings, cell, many, cfg.seed) for run in (task, drawn)]
            size = f"N={settings['n_models']} K={settings['n_judges']}"
            by_size.setdefault(size, []).append(times)
            totals += study.replications[cell] * np.array(times)
        for size, times in by_size.items():
            label = f"{section}, one replication / drawing its data, {size}, mean over T"
            yield label, *np.mean(times, axis=0), ""
    label = f"both studies / drawing their data, from {cfg.study_share:.0%} of the replications"
    yield label, *totals, "at most 6"


def seconds_a_replication(run: Callable, settings: dict, cell: str, many: int, seed: int) -> float:
    start = time.perf_counter()
    for replication in range(many):
        run(settings, generator(seed, cell, replication))
    return (time.perf_counter() - start) / many


RANK = """
import sys, time
import judgerank
from replication.scaling import peak_memory
start = time.perf_counter()
ranking = judgerank.rank(sys.argv[1], solver=sys.argv[2])
assert ranking.fitted.converged and len(ranking.tables["pairs"]) > 0
print(time.perf_counter() - start, peak_memory())
"""


def whole_rank(rows: Comparisons, solver: str, questions: int) -> tuple[float, float]:
    """Seconds of `judgerank.rank` from a file, in a process of its own, and the peak memory of that in bytes."""
    question = generator(0, "bench", "questions", len(rows)).integers(questions, size=len(rows))
    frame = rows.to_frame().rename(columns={"judge_preferred_model": "winner"}).assign(question_id=question)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.csv"
        frame.to_csv(path, index=False)
        done = subprocess.run(
            [sys.executable, "-c", RANK, str(path), solver], capture_output=True, text=True, check=True
        )
    seconds_taken, peak = map(float, done.stdout.split())
    return seconds_taken, peak


def against_many(cfg: DictConfig) -> Iterator[tuple]:
    """Many models, and many judges with ten votes each; beside limits in seconds and bytes."""
    models, _ = simulated(cfg.seed, 1000, 20, 100_000)
    taken, peak = whole_rank(models, "newton", 5000)
    yield "seconds of rank from a file, N=1,000 K=20 T=100,000 / 20 s", taken, 20.0, "at most 1"
    yield "peak memory of that process (bytes) / 1 GB", peak, 1e9, "at most 1"
    judges, _ = simulated(cfg.seed, 100, 10_000, 100_000)
    for member in ("judge_aware", "position_aware"):
        whole = seconds(lambda member=member: fit(judges, member, "penalised"), 1)
        yield f"seconds of shrinkage, {member}, N=100 K=10,000 T=100,000 / 30 s", whole, 30.0, "at most 1"
    cells = simulated(cfg.seed, 100, 20, 20_000)[0]
    fitted = fit(cells)
    chosen, parts = np.arange(100), (fitted.comparisons, fitted.model, fitted.solution.parameters)
    exact = seconds(lambda: differences_under_equality(NetResults.of(*parts)), 1)
    quick = seconds(lambda: differences_of_many(ManyResults.of(*parts, chosen), [None], chosen, 100), 5)
    yield "test under equality pair by pair / for all pairs at once, N=100 K=20", exact, quick, "at least 20"


def against_blocks(cfg: DictConfig) -> Iterator[tuple]:
    """Replications by a dask scheduler and two workers: what a block of them costs by itself, and all of them."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    dask, alone = Parallel("dask", -1, options), Parallel("sequential", 1, {})

    def taken(parallel: Parallel, task: Callable, settings: dict, many: int, block: int) -> float:
        with TemporaryDirectory() as folder:
            study = Study("bench", task, {"cell": settings}, {"cell": many}, cfg.seed, Path(folder), block)
            return seconds(lambda: study.run(parallel), 1)

    few, many = 20, 420
    own = (taken(dask, nothing, {}, many, 1) - taken(dask, nothing, {}, few, 1)) / (many - few)
    yield "seconds of a block beside its replications, dask, two workers / 1% of 10 s", own, 0.1, "at most 1"
    cells = study_of(compose("ci_coverage", ["draws=0"]), "ci_coverage", interval_coverage).cells
    name = next(name for name in cells if name.startswith("n20"))
    work = interval_coverage, cells[name], 2000, 500
    label = f"2,000 replications of ci_coverage, {name}, in blocks of 500: dask, two workers / one process"
    yield label, taken(dask, *work), taken(alone, *work), ""


def against_growing(comparisons: Comparisons, title: str) -> Iterator[tuple]:
    """The last hundredth of the judgments appended: from the fit of the others, and from nothing."""
    frame = comparisons.to_frame().sample(frac=1, random_state=0)
    cut = len(frame) - len(frame) // 100
    for member in ("judge_aware", "position_aware"):
        before = fit(Comparisons.from_frame(frame.iloc[:cut]), member)
        late = frame.iloc[cut:]
        warm = seconds(lambda b=before, m=member: fit(b.comparisons.extended(late), m, start=b), 21)  # noqa: B023
        cold = seconds(lambda b=before, m=member: fit(b.comparisons.extended(late), m), 21)  # noqa: B023
        yield f"1% appended: fit from that of the rest / from nothing, {member}, {title}", warm, cold, "at most 1"
        yield f"1% appended, seconds of the first / 50 ms, {member}, {title}", warm, 0.05, "at most 1"
        steps = [steps_of(comparisons, member, split) for split in range(12)]
        label = f"most Newton steps of the first in 12 splits, {np.bincount(steps)[4:].sum()} with more than 3 / 3"
        yield f"1% appended, {label}, {member}, {title}", max(steps), 3.0, "at most 1"


def steps_of(comparisons: Comparisons, member: str, split: int) -> int:
    frame = comparisons.to_frame().sample(frac=1, random_state=split)
    cut = len(frame) - len(frame) // 100
    before = fit(Comparisons.from_frame(frame.iloc[:cut]), member)
    return fit(before.comparisons.extended(frame.iloc[cut:]), member, start=before).solution.iterations


@main("bench")
def run(cfg: DictConfig) -> None:
    threadpool_limits(1)
    data, _ = load_section_data(cfg)
    arena, mt_bench = data["chatbot_arena"], data["mt_bench"]
    every = (
        against_passes(cfg),
        against_adam(cfg, mt_bench.comparisons, mt_bench.title, 40),
        against_adam(cfg, arena.comparisons, arena.title, 500),
        against_choix(cfg, arena.comparisons.to_frame(), arena.title),
        against_libraries(cfg, arena.comparisons, arena.title),
        against_methods(arena.comparisons, arena.title),
        at_scale(cfg),
        against_many(cfg),
        against_growing(arena.comparisons, arena.title),
        against_growing(mt_bench.comparisons, mt_bench.title),
        against_blocks(cfg),
        measures(cfg.engine_rows, cfg.engine_memory, cfg.seed) if cfg.engine_rows else (),
        against_drawing(cfg),
    )
    print("| measure | first | second | ratio | goal |\n|:--|--:|--:|--:|--:|")
    for rows in every:
        for label, first, second, goal in rows:
            print(f"| {label} | {first:.4g} | {second:.4g} | {first / second:.3g} | {goal} |", flush=True)


if __name__ == "__main__":
    run()
