"""Stories of the world as a test set: a single question, several hundred words after the fact, with three threads.

Half of the training texts are the chapter's; in the other half, three threads of story plots are told, with questions
about them. (Training on the stories themselves does not teach this, because only one word in 500 is an answer.) In the
test set, an answer is correct if its words are more probable than those of the answers from the two other threads;
stories whose answers differ in their number of words are left out. A model that cannot distinguish the threads is
correct in a third of the stories, and one that only compares words in half of them (`word_overlap`). The learning rate
is that of the chapter's memory variant, without a further search, because pilot runs with five rates from 0.003 to 0.1
were all at chance level after 600 updates.
"""

from collections import Counter
from functools import cache, partial
from itertools import chain, islice
from math import fsum
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab import world
from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.arms import HEADS, LAYERS, MEMORY, SEEDS, SEGMENT, TEXTS, WIDTH
from plmlab.example import Batch
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.recipes import Parts, seed_summary
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import fit
from plmlab.world.datasets.recalls import RecallText, RecallTexts
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.documents.stories import Story

UPDATES, THREADS = 2400, 3
STORIES, LENGTHS, LONG = 200, (500, 900), 1024
"""Number of test stories, their lengths in words, and a memory that holds any of them."""
AROUND = 12
"""Words on each side of a mention that `word_overlap` compares."""


@cache
def tokenizer() -> Tokenizer:
    """Word-level tokenizer for the English words that the small world's stories may use."""
    return build_world_tokenizer(world.small(), ["english"], ["stories"])


@cache
def threads(seed: int, count: int, farthest: int) -> tuple[RecallText, ...]:
    """Texts in which three threads of a story plot are told, with questions about them; the plots alternate."""
    small = world.small()
    writers = [RecallTexts(small, recall_task.WORDS, (1, farthest), [plot.name], THREADS).texts(seed)
               for plot in small.storyteller.plots]
    return tuple(islice(chain.from_iterable(zip(*writers, strict=True)), count))


@cache
def read() -> Int[Tensor, "text word"]:
    """All training texts: texts about deeds, and the same number of texts with threads."""
    each = recall_task.TRAIN_SIZE // len(recall_task.MAX_DISTANCES)
    some = chain(recall_task.texts("train"), *(threads(0, each, farthest) for farthest in recall_task.MAX_DISTANCES))
    return torch.tensor(tokenizer().encode_all([" ".join(text.words) for text in some], plain=True))


def learned(updates: int, lr: float, seed: int) -> TransformerXL:
    """Train a Transformer-XL for the given number of updates and return it."""
    torch.manual_seed(seed)
    model = TransformerXL(TransformerXLConfig(len(tokenizer()), SEGMENT, MEMORY, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                              dropout=0.0))
    fit(model, partial(recall_task.training_batch, read(), seed, count=TEXTS), steps=updates, lr=lr, warmup=50,
        show=False)
    return model.eval()


@torch.no_grad()
def price(model: TransformerXL, words: tuple[str, ...], answer: tuple[str, ...]) -> float:
    """The loss on an answer that follows some words, in nats."""
    ids = torch.tensor([tokenizer().encode(" ".join((*words, *answer)), plain=True)])
    logits: Float[Tensor, "time vocab"] = model(Batch.continuing(ids[:, :-1], 0))[0, -len(answer):]
    return float(-logits.log_softmax(-1).gather(-1, ids[0, -len(answer):, None]).sum())


def right(model: TransformerXL, words: tuple[str, ...], options: tuple[tuple[str, ...], ...],
          answer: tuple[str, ...]) -> float:
    """Return 1 if the correct answer is the most probable of the options, otherwise 0."""
    return float(min(options, key=lambda option: price(model, words, option)) == answer)


def on_threads(model: TransformerXL, some: tuple[RecallText, ...]) -> float:
    """Accuracy on texts with threads: only the questions whose fact is within the memory."""
    return fmean(right(model, text.words[:recall.start], recall.options, recall.answer)
                 for text in some for recall in text.recalls if recall.distance < MEMORY)


def test_set() -> tuple[Story, ...]:
    """The test stories."""
    return tuple(islice((story for story in world.small().stories(0, LENGTHS)
                         if len({len(option) for option in story.options}) == 1), STORIES))


def mentions(story: Story, option: tuple[str, ...]) -> list[int]:
    """The positions in a story at which the last word of an answer occurs."""
    return [position for position, word in enumerate(story.words) if word == option[-1]]


def word_overlap(story: Story) -> tuple[str, ...]:
    """Baseline without a network: the option that has a mention with the most words of the question near it, each
    weighted by the inverse of its frequency in the story."""
    often, asked = Counter(story.words), set(story.question)

    def match(option: tuple[str, ...]) -> float:
        around = (story.words[max(0, position - AROUND):position + AROUND] for position in mentions(story, option))
        return max((fsum(1 / often[word] for word in words if word in asked) for words in around), default=0.0)
    return max(story.options, key=match)


def asked(lr: float, seed: int) -> dict[str, float]:
    """Accuracy on new texts with ``threads``, on ``stories`` with the memory length of training, on stories with a
    ``long memory``, and with ``no story`` at all."""
    model = learned(UPDATES, lr, seed)
    told, some = {"threads": on_threads(model, threads(2, 100, recall_task.MAX_DISTANCE))}, test_set()
    for name, memory in (("stories", MEMORY), ("long memory", LONG)):
        reader = model.remembering(memory=memory)
        told[name] = fmean(right(reader, (*story.words, *story.question), story.options, story.answer)
                           for story in some)
    return told | {"no story": fmean(right(model, story.question, story.options, story.answer) for story in some)}


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """The number of stories (``asked``); the fraction of stories whose answer is within the memory length of training
    (``within memory``); the accuracy of the baseline ``word overlap``; and the spread of each accuracy of `asked`."""
    runs = parts(asked, [(lr, seed) for seed in SEEDS])
    names, some = runs[lr, SEEDS[0]], test_set()
    within_memory = [mentions(story, story.answer)[-1] >= len(story.words) + len(story.question) - MEMORY
                     for story in some]
    return {"lr": lr, "updates": UPDATES, "asked": STORIES, "words": len(tokenizer()),
            "within memory": fmean(map(float, within_memory)),
            "word overlap": fmean(float(word_overlap(story) == story.answer) for story in some),
            "right": {name: seed_summary({seed: runs[lr, seed][name] for seed in SEEDS}) for name in names}}
