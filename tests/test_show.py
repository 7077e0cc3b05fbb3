"""The page of a model: all that runs is on it, and nothing else; and of two models only what differs."""

import re
import sys

import pytest
import torch.nn.functional as F
from torch.nn.modules.module import register_module_forward_pre_hook

from plmlab import cli
from plmlab.models.architectures import DECODER
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.ngram import AddK
from plmlab.models.registry import MODELS, ModelType, all_models
from plmlab.paths import ROOT
from plmlab.show import WIDTH, difference, find, page
from plmlab.tracing import Trace, ours

HEADING = re.compile(r"^# (\S+\.py): (\S+?),?(?: .*)?$", re.MULTILINE)

pytestmark = pytest.mark.usefixtures("one_thread")


class LoudGPT2(GPT2):
    def __init__(self, config):
        super().__init__(config)
        self.layers[0].__class__ = type("First", (self.layer_class,), {})

    def token_logits(self, hidden):
        """The logits.

        Doubled.
        """
        return 2 * super().token_logits(hidden)  # type: ignore[misc]

    def start(self):  # where it begins to write, which no forward pass does
        return super().start()


class DemandingGPT2(GPT2):
    def loss(self, batch, weights):
        return weights


class OtherWords(GPT2):
    def token_logits(self, hidden):
        """Without annotations, and with another docstring."""
        return F.linear(hidden, self.embeddings.token.weight)


@pytest.fixture(autouse=True)
def variants(monkeypatch: pytest.MonkeyPatch) -> None:
    all_models()
    for name, cls in (("loud", LoudGPT2), ("demanding", DemandingGPT2), ("other-words", OtherWords), ("no-net", AddK)):
        monkeypatch.setitem(MODELS, name, ModelType(name, GPTConfig, cls, DECODER))
    monkeypatch.setitem(MODELS, "untold", ModelType("untold", object, GPT2, DECODER))


def shown(text: str) -> list[str]:
    return [name for _, name in HEADING.findall(text)]


def page_of(name: str) -> str:
    return page(Trace.of(find(name)))


def compare(name: str, other: str) -> str:
    return difference(Trace.of(find(name)), Trace.of(find(other)))


@pytest.mark.parametrize("name", sorted(all_models()))
def test_every_model_has_a_page(name: str) -> None:
    called = set[str]()  # by what PyTorch tells, not the profiler
    with register_module_forward_pre_hook(
            lambda module, _: called.add(type(module).forward.__qualname__) if ours(type(module)) else None):
        trace = Trace.of(find(name))
    headings = HEADING.findall(told := page(trace))
    assert called and called <= {*shown(told)} and all((ROOT / path).is_file() for path, _ in headings)
    assert len(headings) == len(set(headings)), "nothing is printed twice"
    assert len(told.splitlines()) <= 450 and max(map(len, told.splitlines())) <= WIDTH
    assert not trace.unfinished and sys.getprofile() is None


def test_what_a_method_inherits_stands_behind_it_and_docstrings_are_one_line() -> None:
    told = page_of("loud")
    assert ('LoudGPT2.token_logits\ndef token_logits(self, hidden):\n    """The logits."""\n'
            "    return 2 * super().token_logits(hidden)\n"
            "# plmlab/models/gpt.py: GPT.token_logits, called through super()") in told
    assert not {"LoudGPT2.start", "GPT.start"} & {*shown(told)}, "it is never run"
    assert told.endswith(f"# as above: {GPT2.layer_class.__name__}.forward"), "it is shown for the first layer"


def test_a_variant_differs_in_the_method_that_it_overrides_and_runs() -> None:
    told, back = compare("loud", "gpt2"), compare("gpt2", "loud")
    assert shown(told) == shown(back) == ["LoudGPT2.token_logits"] and "token_logits, only in loud" in back
    assert "weights only in" not in told and "run only by" not in told


@pytest.mark.parametrize(("name", "other"), [("bert", "bert"), ("other-words", "gpt2"), ("gpt2", "other-words")])
def test_the_same_code_is_the_same(name: str, other: str) -> None:
    told = compare(name, other)
    assert told.startswith(f"# {name} runs the same code as {other}\n") and not shown(told)
    assert "the same in both: the model (forward, " in told


def test_xlnet_differs_from_bert_as_its_paper_says() -> None:
    told = compare("xlnet", "bert")
    lacks, both = told[told.index("weights only in bert"):told.index("====")], told[told.index("the same in both"):]
    assert all(f"embeddings.{part}.weight" in lacks for part in ("position", "segment", "norm"))
    assert all(part in told for part in ("Sum of the five terms", "query stream", "pooler(at_last_position("))
    assert re.search(r"^-.*self[.]norm[(]", told, re.MULTILINE)
    for one in (told, compare("glm", "bert")):
        assert not {*shown(one)} & {*shown(page_of("bert"))}, "nothing is shown that both run"
    assert "feed_forward (forward)" in both and "pool" not in both


@pytest.mark.parametrize(("name", "other", "line"), [
    ("albert", "bert", "albert: shared weights: layers.0…3 are one module"),
    ("bert", "albert", "albert: shared weights: layers.0…3 are one module"),
    ("electra-pretraining", "bert", "electra-pretraining: shared weights: discriminator.encoder.embeddings.token, "
                                    "generator.encoder.embeddings.token are one module"),
])
def test_weights_that_are_shared_are_told(name: str, other: str, line: str) -> None:
    """The code of both is the same; and nothing is told where both share."""
    assert line in " ".join(compare(name, other).replace("\n# ", " ").split())
    assert "shared" not in compare("albert-pretraining", "albert").split("====")[0]
    assert "layers.0…3 are one module" in page_of("albert")


def test_a_part_is_compared_wherever_it_stands() -> None:
    """A GPT's layers lie deeper in a classifier, and are the same; PyTorch's own modules differ by their weights."""
    assert set(shown(compare("gpt-classifier", "gpt2"))) == {
        "GPTClassifier.forward", "GPTClassifier.classify", "GPTClassifier.loss", "place_of"}
    told = compare("gpt2", "gpt")
    assert len(shown(told)) == 1 and "weights only in gpt2: final_norm.weight 128" in told


def test_all_parts_of_a_model_run_whatever_its_loss_asks_for() -> None:
    for name, part in (("cogqa", "GraphLayer.forward"), ("realm", "DualEncoder.forward"),
                       ("open-realm", "REALMForOpenQA.log_joint"), ("lstm", ".step"),
                       ("bert-pretraining", "BERTPretraining.next_sentence_logits")):
        assert any(one.endswith(part) for one in shown(page_of(name))), name


def test_what_stops_is_told() -> None:
    assert re.match("# loss failed on made-up tokens: .*'weights'", page_of("demanding").splitlines()[-1])


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*asked: str) -> str:
        assert cli.main(["show", *asked]) == 0
        return capsys.readouterr().out.removesuffix("\n")
    assert printed("gpt2") == page_of("gpt2") and printed("gpt2", "--diff", "gpt") == compare("gpt2", "gpt")
    assert [line.split()[0] for line in printed().splitlines()] == sorted(MODELS)


@pytest.mark.parametrize(("asked", "answers"), [
    (["xlnt"], ["'xlnt'", "did you mean xlnet", "skip-gram"]), (["gpt2", "--diff", "zzz"], ["'zzz'. Choose one of"]),
    (["untold"], ["untold has no tiny configuration", "gpt.py"]),
    (["no-net"], ["no-net is not a neural network", "ngram.py"]),
    (["--diff", "bert"], ["--diff needs a model"]),
])
def test_what_cannot_be_shown_is_told_in_a_line(asked: list[str], answers: list[str], capsys) -> None:
    assert cli.main(["show", *asked]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and all(answer in told.err for answer in answers)


@pytest.mark.parametrize(("name", "objective"), [
    ("bert-wwm", "whole_words"), ("ernie", "entities_masked"), ("nezha", "whole_words"), ("spanbert", "spans_masked")])
def test_another_objective_is_a_difference(name: str, objective: str) -> None:
    said = f"# pretraining objective: {objective}, instead of masked"
    assert said in compare(name, "bert").splitlines() and said in compare(name, "bert-pretraining").splitlines()
    assert "pretraining objective" not in compare("bert", "bert-pretraining")


def test_bert_with_whole_words_runs_the_code_of_bert() -> None:
    """Only its objective differs."""
    assert compare("bert-wwm", "bert-pretraining").splitlines()[1:3] == [
        "# pretraining objective: whole_words, instead of masked", ""]
    assert "====" not in compare("ernie", "bert-pretraining")
