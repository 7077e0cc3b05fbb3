"""What a plan trains on and is judged by: tokens of a text, laid down in the run's folder, or the Small World."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from plmlab.atomic import clear, replace
from plmlab.batches import bucketed
from plmlab.models.registry import Pretraining
from plmlab.pretraining.plan import FILE, Plan
from plmlab.text import Sequential, Tokenizer, TokenStream, each, hub
from plmlab.text.pieces import Pieces
from plmlab.text.streams import examples_of
from plmlab.text.wikipedia_links import linked_paragraphs
from plmlab.world.probability.floors import Floor

HASH = "corpus.sha256"
"""The file of a run that holds the hash of the texts whose tokens were laid down."""
HUB = "hub:"
"""What the name of a data set on the hub begins with."""
LETTERS_TO_LEARN_FROM = 50_000_000
"""A tokenizer is learned from so many characters of the training text, its first."""
HELD_OUT_BATCHES = 20
"""How many batches of held-out Examples a model that reads text by text is judged on."""
HELD_OUT_TOKENS = 500_000
"""How many tokens of the held-out stream a model is judged on, at most."""
MANY = 100_000
"""Of more texts than that, the laying down of their tokens shows its progress."""
WORLD, BILINGUAL = "world", "world-bilingual"
"""The corpora of the Small World: its English; and its English and its Chinese, half and half."""
WORLD_HELD_OUT = 2000
"""How many test sentences of the Small World a model is judged on, rounded up to whole batches."""


@dataclass(frozen=True)
class Material:
    """What a model is trained on and judged by; the held-out text's floor is known where it is the Small World's."""

    tokenizer: Tokenizer
    batches: Any
    held_out: Iterable[Any]
    floor: Floor | None = None


def material(plan: Plan, run: Path) -> Material:
    """What the plan's corpus holds, its tokens in the folder ``run``, where they are found again."""
    if plan.corpus in (WORLD, BILINGUAL):
        return from_world(plan)
    how = plan.kind.pretraining
    assert how is not None
    return from_texts(plan, how, texts(plan.corpus), run)


def texts(corpus: str) -> Callable[[], Iterable[str]]:
    """The texts of a corpus, to be gone through as often as need be: the paragraphs of the Wikipedia sample or of a
    reader's .txt, the records of a .jsonl, or a data set of the hub ("hub:name")."""
    if corpus == "wikipedia":
        return linked_paragraphs
    if corpus.startswith(HUB):
        column = hub(corpus.removeprefix(HUB))
        return lambda: (text for text in column if text and not text.isspace())
    each(corpus)
    return lambda: each(corpus)


def from_texts(plan: Plan, how: Pretraining, whole: Callable[[], Iterable[str]], run: Path) -> Material:
    """The beginning of a text to train on, its end to judge by, in tokens learned from the former.

    The text is gone through piece by piece and its tokens are read from a file, so that neither need fit into memory.
    ValueError where it is not the text that the run began with.
    """
    file = run / "tokenizer.json"
    count, mark = counted(whole())
    cut = divided(count, plan.held_out)
    unchanged(plan, mark, run)
    if not file.is_file():
        learned = how.learn(_first_letters(islice(whole(), cut)), plan.vocab)
        learned.save(run)
    tokenizer = Tokenizer.load(file)

    def train() -> Iterator[str]:
        return islice(whole(), cut)

    def rest() -> Iterator[str]:
        return islice(whole(), cut, None)

    if how.stream:
        stream, held_out = (laid_down(TokenStream, run / name, part, tokenizer, progress=count > MANY)
                            for name, part in (("train.bin", train), ("held_out.bin", rest)))
        judged = TokenStream(held_out.ids[:HELD_OUT_TOKENS])
        return Material(tokenizer, stream.windows(plan.batch, plan.time, plan.seed),
                        Sequential(judged, plan.batch, plan.time))
    longest = plan.time - how.added
    pieces, others = (laid_down(Pieces, run / name, part, tokenizer, longest, progress=count > MANY)
                      for name, part in (("train.bin", train), ("held_out.bin", rest)))
    draw = examples_of(others, tokenizer.vocab, how.objective, plan.batch, plan.seed + 1)
    batches = examples_of(pieces, tokenizer.vocab, how.objective, plan.batch, plan.seed, **plan.choices)
    last = [draw(i) for i in range(HELD_OUT_BATCHES)]
    for name, drawn in (("training", map(batches, range(HELD_OUT_BATCHES))), ("held-out", last)):
        if how.asks and not any(map(how.asks, drawn)):
            raise ValueError(f"the {name} text gives a {plan.model} nothing to predict: no paragraph drawn for "
                             f"{HELD_OUT_BATCHES} batches has two words. Give longer paragraphs")
    return Material(tokenizer, batches, last)


def counted(texts: Iterable[str]) -> tuple[int, bytes]:
    """How many texts there are, and a hash of them all, in hexadecimal."""
    count, told = 0, hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        told.update(b"%d " % len(data) + data)
        count += 1
    return count, told.hexdigest().encode()


def unchanged(plan: Plan, mark: bytes, run: Path) -> None:
    """Keep the hash of a corpus with a run that begins; of another text, no tokens that no model has read are left.
    ValueError where a model has read another text."""
    kept = run / HASH
    if kept.is_file() and kept.read_bytes() != mark:
        if plan.resume or (run / FILE).is_file():
            raise ValueError(f"the corpus {plan.corpus} has changed since {plan.resume or run} was trained on it. To "
                             "go on with that training, bring the old text back; to train a new model on the new "
                             "text, give another --out, without --resume. What was trained is as it was")
        clear(run)
    if not kept.is_file():
        run.mkdir(parents=True, exist_ok=True)
        replace(kept, mark)


def laid_down(kind: Any, path: Path, whole: Callable[[], Iterable[str]], tokenizer: Tokenizer, *more: int,
              progress: bool) -> Any:
    """The tokens in a file of the run, written now unless a complete one of these tokens is there; what a killed
    attempt left goes."""
    try:
        return kind.open(path, tokenizer, *more)
    except ValueError:
        for left in path.parent.glob(f".{path.name}.*.unfinished"):
            left.unlink()
        return kind.build(whole(), tokenizer, path, *more, progress=progress)


def divided(count: int, held_out: float) -> int:
    """How many of so many texts are trained on; the rest, one at least, is held out. ValueError for a single text."""
    cut = count - max(1, round(held_out * count))
    if cut < 1:
        raise ValueError("the corpus is a single paragraph: nothing of it can be held out to judge by; "
                         "set its paragraphs apart by blank lines")
    return cut


def _first_letters(whole: Iterable[str]) -> Iterator[str]:
    """The texts up to `LETTERS_TO_LEARN_FROM`."""
    letters = 0
    for text in whole:
        yield text
        letters += len(text)
        if letters >= LETTERS_TO_LEARN_FROM:
            return


def from_world(plan: Plan) -> Material:
    """New sentences of the full Small World for every step, to be judged by the English of its plain test; a token a
    word."""
    from plmlab import world
    from plmlab.world.datasets.batches import sentence_batches
    from plmlab.world.datasets.tokenizer import build_bilingual_tokenizer, build_world_tokenizer

    how, whole = plan.kind.pretraining, world.full()
    assert how is not None
    longest = whole.automaton().longest
    needed = longest + max(2, how.added)
    if plan.time < needed:
        raise ValueError(f"--time is {plan.time}; the Small World's longest sentence has {longest} words, and needs "
                         f"{needed} positions")
    tokenizer = build_bilingual_tokenizer(whole) if plan.corpus == BILINGUAL else build_world_tokenizer(whole,
                                                                                                        ["english"])
    held_out = sentence_batches(whole, "test", tokenizer, how.objective, plan.batch, plan.seed + 1)
    return Material(tokenizer, world_batches(plan, tokenizer),
                    [held_out(i) for i in range(-(-WORLD_HELD_OUT // plan.batch))],
                    whole.floor(how.objective, split="test", sentences=WORLD_HELD_OUT) if how.likelihood else None)


def world_batches(plan: Plan, tokenizer: Tokenizer) -> Callable[[int], Any]:
    """What a plan reads of the full Small World, a batch a step: `world_texts` under its objective."""
    how = plan.kind.pretraining
    assert how is not None
    chosen: dict[str, Any] = dict(plan.choices)
    return world_texts(partial(how.objective, **chosen), how.pairs and partial(how.pairs, **chosen), tokenizer,
                       batch=plan.batch, accumulate=plan.accumulate, time=plan.time, seed=plan.seed,
                       bilingual=plan.corpus == BILINGUAL)


def world_texts(objective: Callable[..., Any], pairs: Callable[..., Any] | None, tokenizer: Tokenizer, *, batch: int,
                accumulate: int, time: int, seed: int, bilingual: bool) -> Callable[[int], Any]:
    """Texts of the full Small World, a batch a step.

    Where ``pairs`` is what a pair is made an Example by, one text in eight is a pair of segments of articles, as long
    as ``time`` lets it be: nearly half of what is read (``mixed_batches``). Of the batches of an update, each has texts
    of like length (``bucketed``).
    """
    from plmlab import world
    from plmlab.world.datasets.batches import bilingual_batches, mixed_batches, pair_batches, sentence_batches
    from plmlab.world.datasets.segments import segment_pairs

    whole, rows = world.full(), -(-batch // 8) if pairs else 0
    sentences = bilingual_batches if bilingual else sentence_batches
    batches = sentences(whole, "train", tokenizer, objective, batch - rows, seed)
    if pairs:
        drawn = partial(segment_pairs, longest=time - 3, bilingual=bilingual)
        batches = mixed_batches(pair_batches(whole, "train", tokenizer, rows, seed, objective=pairs, draw_pairs=drawn),
                                batches)
    return bucketed(batches, accumulate)
