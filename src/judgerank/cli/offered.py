"""Names that options choose from, apart from what they name, so that help loads none of it.

A test compares each list with the part of the library that it is of.
"""

from __future__ import annotations

NAMED = (  # `judgerank.model.members.NAMED`
    *("btl", "judge_aware", "length", "position_only", "position_aware", "position_length"),
    *("btl_ties", "judge_aware_ties", "position_aware_ties"),
    *("btl_graded", "judge_aware_graded", "position_aware_graded"),
)
SOLVERS = ("newton", "adam", "localized", "penalised")  # `judgerank.engine.solvers.SOLVERS`
CLUSTERS = ("question", "effects", "none")  # `judgerank.ranking.choices.CLUSTERS`
EXPORT_FORMS = ("csv", "tsv", "parquet", "json", "jsonl", "tex", "md")  # `judgerank.ranking.exports.FORMS`
EXPORT_TABLES = (  # `judgerank.ranking.exports.TABLES`
    *("leaderboard", "judges", "pairs", "next", "members", "exact", "effects", "categories", "blocks"),
    *("adjusted", "fitness", "repeats", "lmarena", "eee"),
)
FACTS = ("organisation", "licence", "price", "context", "link", "date")  # `judgerank.ranking.model_facts.FACTS`
DIALECTS = ("duckdb", "spark", "bigquery", "postgres", "sqlite")  # `judgerank.reading.cells_in_sql.QUOTES`
CELL_TABLE = "judgments"  # `judgerank.reading.cells_in_sql.TABLE`
CELL_FORMS = ("csv", "tsv", "parquet", "json", "jsonl")  # of `judgerank.ranking.exports.RAW` and of files read
GOALS = (  # `judgerank.planning.precision.GOALS`
    *("score_width", "score_width_worst", "standardised_width", "standardised_width_worst"),
    *("pair_power", "pairs_interval_excludes_zero", "separated"),
)
ANSWER_COLUMNS = (  # `judgerank.collecting.answer_sources.COLUMNS`
    *("question_id", "question", "model", "answer"),
)
