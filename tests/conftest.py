"""Builders shared by the core tests. They are session fixtures so that hypothesis tests may take them too."""

from __future__ import annotations

import gc
from collections.abc import Collection
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from scipy.special import expit, log_expit

from judgerank import Comparisons
from judgerank.model.members import Parameters

settings.register_profile("core", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("core")


# Files that `make test` leaves out: each takes ten seconds of a processor or more;
# other files cover what it does, if not as far. Single tests of other files are marked where they stand.
SLOW_BY_PART = {
    "replication": "cluster faults replicate seeded_faults simulation verify workflows",
    "studies": "boards dependence method_comparison planning soft",
    "tool": "collecting_money collecting_runs collecting_servers faults versions wheel",
}
SLOW = {f"{part}/test_{name}.py" for part, names in SLOW_BY_PART.items() for name in names.split()}

# Single tests that take seconds, of files that are quick without them, and how many of their cases `make test`
# runs, spread over all: none where other tests of the file cover what it does, if not as far
QUICK_CASES = {
    "library/test_adaptive.py": {
        "test_equal_models_at_the_edge_are_rarely_told_apart": 0,
        "test_every_judgment_of_a_data_set_is_given_out_once": 2,
        "test_it_stops_at_the_truth_and_sooner_than_at_random": 1,
        "test_more_one_sided_answers_never_need_more_looks": 0,
    },
    "library/test_combinations.py": {
        "test_whatever_is_described_is_fitted_and_answers": 8,
    },
    "library/test_comparisons.py": {
        "test_an_answer_is_the_same_however_the_judgments_are_told": 4,
    },
    "library/test_penalised.py": {
        "test_where_nobody_has_ten_answers_a_ranking_is_that_of_equal_weights": 3,
    },
    "library/test_fitness.py": {
        "test_equal_models_are_seldom_separated_by_effects_that_judges_share": 0,
        "test_false_alarms_are_rare": 1,
    },
    "library/test_gating.py": {
        "test_a_frequent_order_makes_no_false_decisions": 0,
        "test_judges_who_saw_one_place_each_have_a_position_bias_together": 1,
        "test_position_bias_in_slightly_uneven_orders_makes_no_false_decisions": 1,
        "test_the_questions_still_needed_decide_about_as_often_as_said": 1,
    },
    "library/test_position.py": {
        "test_the_likelihood_ratio_keeps_its_level": 0,
        "test_weak_judges_do_not_leave_the_model_without_a_maximum": 0,
    },
    "library/test_model.py": {
        "test_mt_bench_with_the_lengths_of_its_questions_has_the_same_maximum": 0,
    },
    "library/test_newton.py": {
        "test_small_panels_end_in_a_maximum_or_in_a_named_way": 0,
    },
    "library/test_stages.py": {
        "test_models_that_never_differ_are_tested_without_a_warning": 1,
        "test_the_information_on_positions_and_ties_counts_the_places_between": 0,
        "test_the_page_counts_rankings_and_says_whether_members_are_compared": 0,
    },
    "library/test_reported_scale.py": {
        "test_printed_errors_are_the_spread_of_printed_scores_where_one_judge_is_weak": 0,
    },
    "library/test_search.py": {
        "test_judges_who_can_run_off_with_ties_are_those_of_a_linear_program": 2,
    },
    "library/test_tied_rankings.py": {
        "test_scores_and_ties_are_recovered": 0,
    },
    "library/test_trust.py": {
        "test_small_sets_that_steps_alone_miss_are_found": 2,
        "test_the_papers_rankings_hang_on_few_judgments_and_judges": 0,
        "test_what_is_found_is_at_most_what_leaving_one_out_finds": 2,
    },
    "replication/test_config.py": {
        "test_every_config_composes_with_every_solver_and_leaves_nothing_open": 10,
        "test_help_shows_every_setting_with_what_it_means": 10,
    },
    "replication/test_docs.py": {
        "test_links_and_pictures_of_the_site_lead_somewhere": 0,
        "test_the_recipe_for_a_section_works": 0,
    },
    "replication/test_forged_evidence.py": {
        "test_a_picture_retouched_is_noticed_by_its_pixels": 1,
        "test_code_that_draws_otherwise_is_noticed_whatever_draws_the_pixels": 2,
    },
    "replication/test_freshness.py": {
        "test_a_section_run_twice_leaves_a_repository_clean": 0,
        "test_nothing_runs_that_no_digest_has": 1,
    },
    "replication/test_outputs.py": {
        "test_a_kill_at_any_step_leaves_every_set_with_a_record_of_its_figures": 0,
        "test_a_run_that_fails_leaves_no_folder": 0,
        "test_default_settings_write_to_results_and_leave_no_other_folder": 0,
        "test_figures_are_drawn_from_what_the_same_overrides_stored": 0,
        "test_what_hydra_shows_of_a_configuration_is_there_once": 1,
    },
    "replication/test_paper_figures.py": {
        "test_figures_fit_the_page_and_their_text_can_be_read": 8,
    },
    "replication/test_plots.py": {
        "test_figures_are_the_same_to_the_byte": 0,
    },
    "replication/test_sections.py": {
        "test_a_surrogate_run_says_so_everywhere": 1,
        "test_stored_tables_come_out_again": 2,
    },
    "studies/test_bench.py": {
        "test_a_few_of_every_kind_end_well": 0,
        "test_a_lower_maximum_would_be_counted": 0,
        "test_a_maximum_that_ties_alone_lead_to_is_found": 0,
        "test_designs_that_once_took_every_iteration_end": 0,
        "test_the_other_optimiser_reaches_the_maximum": 0,
    },
    "studies/test_graded_answers.py": {
        "test_a_stored_setting_comes_out_again": 0,
        "test_a_stored_setting_of_rankings_comes_out_again": 0,
    },
    "studies/test_methods.py": {
        "test_a_measure_has_its_time_and_its_own_memory": 0,
    },
    "studies/test_simulated_sections.py": {
        "test_figures_can_be_read_and_are_the_same_to_the_byte": 3,
    },
    "studies/test_validity.py": {
        "test_a_surrogate_run_writes_what_it_should": 0,
        "test_every_judge_answers_by_the_model_whatever_the_dependence": 0,
        "test_exact_tests_keep_the_level_with_few_comparisons": 0,
        "test_intervals_hold_where_a_judge_runs_off": 0,
        "test_islands_are_measured_by_either_solver": 0,
        "test_questions_make_judges_err_together": 0,
        "test_the_section_writes_its_tables": 0,
        "test_the_sentences_of_a_ranking_are_about_its_pairs": 0,
    },
    "tool/test_atomic.py": {
        "test_a_process_that_is_killed_loses_nothing": 2,
    },
    "tool/test_extend.py": {
        "test_pages_can_be_followed_from_the_example": 0,
        "test_the_page_on_a_layout_works": 0,
        "test_the_page_on_a_study_works": 0,
        "test_the_page_on_answers_works": 0,
    },
    "tool/test_first_steps.py": {
        "test_what_may_take_long_says_how_far_it_is": 0,
    },
    "tool/test_forms.py": {
        "test_files_of_other_programs_are_read_as_plain_ones": 12,
    },
    "tool/test_further.py": {
        "test_a_block_without_a_test_by_question_says_what_its_test_assumes": 0,
        "test_judges_of_a_family_are_tested_for_it": 1,
        "test_position_bias_is_tested_between_fits_that_differ_in_positions_alone": 1,
    },
    "tool/test_gate_asking.py": {
        "test_the_plugin_takes_judgments_and_says_what_to_install_for_a_panel": 0,
    },
    "tool/test_hub.py": {
        "test_offline_by_choice_is_told_likewise": 0,
    },
    "tool/test_inspecting.py": {
        "test_an_evaluation_without_a_difference_does_not_stop": 0,
    },
    "tool/test_judge_policy.py": {
        "test_no_leader_changes_where_that_is_said": 3,
    },
    "tool/test_large.py": {
        "test_real_judgments_are_read_and_ranked_alike": 0,
    },
    "tool/test_layouts.py": {
        "test_damage_ends_in_a_sentence_or_in_comparisons": 8,
    },
    "tool/test_little_data.py": {
        "test_a_ranking_does_not_depend_on_how_names_sort": 6,
        "test_every_command_ends_in_a_result_or_one_sentence": 7,
        "test_every_little_file_has_a_ranking": 10,
    },
    "tool/test_members.py": {
        "test_components_are_ranked_apart_and_never_against_each_other": 1,
        "test_nobody_knows_that_two_pipes_are_one": 0,
        "test_of_members_that_take_ties_for_half_the_default_predicts_best_on_real_sets": 1,
        "test_positions_are_tested_by_question_where_judges_of_a_question_err_together": 0,
        "test_real_judges_who_follow_positions_do_not_decide_the_default_ranking": 1,
    },
    "tool/test_names.py": {
        "test_new_names_and_another_order_of_records_change_nothing_but_names": 6,
        "test_nor_do_they_where_questions_have_effects": 1,
    },
    "tool/test_other_commands.py": {
        "test_a_reader_who_leaves_changes_no_verdict": 1,
        "test_an_error_keeps_its_code_where_nothing_can_be_written": 0,
        "test_lines_fit_the_terminal": 2,
        "test_output_that_cannot_be_written_is_told_in_one_sentence": 3,
        "test_of_two_islands_the_largest_keeps_the_numbers_of_its_records": 0,
        "test_the_command_says_what_would_change_it_and_lists_the_judgments": 0,
    },
    "tool/test_panel.py": {
        "test_the_verdict_repeats_the_options_by_which_the_file_was_read_and_ranked": 1,
        "test_what_would_change_another_fit_is_not_in_the_verdict": 1,
    },
    "tool/test_rank_questions.py": {
        "test_models_that_are_equal_are_seldom_separated": 0,
    },
    "tool/test_rankings.py": {
        "test_equal_models_are_separated_no_more_often_than_they_should": 0,
    },
    "tool/test_scale.py": {
        "test_little_memory_spills_and_gives_the_same_cells_and_none_at_all_is_refused": 0,
    },
    "tool/test_slips.py": {
        "test_a_column_of_another_kind_is_left_alone": 25,
        "test_slips_at_random_are_read_to_the_clean_file_or_refused": 4,
    },
    "tool/test_unordered.py": {
        "test_intervals_hold_the_share_of_impossible_questions": 0,
        "test_scorers_that_agree_everywhere_give_true_errors_and_no_warnings": 0,
    },
    "tool/test_verdict.py": {
        "test_picks_are_those_of_computing_every_candidate_again": 2,
    },
}


# Files of tests that need what `make test-all` installs and `make test` does not
NEEDS = {"inspect_ai": {"test_inspecting.py"}, "litellm": {"test_answers.py", "test_gate_asking.py"}}


class Uncollected(pytest.Module):
    """A file of tests for which a package is missing."""

    needed: str

    def collect(self):
        pytest.skip(f"could not import {self.needed!r}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    name = module_path.name
    needed = {package for package, files in NEEDS.items() if name in files}
    needed |= {"litellm"} if name.startswith("test_collecting") else set()
    for package in needed:
        if find_spec(package) is None:
            module = Uncollected.from_parent(parent, path=module_path)
            module.needed = package
            return module
    return None


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by `make test`, and by `make lowest` and `make newest`")
    config.addinivalue_line("markers", "versions: also run by `make lowest` and `make newest`, slow or not")
    gc.disable()  # nothing of what is imported and collected is ever freed


def pytest_collection_finish():
    """Garbage is collected from here on, and not sought among what was there before the tests."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 10, 10)  # else it would be sought through all that tests import, again and again


def pytest_collection_modifyitems(config, items):
    """Mark what is slow, and begin with it: at the end no core waits long for another."""
    cases: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        name = item.path.relative_to(config.rootpath / "tests").as_posix()
        if name in SLOW:
            item.add_marker("slow")
        else:
            cases.setdefault((name, getattr(item, "originalname", item.name)), []).append(item)
    for (name, test), of_test in cases.items():
        quick = _quick_cases(of_test, QUICK_CASES.get(name, {}).get(test))
        for number, item in enumerate(of_test):
            if number not in quick:
                item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _quick_cases(of_test: list[pytest.Item], n_cases: int | None) -> Collection[int]:
    """Numbers of the cases of a test that are quick: as many as are listed; of products, those that cover it."""
    if n_cases is not None and n_cases < len(of_test):
        return {int(number) for number in np.linspace(0, len(of_test), n_cases, endpoint=False)}
    return _covering(list(map(_factors, of_test))) if len(_factors(of_test[0])) > 1 else range(len(of_test))


def _factors(item: pytest.Item) -> tuple[tuple[int, ...], ...]:
    """Which values a case has of each list of values that its test is run over: the objects' identities."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ()
    lists = [mark.args[0] for mark in item.iter_markers("parametrize")]
    of_marks = [
        [name.strip() for name in names.split(",")] if isinstance(names, str) else names for names in lists
    ]
    of_fixtures = [
        [name] for name in sorted(callspec.params.keys() - {name for names in of_marks for name in names})
    ]
    return tuple(tuple(id(callspec.params[name]) for name in names) for names in (*of_marks, *of_fixtures))


def _covering(cases: list[tuple[tuple[int, ...], ...]]) -> set[int]:
    """Numbers of cases that have every value of two lists, or every pair of values of three or more, between them.

    `make test` runs these of a product of options, and `make test-all` the whole.
    """
    size = 1 if len(cases[0]) == 2 else 2
    combined = [set(combinations(enumerate(case), size)) for case in cases]
    chosen, left = set(), set().union(*combined)
    while left:
        best = max(range(len(cases)), key=lambda number: len(combined[number] & left))
        chosen.add(best)
        left -= combined[best]
    return chosen


UNSKIPPED_BY = {
    "JUDGERANK_DATA": "JUDGERANK_DATA=FOLDER with the paper's data",
    "JUDGERANK_PAPER": "JUDGERANK_PAPER=FILE, the paper's TeX",
    "could not find a browser": "Chromium (apt-get install chromium)",
    "make lowest": "make lowest, on Python 3.11",
    "no package index answers": "a package index that pip reaches",
    "could not import": "the optional extras (make environment)",
}


def pytest_terminal_summary(terminalreporter):
    """One line that says how many tests were skipped, and what would let them run."""
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = [
        str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr) for report in skipped
    ]
    known = [next((cure for key, cure in UNSKIPPED_BY.items() if key in reason), reason) for reason in reasons]
    cures = [f"{known.count(cure)} by {cure}" for cure in dict.fromkeys(known)]
    terminalreporter.write_line(f"{len(skipped)} tests skipped; they would run, {'; '.join(cures)}")


def _frame(*rows: tuple) -> pd.DataFrame:
    """Judgments from tuples (model_a, model_b, judge_model, judge_preferred_model)."""
    columns = ["model_a", "model_b", "judge_model", "judge_preferred_model"]
    return pd.DataFrame(list(rows), columns=columns, dtype=object)


def _cells(*rows: tuple, judges: tuple[str, ...] | None = None) -> Comparisons:
    """Aggregated rows from tuples (first, second, judge, wins of the first, losses[, covariate])."""
    models = tuple(sorted({name for row in rows for name in row[:2]}))
    judges = judges or tuple(sorted({row[2] for row in rows}))
    count = np.array([row[3] + row[4] for row in rows], float)
    return Comparisons(
        models,
        judges,
        np.array([models.index(row[0]) for row in rows]),
        np.array([models.index(row[1]) for row in rows]),
        np.array([judges.index(row[2]) for row in rows]),
        np.array([row[3] for row in rows]) / count,
        count,
        np.array([row[5] for row in rows], float) if len(rows[0]) > 5 else None,
    )


def _simulated(seed, scores, gamma, size, *, slope=None, ties=0.0) -> Comparisons:
    """Raw rows drawn from the model: pairs in random order, judges and pairs uniform, a share of ties.

    A negative gamma makes a contrarian judge. With `slope`, rows carry a covariate of plus or minus one.
    """
    rng = np.random.default_rng(seed)
    scores, gamma = np.asarray(scores, float), np.asarray(gamma, float)
    n, k = len(scores), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    judge = rng.integers(k, size=size)
    z = None if slope is None else rng.choice([-1.0, 1.0], size)
    g = gamma[judge] * (1.0 if slope is None else np.exp(np.asarray(slope)[judge] * z))
    outcome = (rng.random(size) < expit(g * (scores[first] - scores[second]))).astype(float)
    outcome[rng.random(size) < ties] = 0.5
    models, judges = (tuple(f"{label}{i}" for i in range(m)) for label, m in (("m", n), ("j", k)))
    return Comparisons(models, judges, first, second, judge, outcome, None, z)


def _log_likelihood(cells: Comparisons, scores, gamma=None, slope=None) -> float:
    """Equation (5), written without the package; gamma may be zero or negative."""
    gamma = np.ones(len(cells.judges)) if gamma is None else gamma
    g = gamma[cells.judge]
    if slope is not None:
        g = g * np.exp(slope[cells.judge] * cells.covariate)
    eta = g * (scores[cells.first] - scores[cells.second])
    y = cells.outcome
    return float(np.sum(cells.count * (y * log_expit(eta) + (1 - y) * log_expit(-eta))))


def _dense_information(cells: Comparisons, at: Parameters) -> np.ndarray:
    """J' diag(n p (1 - p)) J in (s, alpha, beta) over all judges, with J built row by row."""
    blocks, n, k = len(at.judges), len(at.scores), at.judges.shape[1]
    total = np.zeros((n + blocks * k, n + blocks * k))
    for t in range(len(cells)):
        i, j, judge = cells.first[t], cells.second[t], cells.judge[t]
        z = cells.covariate[t] if blocks > 1 else 0.0
        g = np.exp(at.judges[0, judge]) if blocks else 1.0
        g = g * np.exp(at.judges[1, judge] * z) if blocks > 1 else g
        d = at.scores[i] - at.scores[j]
        row = np.zeros(len(total))
        row[i], row[j] = g, -g
        for b in range(blocks):
            row[n + b * k + judge] = g * d * (1.0, z)[b]
        p = expit(g * d)
        total += cells.count[t] * p * (1 - p) * np.outer(row, row)
    return total


def _swapped(cells: Comparisons) -> Comparisons:
    """The same comparisons with the other model shown first."""
    outcome = 1 - cells.outcome
    return Comparisons(
        cells.models, cells.judges, cells.second, cells.first, cells.judge, outcome, cells.count, cells.covariate
    )


@pytest.fixture(scope="session")
def frame():
    return _frame


@pytest.fixture(scope="session")
def cells_of():
    return _cells


@pytest.fixture(scope="session")
def simulated():
    return _simulated


@pytest.fixture(scope="session")
def log_likelihood():
    return _log_likelihood


@pytest.fixture(scope="session")
def dense_information():
    return _dense_information


@pytest.fixture(scope="session")
def swapped():
    return _swapped
