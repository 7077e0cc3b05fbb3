"""Learning vectors from sentences: which words are kept, what the space was on the way, and that it learns them."""

from collections import Counter

import pytest
import torch
from torch.testing import assert_close

from plmlab.example import IGNORE
from plmlab.models.word2vec import CBOW, SkipGram, SoftmaxSkipGram, Word2Vec, Word2VecConfig
from plmlab.train import fit
from plmlab.train.update import Update
from plmlab.vectors import learning
from plmlab.vectors.learning import EncodedText, LearnedVectors, SnapshotBatches, learn_vectors, moments, vectors_of
from plmlab.vectors.windows import WindowBatches

TEXT = [f"the {a} {b} the {c}".split() for a in ("cat", "dog", "bird") for b in ("sees", "hears")
        for c in ("house", "river", "moon")]
COUNTS = Counter(word for row in TEXT for word in row)
FIRST = 39


def learned(**more) -> LearnedVectors:
    return learn_vectors(TEXT, **{"size": 8, "batch": 4, "rounds": 3, "show": False} | more)


def batches_of(monkeypatch: pytest.MonkeyPatch, texts: list[list[str]], **more) -> tuple[LearnedVectors,
                                                                                         list[list[str]]]:
    """What is learned from some texts, and what sentences it was learned from."""
    made: list[WindowBatches] = []

    class Kept(WindowBatches):
        def __init__(self, *how, **choices):
            super().__init__(*how, **choices)
            made.append(self)

    monkeypatch.setattr(learning, "WindowBatches", Kept)
    found = learn_vectors(texts, size=4, show=False, **more)
    return found, [found.tokenizer.tokens(row.tolist()) for row in made[0].rows]


def test_words_stand_by_their_counts_and_then_by_the_alphabet() -> None:
    made = learned()
    assert made.vectors.words == tuple(sorted(COUNTS, key=lambda word: (-COUNTS[word], word)))
    assert made.counts == tuple(COUNTS[word] for word in made.vectors.words)
    assert made.vectors.words[0] == "the" and made.counts[0] == 36


@pytest.mark.parametrize(("choices", "kept"), [
    ({"least": 2}, "a b c"), ({"least": 3}, "a b"), ({"most": 3}, "a b c"), ({"least": 2, "most": 2}, "a b"),
    ({}, "a b c d e"),
])
def test_rare_words_go_before_windows_are_laid(choices: dict, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """a 4, b 3, c 2, d and e once; a sentence of which one word is left tells nothing."""
    texts = [row.split() for row in ("a d b", "a b c", "b e", "a", "c a")]
    made, read = batches_of(monkeypatch, texts, **choices)
    left = [[word for word in row if word in kept.split()] for row in texts]
    assert made.vectors.words == tuple(kept.split())
    assert read == [row for row in left if len(row) > 1] and "a b" in (" ".join(row[:2]) for row in read)
    assert made.counts == tuple({"a": 4, "b": 3, "c": 2, "d": 1, "e": 1}[word] for word in kept.split()), \
        "counted in the whole text"


def test_the_noise_is_that_of_the_sentences() -> None:
    noise = learned().model.word_loss.noise
    raised = torch.tensor([COUNTS[word] ** 0.75 for word in learned().vectors.words])
    assert not noise[:FIRST].any()
    assert_close(noise[FIRST:], raised / raised.sum())


def test_same_seed_same_vectors() -> None:
    made = [learned(seed=seed).vectors.matrix for seed in (4, 4, 5)]
    assert torch.equal(made[0], made[1]) and not torch.equal(made[0], made[2])


def test_the_sentences_may_come_one_by_one() -> None:
    given = iter(tuple(row) for row in TEXT)
    assert torch.equal(learn_vectors(given, size=8, batch=4, rounds=3, show=False).vectors.matrix,
                       learned().vectors.matrix)


def test_it_is_the_one_loop_over_window_batches() -> None:
    """The same by hand: AdamW without decay or clipping, the rate falling to 0 in a cosine."""
    made = learned(seed=2, lr=0.05)
    row = {word: FIRST + i for i, word in enumerate(made.vectors.words)}
    batches = WindowBatches([[row[word] for word in text] for text in TEXT], FIRST + 9, batch=4, seed=2)
    torch.manual_seed(2)
    model = SkipGram(type(made.model.config)(FIRST + 9, 8, 5))
    model.word_loss.set_noise(batches.counts)
    fit(model, batches, steps=15, lr=0.05, weight_decay=0.0, clip=None, betas=(0.9, 0.999), show=False)
    assert torch.equal(model.token.weight[FIRST:], made.vectors.matrix)
    assert len(made.history.losses) == 15 == 3 * batches.batches_per_epoch
    assert made.history.rates[0] == pytest.approx(0.05, rel=0.02) and made.history.rates[-1] < 0.001


@pytest.mark.parametrize("kind", [SkipGram, CBOW, SoftmaxSkipGram])
def test_each_kind_learns(kind: type[Word2Vec]) -> None:
    made = learned(kind=kind, rounds=40, lr=0.05)
    assert type(made.model) is kind and made.history.smoothed()[-1] < 0.8 * made.history.losses[0]
    assert made.vectors.neighbours("cat", 2)[0].word in ("dog", "bird"), "what stands alike lies near"
    assert {near.word for near in made.vectors.neighbours("house", 2)} == {"river", "moon"}


# On the way

def test_a_snapshot_is_the_space_after_so_many_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is what stood in the table when so many updates had been made; the first is the beginning."""
    after: dict[int, torch.Tensor] = {}
    make = Update.__call__

    def noted(self: Update, *how):
        made = make(self, *how)
        after[self.made] = self.model.token.weight.detach()[FIRST:].clone()
        return made

    monkeypatch.setattr(Update, "__call__", noted)
    made = learned(snapshots=5)
    assert list(made.snapshots) == [0, 1, 4, 8, 15] and made.vectors is made.snapshots[15]
    torch.manual_seed(0)
    after[0] = SkipGram(made.model.config).token.weight.detach()[FIRST:]
    for step, space in made.snapshots.items():
        assert torch.equal(space.matrix, after[step])
    assert not torch.equal(after[4], after[8])


def test_looking_changes_nothing() -> None:
    assert torch.equal(learned(snapshots=7).vectors.matrix, learned().vectors.matrix)
    assert list(learned().snapshots) == [15], "one state: the last"


@pytest.mark.parametrize(("steps", "count", "told"), [
    (100, 5, {0, 4, 16, 36, 64}), (100, 0, set()), (100, 1, {0}), (100, 2, {0, 25}), (3, 10, {0, 1, 2}), (1, 4, {0, 1}),
])
def test_they_lie_close_together_at_the_beginning(steps: int, count: int, told: set[int]) -> None:
    assert moments(steps, count) == told


def test_the_vectors_of_words_and_those_of_contexts() -> None:
    made = learned()
    words, contexts = vectors_of(made.model, made.tokenizer), vectors_of(made.model, made.tokenizer, output=True)
    assert words.words == contexts.words == made.vectors.words and "[MASK]" not in words
    for word in words:
        id = made.tokenizer.id(word)
        assert torch.equal(words[word], made.model.token.weight[id])
        assert torch.equal(contexts[word], made.model.output.weight[id])
    before = words.matrix.clone()
    with torch.no_grad():
        made.model.token.weight.zero_()
    assert torch.equal(words.matrix, before), "they are a copy"


def test_thinned_out_frequent_words_are_read_less(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Counter()
    ask = WindowBatches.__call__

    def counted(self: WindowBatches, step: int):
        batch = ask(self, step)
        read.update(batch.targets[batch.targets != IGNORE].tolist())
        return batch

    monkeypatch.setattr(WindowBatches, "__call__", counted)
    made = learned(sample=0.01, rounds=20)
    share = read[made.tokenizer.id("the")] / (20 * 36)
    assert share == pytest.approx((0.01 / 0.4) ** 0.5 + 0.01 / 0.4, abs=4 * (0.18 * 0.82 / 720) ** 0.5)


@pytest.mark.parametrize(("texts", "choices", "told"), [
    ([], {}, "the text has 0 different words, of which 0 occur 1 times or more"),
    ([["a", "a"]], {}, "has 1 different words.*vectors need at least two: give a longer text, or a smaller least="),
    (TEXT, {"least": 30}, "has 9 different words, of which 1 occur 30 times"),
    ([["a"], ["b"], []], {}, "no sentence of the text has two words of the vocabulary"),
])
def test_a_text_that_teaches_nothing_is_refused(texts: list[list[str]], choices: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        learn_vectors(texts, show=False, **choices)


def test_a_word_that_looks_like_a_special_token_is_left_out() -> None:
    """Its id is taken; the others keep theirs."""
    told = [["[PAD]", "tea", "is", "green"], ["[UNK]", "tea", "is", "[PAD]"]] * 10
    learned = learn_vectors(told, size=4, show=False)
    assert learned.vectors.words == ("is", "tea", "green") and learned.counts == (20, 20, 10)
    assert vectors_of(learned.model, learned.tokenizer).words == learned.vectors.words
    assert not torch.equal(learned.vectors["green"], torch.zeros(4))


def test_the_open_parts_train_the_same_vectors() -> None:
    """As chapter 02 trains them: encoded text, batches that record snapshots, and one call of fit."""
    made, text = learned(window=3, snapshots=4), EncodedText.of(TEXT)
    batches = WindowBatches(text.rows, len(text.tokenizer), batch=4, window=3, seed=0)
    torch.manual_seed(0)
    model = SkipGram(Word2VecConfig(len(text.tokenizer), 8, 5))
    model.word_loss.set_noise(batches.counts)
    steps = 3 * batches.batches_per_epoch
    recorder = SnapshotBatches(batches, model, text.tokenizer, steps=steps, count=4)
    fit(model, recorder, steps=steps, lr=0.02, weight_decay=0.0, clip=None, betas=(0.9, 0.999), show=False)
    snapshots = recorder.finish(steps)
    assert text.counts == made.counts and snapshots.keys() == made.snapshots.keys() and len(snapshots) == 4
    for step, vectors in snapshots.items():
        assert torch.equal(vectors.matrix, made.snapshots[step].matrix)
