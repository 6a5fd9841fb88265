"""Names that tables of the resampled sections have for estimators; figures, which fit nothing, need no more."""

ALL_DRAWS = "algorithm_1"  # the paper's own algorithm, which gives scores for every draw: the estimator of figures
