"""Stories as an exam: who knows the answer, who knows nothing, and what is asked of whom."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch10 import recall_task
from plmlab.example import Batch
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.recipes import recorded
from plmlab.world import World
from plmlab.world.datasets.recalls import Recall, RecallText
from plmlab.world.documents.stories import Story
from studies.ch10 import stories

OPTIONS = (("the", "cup"), ("her", "coat"), ("the", "key"))

pytestmark = pytest.mark.usefixtures("few_texts")


@pytest.fixture(scope="module")
def test_set() -> list[Story]:
    """Ten stories of two seeds each; the first one's answers differ in length."""
    return [story for seed in (1, 2) for story in islice(world.small().stories(seed, stories.LENGTHS), 10)]


def small(**lengths: int) -> TransformerXLConfig:
    return TransformerXLConfig(len(stories.tokenizer()), layers=1, model=8, heads=2, inner=8, dropout=0.0, **lengths)


class Knowing(TransformerXL):
    """Expects these words, wherever they come; with ``sure=0`` all words are equally likely, below it all others."""

    def __init__(self, words: tuple[str, ...], sure: float) -> None:
        super().__init__(small(memory=64))
        self.sure, self.expected = sure, torch.tensor(stories.tokenizer().encode(" ".join(words), plain=True))

    def forward(self, batch: Batch, caches: None = None) -> Tensor:
        """Position t says word t + 1."""
        logits = torch.zeros(*batch.tokens.shape, self.config.vocab)
        said = self.expected[1:batch.tokens.shape[1] + 1]
        logits[:, :len(said)] = self.sure * F.one_hot(said, self.config.vocab).float()
        return logits


def judged(story: Story, sure: float) -> float:
    words = (*story.words, *story.question)
    return stories.right(Knowing((*words, *story.answer), sure), words, story.options, story.answer)


# Right and wrong

def test_who_knows_the_answer_is_right_and_who_is_contrary_never(test_set: list[Story]) -> None:
    """Where answers are of one length; one of fewer words costs less, which is no knowledge."""
    even = [story for story in test_set[:12] if len({len(option) for option in story.options}) == 1]
    assert len(even) > 8 and all(story.answer in story.options for story in test_set)
    assert {judged(story, 20.0) for story in even} == {1.0}
    assert {judged(story, -20.0) for story in even} == {0.0}


def test_who_prices_all_alike_takes_the_first_and_so_is_right_once_in_three(test_set: list[Story],
                                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """`min` keeps the first of equals; which of the options is right was drawn (tests/world/test_world_stories.py)."""
    for answer, share in zip(OPTIONS, (1.0, 0.0, 0.0), strict=True):
        assert stories.right(Knowing(("a",), 0.0), ("what", "?"), OPTIONS, answer) == share
    monkeypatch.setattr(stories, "price", lambda *_: 1.0)
    model = Knowing(("a",), 0.0)
    assert {len(set(story.options)) for story in test_set} == {3}
    asked = [recall for text in stories.threads(1, 60, 128) for recall in text.recalls]
    share = fmean(stories.right(model, (), recall.options, recall.answer) for recall in asked)
    assert len(asked) > 150 and share == pytest.approx(1 / 3, abs=0.13)


# Prices

@torch.no_grad()
def test_the_price_is_that_of_word_after_word(test_set: list[Story]) -> None:
    """Read on from a state, one word at a time; each text, of which the memory holds all, for itself."""
    torch.manual_seed(0)
    model = TransformerXL(small(segment=16, memory=1024)).eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.4)
    story = test_set[0]
    for words, answer in (((*story.words, *story.question), story.answer), (story.question, story.options[1]),
                          (("the",), ("cup", "is", "in", "the", "garden"))):
        state, told, price = model.start(), words, 0.0
        for word in answer:
            ids = torch.tensor([stories.tokenizer().encode(" ".join(told), plain=True)])
            price -= float(model.step(ids, state)[0].log_softmax(0)[stories.tokenizer().id(word)])
            told = (word,)
        assert stories.price(model, words, answer) == pytest.approx(price, abs=1e-3)


def test_prices_by_hand() -> None:
    """Each word of the answer counts, and none before."""
    words, size = ("where", "is", "the", "cup", "?"), len(stories.tokenizer())
    total = math.exp(3) + size - 1
    for answer, known in ((("the", "cup"), 2), (("the", "key"), 1), (("her", "coat"), 0)):
        price = stories.price(Knowing((*words, "the", "cup"), 3.0), words, answer)
        assert price == pytest.approx(2 * math.log(total) - 3 * known, abs=1e-4)
    assert stories.price(Knowing(("a",), 0.0), words, ("key",)) == pytest.approx(math.log(size), abs=1e-5)


# Words

def test_every_word_has_one_token(test_set: list[Story]) -> None:
    unknown = stories.tokenizer().vocab.need("unk")
    texts = [text.words for text in (*recall_task.texts("train"), *recall_task.texts("test_set")[:30],
                                     *stories.threads(2, 10, 128))]
    texts += [(*story.words, *story.question, *(word for option in story.options for word in option))
              for story in test_set]
    for words in texts:
        ids = stories.tokenizer().encode(" ".join(words), plain=True)
        assert len(ids) == len(words) and unknown not in ids
    assert stories.tokenizer().encode("the xylophone", plain=True)[1] == unknown
    rows = stories.read()
    assert rows.shape == (100, 160) and not (rows == unknown).any()
    assert rows[:50].tolist() == [stories.tokenizer().encode(" ".join(text.words), plain=True)
                                  for text in recall_task.texts("train")]


def test_a_story_with_its_question_fits_into_the_long_memory_but_not_that_of_training(test_set: list[Story]) -> None:
    lengths = [len(story.words) + len(story.question) + len(story.answer) for story in test_set]
    assert max(lengths) < stories.LONG and min(map(len, (story.words for story in test_set))) >= 500
    assert all(len(story.words) - sum(len(sentence.words) for sentence in story.sentences[:story.needed[0] + 1])
               > stories.MEMORY for story in test_set), "the fact was told long before"


# Texts with threads

def test_plots_take_turns_and_parts_differ(test_set: list[Story]) -> None:
    read, chosen, asked = (stories.threads(seed, 20, 128) for seed in (0, 1, 2))
    plots = [[{recall.plot for recall in text.recalls} for text in texts] for texts in (read, chosen, asked)]
    for found in plots:
        assert all(len(names) <= 1 for names in found) and len(set().union(*found)) == 10
        assert all(len(set().union(*found[i::10])) == 1 for i in range(10))
    assert len({text.words for texts in (read, chosen, asked) for text in texts}) == 60
    assert {story.plot for story in test_set} == set().union(*plots[0])


def test_only_what_is_within_memory_of_the_memory_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told in positions 2, 30 and 90; asked in positions 65, 94 and 99: 63, 64 and 9 words later."""
    words = tuple(f"w{position}" for position in range(160))
    recalls = tuple(Recall("keep", told, start, OPTIONS[row], OPTIONS)
                    for row, (told, start) in enumerate(((2, 65), (30, 94), (90, 99))))
    seen = []

    def right(model: TransformerXL, words: tuple[str, ...], options: object, answer: tuple[str, ...]) -> float:
        seen.append((words, options, answer))
        return float(answer == OPTIONS[2])
    monkeypatch.setattr(stories, "right", right)
    assert stories.on_threads(Knowing(("a",), 0.0), (RecallText(words, recalls),)) == 0.5
    assert seen == [(words[:65], OPTIONS, OPTIONS[0]), (words[:99], OPTIONS, OPTIONS[2])]


# What is asked

@dataclass
class Asked:
    """Counts what is asked with which memory; right with the long one alone."""

    seen: list[tuple[int, int]]

    def __call__(self, model: TransformerXL, words: tuple[str, ...], options: object, answer: object) -> float:
        self.seen.append((model.config.memory, len(words)))
        return float(model.config.memory == stories.LONG)


def test_stories_are_asked_with_two_memories_and_without_the_story(test_set: list[Story],
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Stories whose answers differ in length are left out."""
    def told(world: World, seed: int, words: tuple[int, int]) -> Iterator[Story]:
        assert (seed, words) == (0, (500, 900))
        return iter(test_set)
    monkeypatch.setattr(World, "stories", told)
    asked, model = Asked([]), TransformerXL(small(segment=16, memory=64)).eval()
    for name, value in (("STORIES", 6), ("right", asked), ("threads", lambda *_: ()), ("on_threads", lambda *_: 0.7),
                        ("learned", lambda updates, lr, seed: model if updates == stories.UPDATES else None)):
        monkeypatch.setattr(stories, name, value)
    assert stories.asked(1e-3, 2) == {"threads": 0.7, "stories": 0.0, "long memory": 1.0, "no story": 0.0}
    some = test_set[1:7]
    assert stories.test_set() == tuple(some) and len({len(option) for option in test_set[0].options}) == 2
    whole, alone = [[len(story.words) * told + len(story.question) for story in some] for told in (1, 0)]
    assert asked.seen == [(memory, length) for memory, lengths in ((64, whole), (1024, whole), (64, alone))
                          for length in lengths]
    assert model.config.memory == 64


def test_who_compares_words_takes_the_mention_with_most_of_the_question_around(test_set: list[Story]) -> None:
    """By hand: beside "cup" stands one word of the question that comes twice, beside "coat" one that comes once; and
    none where it stands 13 words away."""
    def story(text: str) -> Story:
        sentence = replace(test_set[0].sentences[0], words=tuple(text.split()))
        return replace(test_set[0], sentences=(sentence,), question=("where", "did", "Ann", "sing"), options=OPTIONS)

    filling = " so" * 13
    assert stories.word_overlap(story(f"Ann cup{filling} key{filling} Ann{filling} coat sing{filling}")) == OPTIONS[1]
    assert stories.word_overlap(story(f"Ann cup{filling} key{filling} coat{filling} sing{filling}")) == OPTIONS[0]
    assert stories.mentions(story("a cup and a key and a cup"), ("my", "cup")) == [1, 7]
    assert fmean(float(stories.word_overlap(one) == one.answer) for one in test_set) < 0.75
    assert 0.4 < recorded("10")["numbers"]["stories"]["word overlap"] < 0.65, "far from knowing, better than chance"
