"""Stories as an exam: who knows the answer, who knows nothing, and what is asked of whom."""

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
