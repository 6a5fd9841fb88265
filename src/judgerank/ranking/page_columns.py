"""Columns of a page's tables: what is shown above each, and what it means."""

from __future__ import annotations

from judgerank.data.rankings import MOST_TIED
from judgerank.data.strengths import MOST_STRENGTHS
from judgerank.model.judge_blocks import JUDGE_BLOCKS, judge_block, larger_ties, strengths
from judgerank.ranking.studies.next_comparisons import CHANCE

HEADS = {"low": "from", "high": "to", "rank_low": "best rank", "rank_high": "worst rank", "judge_model": "judge"}
HEADS |= {"p_holm": "p (Holm)", "p_value": "p", "share_a": "first", "share_b": "second", "share_tie": "tie"}
HEADS |= {"both_bad": "both bad"}
HEADS |= {"model_a": "shown first", "model_b": "shown second", "width_after": "width afterwards"}
HEADS |= {"log_loss": "held-out log-loss", "log_loss_error": "standard error", "worse": "worse by"}
HEADS |= {"win_rate": "win rate", "score_without": "score unadjusted", "rank_without": "rank unadjusted"}
HEADS |= {"worse_error": "its standard error", "note": "why not compared", "standard_error": "standard error"}
HEADS |= {"to_separate": "comparisons needed", "elo": "Elo scale", "versus": "wins against", "band": "group"}
HEADS |= {"separated": "significant", "unparsed": "unreadable"}
HEADS |= {"p_adjusted": "p, adjusted", "flip_rate": "changed", "second_answer": "second answer adds"}
FURTHER = (*strengths(MOST_STRENGTHS)[1:], *larger_ties(range(MOST_TIED + 1)))
BLOCKS = (*JUDGE_BLOCKS.values(), *map(judge_block, FURTHER))
HEADS |= {
    block.shown: block.shown.replace("strong_", "strength ").replace("tie_", "tie of ")
    for block in BLOCKS[len(JUDGE_BLOCKS) :]
}
HEADS |= {f"{end}_{block.shown}": word for end, word in (("low", "from"), ("high", "to")) for block in BLOCKS}
ABOUT = {
    "score": "quality in log-odds; scores sum to zero",
    "score_without": "the score without the adjustment",
    "rank_without": "the rank without the adjustment",
    "estimate": "in log-odds; for style, per standard deviation of the difference between the two answers",
    "low": "lower end of the confidence interval",
    "high": "upper end of the confidence interval",
    "rank_low": "best rank that the model may have; the ranges hold for all models at once",
    "rank_high": "worst rank that the model may have; the ranges hold for all models at once",
    "band": "neighbours in rank with no significant difference between any two of them",
    "comparisons": "number of judgments",
    "elo": "the score in Elo points: mean 1000; a lead of 400 means odds of ten to one for an average judge",
    "versus": "how often it is preferred to the model chosen above (judges weighted as in the ranking); a tie "
    "counts half",
    "share_a": "share of answers for the model shown first",
    "share_b": "share of answers for the model shown second",
    "share_tie": "share of ties",
    "unparsed": "records whose answer could not be read",
    **{block.shown: block.about for block in BLOCKS},
    "win_rate": "how often it is preferred to another model, averaged over the others (judges weighted as in the "
    "ranking)",
    "agreement": "share of the judge's answers that match the majority of the other judges on the same two models",
    "information": "the judge's share of the information about the scores",
    "status": "how the estimate ended. interior: an ordinary maximum; zero: discrimination zero; unbounded: no "
    "finite estimate; shrunk: a penalised estimate; slope_bound: at the bound of the slope; merged: counted with "
    "another judge",
    "verdict": "what to make of the judge: see the list below",
    "p_holm": "p-value, adjusted for all pairs by Holm's method",
    "p_value": "p-value before any adjustment for several tests",
    "separated": "whether the two models are significantly different, allowing for all pairs",
    "difference": "of the two scores",
    "log_loss": "of comparisons on held-out questions, with ties as a third outcome; lower is better",
    "worse": "than the best of them, with the standard error of the difference over questions",
    "departs": "whether the answers depart from the model by more than chance, by this test alone",
    "ranks": "whether this ranking uses it",
    "width": "of the confidence interval of the difference now",
    "width_after": "of the same interval once these comparisons are collected",
    "to_separate": "comparisons of the two models, spread over the judges, for a significant difference with "
    f"{CHANCE:.0%} power if the estimated gap is right; empty where the models are too close or the judges too "
    "uncertain",
}
HIDDEN = {"p_value", "standard_error", "test", "unparsed", "status"}
OTHERS = {"fitness": "Goodness of fit", "repeats": "Requests asked more than once"}
OTHERS |= {
    "failures": "How often both answers are bad, by model",
    "failed_questions": "Questions on which both answers are bad most often",
}
