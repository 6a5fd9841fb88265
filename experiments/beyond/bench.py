"""Speed and memory of the fits, as ratios measured in one run (make bench), held against the stored ones.

It fails if a ratio is worse than stored by more than a tenth. With store=true it stores them instead.

python experiments/beyond/bench.py ['rows=[choix,commands]'] [store=true] [solver.tolerance=1e-8] ...
"""

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain

import choix
import evalica
import numpy as np
import pandas as pd
from hydra import compose
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf
from threadpoolctl import threadpool_limits

from judgerank import Comparisons, fit
from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.engine.likelihood import evaluate
from judgerank.model.members import BTL, JUDGE_AWARE, Parameters
from replication.config import solver_settings
from replication.datasets import find_file
from replication.errors import MethodUnavailableError
from replication.outputs import draw_section, folder_of, load_section_data
from replication.records import provenance
from replication.simulation import Cell, drawn, interval_coverage, squared_error, study_of
from studies import speed, stored_speed
from studies.config import main
from studies.methods.judge_models import by_evaluatorq
from studies.methods.study import method_of
from studies.panel_blocks import records_of
from studies.scaling import measures
from studies.speed import (
    against_blocks,
    against_further,
    against_growing,
    against_many,
    both,
    of_commands,
    of_large_rank,
    seconds,
    simulated,
)

IN_HOUSE = "in_house_data.json"


def against_passes(cfg: DictConfig) -> Iterator[tuple]:
    rows, truth = simulated(cfg.seed, 100, 20, 200_000)
    cells = rows.aggregate()
    pass_time = seconds(lambda: evaluate(cells, JUDGE_AWARE, truth), 21)
    # cells of their own each time: what was found of cells is remembered with them
    fit_time = seconds(lambda: fit(replace(cells), "judge_aware", solver_settings(cfg.solver, "judge_aware")), 7)
    yield "exact fit / likelihood-and-gradient pass, N=100 K=20 T=200,000", fit_time, pass_time, "at most 40"
    member = solver_settings(cfg.solver, "position_aware")
    positions = seconds(lambda: fit(replace(cells), "position_aware", member), 7)
    yield "position-aware fit / judge-aware fit, the same cells", positions, fit_time, "at most 2"


def against_adam(cfg: DictConfig, comparisons: Comparisons, title: str, goal: int) -> Iterator[tuple]:
    slow = seconds(lambda: fit(replace(comparisons), solver="adam"), 1)
    settings = solver_settings(cfg.solver, "judge_aware")
    fast = seconds(lambda: fit(replace(comparisons), "judge_aware", settings), 21)  # with nothing remembered
    yield f"Algorithm A.1 / exact fit, {title}", slow, fast, f"at least {goal}"


def against_choix(cfg: DictConfig, frame: pd.DataFrame, title: str) -> Iterator[tuple]:
    def ours() -> None:
        settings = solver_settings(cfg.solver, "judge_aware")
        fit(Comparisons.from_frame(frame), "judge_aware", settings).confidence_intervals(cfg.level)

    label = f"judge-aware fit with intervals / choix unweighted fit, both from the frame, {title}"
    yield label, *both(ours, lambda: by_choix(frame), 51), "at most 2"


def against_unweighted(comparisons: Comparisons, title: str) -> Iterator[tuple]:
    """The shrunk fit that ranks by default against the unweighted one."""

    def shrunk() -> None:
        fit(replace(comparisons), "position_aware", "penalised")

    label = f"position-aware fit with shrinkage / unweighted fit, {title}"
    yield label, *both(shrunk, lambda: fit(replace(comparisons), "btl"), 11), "at most 8"


def with_question_effects(judgments: Judgments) -> Iterator[tuple]:
    """Seconds that question effects take for a judgment, beside four microseconds."""
    elapsed = seconds(lambda: fit(judgments, "position_aware_ties", questions="effects"), 1)
    label = f"seconds of a fit with question effects, a judgment / 4 microseconds, {judgments.title}"
    yield label, elapsed / len(judgments.comparisons), 4e-6, "at most 1"


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

    rival_fits = {"choix": by_choix, "evalica": by_evalica}
    if find_spec("arena_rank"):  # not in the lock file: it fixes the version of numpy
        rival_fits["arena-rank"] = by_arena_rank
    reached = {"ours": ours("btl").scores} | {name: rival_fit(frame) for name, rival_fit in rival_fits.items()}
    for name, rival_fit in rival_fits.items():
        ends = (
            Parameters(reached[who][list(pooled.models)].to_numpy(), np.empty((0, 1))) for who in ("ours", name)
        )
        left = [max(evaluate(pooled, BTL, end).relative_gradient, 1e-16) for end in ends]
        goal = {"choix": "at most 0.5", "evalica": "at most 0.12"}.get(name, "at most 1")
        times = both(lambda: ours("btl"), lambda rival_fit=rival_fit: rival_fit(frame), 51)
        yield f"unweighted fit / {name}, {title}", *times, goal
        yield f"relative gradients at the maxima of ours and {name}, {title}", *left, ""
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
            times[name] = seconds(lambda rank=rank: rank(replace(comparisons)), 3)
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
    once = seconds(lambda: replace(rows).aggregate(), 3)
    fit_time = seconds(lambda: fit(replace(rows), "judge_aware", solver_settings(cfg.solver, "judge_aware")), 3)
    yield f"exact fit from rows / one aggregation, {label}", fit_time, once, "at most 4"
    yield f"peak memory / arrays of rows and cells (bytes), {label}", float(peak), float(size), "at most 1.5"


def against_drawing(cfg: DictConfig) -> Iterator[tuple]:
    """The two studies of section 4 against drawing their data, on a share of their replications."""
    totals = np.zeros(2)
    for section, task in (("convergence_mse", squared_error), ("ci_coverage", interval_coverage)):
        study = study_of(compose(section, ["draws=0"]), section, task)
        by_size: dict[str, list] = {}
        for name, cell in study.cells.items():
            n_replications = max(2, round(cfg.study_share * study.replications[name]))
            times = [seconds_a_replication(run, cell, n_replications, cfg.seed) for run in (task, drawn)]
            by_size.setdefault(f"N={cell.truth.n_models} K={cell.truth.n_judges}", []).append(times)
            totals += study.replications[name] * np.array(times)
        for size, times in by_size.items():
            label = f"{section}, one replication / drawing its data, {size}, mean over T"
            yield label, *np.mean(times, axis=0), ""
    label = f"both studies / drawing their data, from {cfg.study_share:.0%} of the replications"
    yield label, *totals, "at most 5"


def seconds_a_replication(run: Callable, cell: Cell, n_replications: int, seed: int) -> float:
    start = time.process_time()
    for replication in range(n_replications):
        run(cell, generator(seed, cell.name, replication))
    return (time.process_time() - start) / n_replications


def rows_of(
    cfg: DictConfig, data: dict[str, Judgments], times: dict[str, pd.DataFrame]
) -> dict[str, Callable[[], Iterator[tuple]]]:
    """What measures each row, by its name; how times grow with sizes goes into `times`, too."""

    def growing() -> Iterator[tuple]:
        times["growth"] = speed.times(cfg.seed)
        yield from speed.measures(times["growth"])

    arena, mt_bench = data["chatbot_arena"], data["mt_bench"]
    with_answers = records_of(mt_bench, cfg.datasets.mt_bench.questions, cfg.answers)
    files = {"chatbot_arena": cfg.datasets.chatbot_arena.file, "in_house": IN_HOUSE}
    sets = {name: path for name, file in files.items() if (path := find_file(file))}  # those that are at hand
    measure_of_row: dict[str, Callable[[], Iterator[tuple]]] = {
        "passes": lambda: against_passes(cfg),
        "algorithm_1": lambda: chain(
            against_adam(cfg, mt_bench.comparisons, mt_bench.title, 40),
            against_adam(cfg, arena.comparisons, arena.title, 500),
        ),
        "choix": lambda: against_choix(cfg, arena.comparisons.to_frame(), arena.title),
        "shrinkage": lambda: against_unweighted(arena.comparisons, arena.title),
        "libraries": lambda: against_libraries(cfg, arena.comparisons, arena.title),
        "methods": lambda: against_methods(arena.comparisons, arena.title),
        "rows": lambda: at_scale(cfg),
        "many": lambda: against_many(cfg),
        "growing": lambda: chain(
            *(against_growing(judgments.comparisons, judgments.title) for judgments in (arena, mt_bench))
        ),
        "dask": lambda: against_blocks(cfg),
        "blocks": lambda: chain(
            against_further(records_of(arena, None, None), ["family"], arena.title),
            against_further(with_answers, cfg.blocks, mt_bench.title),
        ),
        "questions": lambda: with_question_effects(arena),
        "commands": lambda: of_commands(sets),
        "growth": growing,
        "studies": lambda: against_drawing(cfg),
    }
    if cfg.engine_rows:
        measure_of_row["engine"] = lambda: measures(cfg.engine_rows, cfg.engine_memory, cfg.seed)
        measure_of_row["large"] = lambda: of_large_rank(cfg.engine_rows, cfg.engine_memory, cfg.seed)
    return measure_of_row


def draw(tables: dict[str, pd.DataFrame], _: str) -> dict[str, Figure]:
    times = tables.get("growth")
    return {} if times is None else {"growth": speed.drawn(times, speed.exponents(times))}


@main("bench")
def run(cfg: DictConfig) -> None:
    start = time.monotonic()
    if cfg.draw_only:
        draw_section("bench", cfg, draw)
        return
    threadpool_limits(1)
    data, _ = load_section_data(cfg)
    record = provenance("bench", cfg, data, "")
    times: dict[str, pd.DataFrame] = {}
    every = rows_of(cfg, data, times)
    unknown = next((name for name in cfg.rows if name not in every), None)
    if unknown is not None:
        raise ConfigError(f"the bench has no row {unknown!r} (it has: {', '.join(every)})")
    folder = folder_of(cfg, cfg.results, "bench")
    stored, measured = stored_speed.read(folder), []
    print("| row | measure | first | second | ratio | goal |\n|:--|:--|--:|--:|--:|--:|")
    for name in cfg.rows or every:
        again = 0 if cfg.store else cfg.again
        for line in stored_speed.measured(name, every[name], stored, cfg.tolerance, again):
            measured.append(line)
            numbers = f"{line.first:.4g} | {line.second:.4g} | {line.ratio:.3g}"
            print(f"| {name} | {line.measure} | {numbers} | {line.goal} |", flush=True)
    if cfg.store:
        stored_speed.keep(folder, measured, stored, record, times.get("growth"), start)
        draw_section("bench", cfg, draw)
    elif sentences := stored_speed.worse(measured, stored, cfg.tolerance):
        sys.exit("Worse than stored by more than {:.0%}:\n{}".format(cfg.tolerance, "\n".join(sentences)))


if __name__ == "__main__":
    run()
