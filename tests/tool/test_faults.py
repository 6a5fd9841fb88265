"""One table of faults: what is wrong, the command it is given to, and the one sentence that ends it.

Every row runs the real command, with files of its own to write to. It must end in exit code 1 and that sentence
alone, and write nothing.
"""

import re
import runpy
import subprocess
import sys

import pytest

from judgerank.errors import ConfigError
from replication.config import ROOT, as_merged, require_plain_options, script_of
from replication.schemas.ranges import require_known_and_in_range
from tests.real_data import needs_data
from tests.study.test_config import PRIMARY, composed

NAN, INF = "=nan is out of range: it must", "=inf is out of range: it must"
UNKNOWN = "there is no setting '{}'; the nearest known one is '{}'"
KEY = "sk-secret-0123456789"

# fault, command with what it is told, and what it says after its own name
NONSENSE = [
    # keys that there are not
    ("a key within a part", "rank +data.colums=1", UNKNOWN.format("data.colums", "data.columns")),
    ("a key within a part's part", "rank +data.columns.judges=x", "the nearest known one is 'data.columns.judge'"),
    ("a key of a data set", "chatbot_arena +datasets.chatbot_arena.fil=x", "'datasets.chatbot_arena.file'"),
    ("a key of a solver", "chatbot_arena +solver.bound=1", UNKNOWN.format("solver.bound", "solver.slope_bound")),
    ("a key of a simulated setting", "ci_coverage +settings.n10_k5.judges=3", "'settings.n10_k5.n_judges'"),
    ("a key of an assumed panel", "plan +assumed.judges=3", UNKNOWN.format("assumed.judges", "assumed.n_judges")),
    ("a key of a judge", "collect_judgments judges=[{jugde:j}]", "Key 'jugde' not in 'Judge'; .* 'judge'"),
    ("a key of an added design", "validity +designs.my={n_model:3}", "Key 'n_model' not in 'Design'; the nearest"),
    ("a misspelt key", "chatbot_arena sovler=adam", "Key 'sovler' not in 'RealData'; .* 'solver'"),
    ("a misspelt solver's key", "chatbot_arena solver.toleranse=1", "the nearest known one is 'tolerance'"),
    ("an unknown solver", "chatbot_arena solver=simplex", "'solver/simplex'"),
    ("an unknown backend", "ci_coverage parallel.backend=threads", "there is no backend 'threads'"),
    ("an unknown section", "verify only=[arena]", "there is no section 'arena'"),
    ("an unknown function", "method_comparison surrogate=always methods.elo.function=nowhere.rank",
     "methods.elo.function=nowhere.rank cannot be loaded: the optional extra 'methods' has its library"),
    ("an unknown method", "validity surrogate=always designs.near_20.methods=[bt]",
     "design 'near_20': there is no method 'bt'"),
    ("a grid too dense for the set", "sparsity surrogate=always dataset=mt_bench trees=[9]",
     "sparsity-mt_bench: at none of the settings has the set enough for a fit"),
    # numbers and words that no one means
    ("a word for a number", "chatbot_arena level=high", "level=high"),
    ("a word of another list", "chatbot_arena surrogate=maybe", "maybe"),
    ("no number", "slot_bias sigma_scores=nan", f"sigma_scores{NAN} be finite and at least 0"),
    ("no number in a mapping", "method_comparison methods.elo.settings.k=nan", f"methods.elo.settings.k{NAN}"),
    ("no number in a simulated setting", "ci_coverage settings.n10_k5.sigma_scores=nan", f"sigma_scores{NAN}"),
    ("no number for a panel", "plan assumed.sigma_scores=nan", f"assumed.sigma_scores{NAN}"),
    ("no number for a level", "rank level=nan", f"level{NAN} lie between 0 and 1"),
    ("a level of one", "chatbot_arena level=1", "level=1 is out of range: it must lie between 0 and 1"),
    ("a negative bound", "ci_coverage estimator.score_bound=-1", "estimator.score_bound=-1 is out of range"),
    ("a step that is no number", "chatbot_arena solver=adam solver.step_scores=nan", f"solver.step_scores{NAN}"),
    ("an endless epsilon", "chatbot_arena solver=adam solver.btl.epsilon=inf", f"solver.btl.epsilon{INF}"),
    ("a certificate for anything", "chatbot_arena solver.tolerance=inf", f"solver.tolerance{INF}"),
    ("a certificate for much", "rank solver.tolerance=0.01", "solver.tolerance=0.01 is out of range"),
    ("such a one, shrunk", "rank solver=penalised solver.tolerance=0.01", "solver.tolerance=0.01 is out of range"),
    ("such a one, by steps", "rank solver=adam solver.tolerance=0.01", "solver.tolerance=0.01 is out of range"),
    ("such a one, in a box", "ci_coverage estimator.tolerance=inf", f"estimator.tolerance{INF}"),
    ("a negative count", "rank few=-3", "few=-3 is out of range: it must lie from 0 to 1e+09"),
    ("a count without end", "rank next=1000000000", "next=1e+09 is out of range: it must lie from 1 to 1000"),
    ("no replications", "ci_coverage replications=0", "replications=0 is out of range"),
    ("one replication where errors are told", "validity replications=1", "it must be finite and at least 2"),
    ("empty blocks", "convergence_mse block=0", "block=0 is out of range: it must be finite and at least 1"),
    ("no points", "convergence_mse points=0", "points=0 is out of range"),
    ("a negative draw", "convergence_mse draws=-1", "draws=-1 is out of range"),
    ("a negative seed", "chatbot_arena seed=-1", "seed=-1 is out of range"),
    ("no sample", "verify sample=0", "sample=0 is out of range: it must be finite and at least 1"),
    ("nobody to work", "ci_coverage profile=smoke parallel.n_jobs=0", "parallel.n_jobs=0 would leave nobody"),
    ("a width of nothing", "plan wanted.score_width=0", "wanted.score_width=0 is out of range: .* above 0"),
    ("a width without end", "plan wanted.score_width=inf", f"wanted.score_width{INF}"),
    ("a power of one", "plan wanted.pair_power=1", "wanted.pair_power=1 is out of range: .* between 0 and 1"),
    ("a correlation above one", "plan correlation=1.5", "correlation=1.5 is out of range: .* from 0 to 1"),
    ("no pairs", "plan questions.pairs=0", "questions.pairs=0 is out of range"),
    ("a pair of a stranger", "plan profile=smoke pair=[m01,gpt]", "pair: there is no model 'gpt' among m01"),
    ("no cache", "convergence_mse cache=''", "cache is empty"),
    ("no place for results", "chatbot_arena results=''", "results is empty"),
    ("nothing that would change", "convergence_mse settings={}", "settings={} would change nothing"),
    ("nothing to simulate", "ci_coverage ~settings.n10_k5 ~settings.n20_k10 ~settings.n50_k20 ~settings.n100_k20",
     "settings is empty"),
    # judges that cannot be asked
    ("nobody to ask", "collect_judgments judges=[]", "judges is empty"),
    ("a judge twice", "collect_judgments judges=[{judge:j},{judge:j}]", "judge 'j' is there twice"),
    ("never asked", "collect_judgments repeats=0", "repeats=0 is out of range"),
    ("no time to answer", "collect_judgments timeout=nan", f"timeout{NAN}"),
    ("a judge who pays", "collect_judgments judges=[{judge:j,prompt_price:-1}]", "judges.prompt_price=-1"),
    ("an order unknown", "collect_judgments order=sideways", "order"),
    ("no questions", "collect_judgments questions.source=nowhere.jsonl", "nowhere.jsonl"),
    ("no place to ask", "collect_judgments base_url=nowhere", "base_url is not an address"),
    ("a key in the address", "collect_judgments base_url=http://me:secret@127.0.0.1:9/v1", "more than a place"),
    ("a key in its query", "collect_judgments base_url='http://127.0.0.1:9/v1?key=secret'", "more than a place"),
    ("a key in a judge's", "collect_judgments judges=[{judge:j,base_url:'http://127.0.0.1:9/v1?k=secret'}]",
     "more than a place"),
    ("the key in a setting", "collect_judgments prompt.name=${oc.env:OPENAI_API_KEY}", "also stands in a setting"),
    ("the key as a setting", f"collect_judgments prompt.name={KEY}", "also stands in a setting"),
    ("a folder to append to", "collect_judgments output=.", "is a folder"),
    # data that are not there
    ("no file", "rank", "which file? (data.path=FILE, or make rank DATA=FILE)"),
    ("a file that is not there", "rank data.path=nowhere.jsonl", "there is no file 'nowhere.jsonl'"),
    ("a surrogate alone where none may be", "tie_handling dataset=in_house_surrogate surrogate=never",
     "In-house data: no file is configured"),
    ("no stored tables to draw from", "chatbot_arena draw_only=true", "no stored tables of chatbot_arena"),
    ("no stored results to audit", "audit readme=null", "no results are stored in"),
]  # fmt: skip
NONSENSE += [("a key", f"{name} +nokey=1", "there is no setting 'nokey'; the nearest") for name in PRIMARY]


def records(*answers: str) -> str:
    """A file of judgments: for every pair of models the letters of its answers, as in "xy:aab"."""
    pairs = [answer.split(":") for answer in answers]
    return "".join(
        f'{{"model_a": "{a}", "model_b": "{b}", "winner": "{w}"}}\n' for (a, b), letters in pairs for w in letters
    )


# fault, the file of judgments, what is said of it, and what the command is told besides
FILES = [
    ("an unknown winner", records("xy:abd"), "m.jsonl: record 3 has the unknown winner 'd'", ""),
    ("a record cut short", records("xy:ab")[:-9], "m.jsonl: line 2 is not JSON", ""),
    ("no record", "", "m.jsonl: there are no comparisons: the set is empty", ""),
    ("a column that is not there", records("xy:ab"), "the table has no column 'who'", "data.columns.judge=who"),
    ("only ties", records("xy:ccc"), "there is no order to find", ""),
    ("only even answers", records("xy:ab", "vw:ab", "vu:ab"), "every judge's answers are even", ""),
    ("lengths wanted", records("xy:ab"), "data.columns.length=NAME", "model=length"),
    ("an unknown member", records("xy:ab"), "'elo'", "model=elo"),
    ("an unknown key", records("xy:ab"), "the nearest known one is 'columns'", "data.column.judge=x"),
]


@pytest.fixture
def told(tmp_path, monkeypatch, capfd):
    """What a command says at its end, in this process, and whether it says only that and writes nothing."""

    def run(command: str, *arguments: str) -> str:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("HYDRA_FULL_ERROR", "0")  # every command sets it for the process
        out = tmp_path / "out"
        if command == "collect_judgments":
            source = ROOT / "examples/answers.jsonl"
            given = [f"output={out}", f"questions.source={source}", "base_url=http://127.0.0.1:9/v1"]
        elif command == "kernels":
            given = []
        else:
            given = [f"results={out}"] + ([f"figures={out}"] if command not in ("rank", "torture") else [])
        monkeypatch.setattr(sys, "argv", [command, *given, *arguments])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(script_of(command)))["run"]()
        assert isinstance(end.value.code, str), end.value.code  # which python prints, and exits with 1
        assert capfd.readouterr().err == ""
        assert not out.exists()
        (line,) = end.value.code.splitlines()
        assert "secret" not in line
        name, _, sentence = line.partition(": ")
        assert name == command
        return sentence

    return run


def says(sentence: str, told: str) -> bool:
    return re.search(sentence if ".*" in sentence else re.escape(sentence), told) is not None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [row[1:] for row in NONSENSE],
    ids=[f"{row[0]}: {row[1].split()[0]}" for row in NONSENSE],
)
def test_nonsense_ends_in_one_sentence(given, sentence, told):
    assert says(sentence, told(*given.split()))


@pytest.mark.parametrize(
    ("content", "sentence", "given"), [row[1:] for row in FILES], ids=[row[0] for row in FILES]
)
def test_files_that_cannot_be_ranked_end_in_one_sentence(content, sentence, given, tmp_path, told):
    (tmp_path / "m.jsonl").write_text(content)
    assert says(sentence, told("rank", f"data.path={tmp_path / 'm.jsonl'}", *given.split()))


@needs_data
@pytest.mark.parametrize("dataset", ["in_house", "ultrafeedback"])
def test_lengths_that_are_not_known_are_asked_for(dataset, told):
    assert "lengths are not known (dataset.questions=FILE" in told("length_covariate", f"dataset={dataset}")


@needs_data
def test_data_that_are_not_the_published_ones_are_refused(told):
    assert "SHA-256" in told("chatbot_arena", "datasets.chatbot_arena.sha256=00", "surrogate=never")


@pytest.mark.parametrize(
    "text",
    [
        "# @package _global_\nhydra:\n  callbacks: {x: {_target_: os.system}}\n",
        "# @package hydra.callbacks\nx: {_target_: os.system}\n",
        "# @package _global_\n{hydra: {callbacks: {x: 1}}}\n",
        "defaults:\n  - override /hydra/job_logging: mine\n",
    ],
)
def test_options_that_set_what_hydra_does_are_refused(text, tmp_path):
    require_plain_options(tmp_path)
    (tmp_path / "judge_panel").mkdir()
    (tmp_path / "judge_panel" / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"judge_panel/mine.yaml sets hydra's own settings"):
        require_plain_options(tmp_path)


def test_a_process_exits_with_one_and_says_no_more():
    command = [sys.executable, "experiments/rank.py", "few=-3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "rank: few=-3 is out of range: it must lie from 0 to 1e+09\n"


def test_groups_can_be_extended_and_their_parts_are_checked():
    added = "+designs.my={title: mine, methods: [btl]}"
    cfg = composed("validity", as_merged(added))
    require_known_and_in_range(cfg)
    assert cfg.designs.my.n_models == cfg.designs.near_10.n_models  # the schema's
    with pytest.raises(ConfigError, match="ties=2 is out of range"):
        require_known_and_in_range(composed("validity", as_merged(added), "designs.my.ties=2"))
    assert as_merged("level=0.9") == "level=0.9"
    assert as_merged("+solver.slope_bound=1") == "+solver.slope_bound=1"
