"""Training and held-out data of a pretraining plan: a text, tokenized into files in the run's folder, or the Small
World."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from plmlab.atomic import clear, replace
from plmlab.batches import ExampleBatches, bucketed
from plmlab.example import AnyExample, PairBatch, PairExample
from plmlab.models.registry import Pretraining
from plmlab.pretraining.plan import FILE, Plan
from plmlab.text import Sequential, Tokenizer, TokenStream, each, hub
from plmlab.text.chunks import TokenChunks
from plmlab.text.streams import examples_of
from plmlab.text.wikipedia_links import linked_paragraphs
from plmlab.world.probability.floors import Floor

HASH = "corpus.sha256"
"""The file in a run's folder with the hash of the corpus that was tokenized."""
HUB = "hub:"
"""Prefix of a data set's name on the Hugging Face Hub."""
LETTERS_TO_LEARN_FROM = 50_000_000
"""Number of characters at the start of the training text on which the tokenizer is trained."""
ATTEMPTS = 1000
"""Number of draws after which an objective that makes too long a source is refused."""
HELD_OUT_BATCHES = 20
"""Number of held-out batches for the evaluation of a model that is trained on separate texts."""
HELD_OUT_TOKENS = 500_000
"""Maximum number of held-out tokens for the evaluation of a model that is trained on a token stream."""
MANY = 100_000
"""Number of texts above which tokenization shows a progress bar."""
WORLD, BILINGUAL = "world", "world-bilingual"
"""The corpora of the Small World: its English text, or half English and half Chinese."""
WORLD_HELD_OUT = 2000
"""Number of test sentences of the Small World for evaluation, rounded up to whole batches."""


@dataclass(frozen=True)
class Material:
    """Tokenizer, training batches and held-out data of a run; ``floor`` is known only for the Small World."""

    tokenizer: Tokenizer
    batches: Any
    held_out: Iterable[Any]
    floor: Floor | None = None


def material(plan: Plan, run: Path) -> Material:
    """Load the plan's corpus; its tokens are stored in the folder ``run``, and reused if they already exist."""
    if plan.corpus in (WORLD, BILINGUAL):
        return from_world(plan)
    pretraining = plan.kind.pretraining
    assert pretraining is not None
    return from_texts(plan, pretraining, texts(plan.corpus), run)


def texts(corpus: str) -> Callable[[], Iterable[str]]:
    """Make a function that returns a new iterator over the texts of a corpus: the paragraphs of the Wikipedia sample or
    of a .txt file, the records of a .jsonl file, or a data set on the Hugging Face Hub ("hub:name")."""
    if corpus == "wikipedia":
        return linked_paragraphs
    if corpus.startswith(HUB):
        column = hub(corpus.removeprefix(HUB))
        return lambda: (text for text in column if text and not text.isspace())
    each(corpus)
    return lambda: each(corpus)


def from_texts(plan: Plan, pretraining: Pretraining, read_texts: Callable[[], Iterable[str]], run: Path) -> Material:
    """Split a corpus into a training part (the first texts) and a held-out part (the last ones), and tokenize both.

    The tokenizer is trained on the training part, unless the run already has one. The corpus is streamed and its tokens
    are read from a file, so neither has to fit into memory. Raises ValueError if the corpus has changed since the start
    of the run, or if the objective finds no target in it.
    """
    file = run / "tokenizer.json"
    count, corpus_hash = counted(read_texts())
    cut = divided(count, plan.held_out)
    unchanged(plan, corpus_hash, run)
    if not file.is_file():
        pretraining.learn(_first_characters(islice(read_texts(), cut)), plan.vocab).save(run)
    tokenizer = Tokenizer.load(file)

    def train() -> Iterator[str]:
        return islice(read_texts(), cut)

    def rest() -> Iterator[str]:
        return islice(read_texts(), cut, None)

    if pretraining.stream:
        stream, held_out = (laid_down(TokenStream, run / name, part, tokenizer, progress=count > MANY)
                            for name, part in (("train.bin", train), ("held_out.bin", rest)))
        evaluated = TokenStream(held_out.ids[:HELD_OUT_TOKENS])
        return Material(tokenizer, stream.windows(plan.batch, plan.time, plan.seed),
                        Sequential(evaluated, plan.batch, plan.time))
    longest = plan.time - pretraining.added
    pieces, others = (laid_down(TokenChunks, run / name, part, tokenizer, longest, progress=count > MANY)
                      for name, part in (("train.bin", train), ("held_out.bin", rest)))
    objective = fitting(pretraining.objective, plan.time)
    draw = examples_of(others, tokenizer.vocab, objective, plan.batch, plan.seed + 1)
    batches = examples_of(pieces, tokenizer.vocab, objective, plan.batch, plan.seed, **plan.choices)
    last = [draw(i) for i in range(HELD_OUT_BATCHES)]
    for name, drawn in (("training", map(batches, range(HELD_OUT_BATCHES))), ("held-out", last)):
        if pretraining.has_targets and not any(map(pretraining.has_targets, drawn)):
            raise ValueError(f"the {name} text gives {plan.model} nothing to predict: in {HELD_OUT_BATCHES} batches, "
                             "no paragraph has two words. Use a text with longer paragraphs")
    return Material(tokenizer, batches, last)


def counted(texts: Iterable[str]) -> tuple[int, bytes]:
    """The number of texts, and a hexadecimal SHA-256 hash of all texts."""
    count, digest = 0, hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d " % len(data) + data)
        count += 1
    return count, digest.hexdigest().encode()


def unchanged(plan: Plan, corpus_hash: bytes, run: Path) -> None:
    """Store the hash of the corpus in a new run, deleting the tokens of another corpus if no model has been trained on
    them.

    Raises ValueError if the run's model has been trained on another corpus.
    """
    path = run / HASH
    if path.is_file() and path.read_bytes() != corpus_hash:
        if plan.resume or (run / FILE).is_file():
            raise ValueError(f"the corpus {plan.corpus} has changed since {plan.resume or run} was trained on it. To "
                             "continue that training, restore the old text; to train a new model on the new text, "
                             "give another --out, without --resume. The trained model has not been changed")
        clear(run)
    if not path.is_file():
        run.mkdir(parents=True, exist_ok=True)
        replace(path, corpus_hash)


def laid_down(kind: Any, path: Path, read_texts: Callable[[], Iterable[str]], tokenizer: Tokenizer, *more: int,
              progress: bool) -> Any:
    """Open the run's token file, or write it if there is no complete file for this tokenizer.

    Unfinished files of an interrupted attempt are deleted.
    """
    try:
        return kind.open(path, tokenizer, *more)
    except ValueError:
        for unfinished in path.parent.glob(f".{path.name}.*.unfinished"):
            unfinished.unlink()
        return kind.build(read_texts(), tokenizer, path, *more, progress=progress)


def divided(count: int, held_out: float) -> int:
    """The number of training texts among ``count`` texts; the rest, at least one text, is held out. Raises ValueError
    if there is only one text."""
    cut = count - max(1, round(held_out * count))
    if cut < 1:
        raise ValueError("the corpus is a single paragraph, so that no text can be held out for evaluation; "
                         "separate its paragraphs with blank lines")
    return cut


def _first_characters(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts, up to `LETTERS_TO_LEARN_FROM` characters in total."""
    characters = 0
    for text in texts:
        yield text
        characters += len(text)
        if characters >= LETTERS_TO_LEARN_FROM:
            return


def from_world(plan: Plan) -> Material:
    """Newly sampled sentences, or documents, of the full Small World at every step, with one token per word. The
    held-out data are English sentences of the world's test split, or documents made of them, without articles, which
    all occur in training. Raises ValueError if ``time`` is shorter than its longest sentence."""
    from plmlab import world
    from plmlab.world.datasets.batches import sentence_batches
    from plmlab.world.datasets.tokenizer import build_bilingual_tokenizer, build_world_tokenizer

    pretraining, small_world = plan.kind.pretraining, world.full()
    assert pretraining is not None
    longest = small_world.automaton().longest
    needed = longest + max(2, pretraining.added)
    if plan.time < needed:
        raise ValueError(f"--time is {plan.time}; the Small World's longest sentence has {longest} words and needs "
                         f"--time {needed}")
    bilingual = plan.corpus == BILINGUAL
    tokenizer = build_bilingual_tokenizer(small_world) if bilingual else build_world_tokenizer(small_world, ["english"])
    held_out = (world_documents(plan, "test", tokenizer, pretraining.objective, plan.seed + 1)
                if pretraining.documents else
                sentence_batches(small_world, "test", tokenizer, pretraining.objective, plan.batch, plan.seed + 1))
    floor = (small_world.floor(pretraining.objective, split="test", sentences=WORLD_HELD_OUT)
             if pretraining.likelihood else None)
    return Material(tokenizer, world_batches(plan, tokenizer),
                    [held_out(i) for i in range(-(-WORLD_HELD_OUT // plan.batch))], floor)


def world_batches(plan: Plan, tokenizer: Tokenizer) -> Callable[[int], Any]:
    """The plan's batches of the full Small World, one per step: `world_texts` with the plan's objective, or documents
    of at most ``time`` tokens, grouped by length."""
    pretraining = plan.kind.pretraining
    assert pretraining is not None
    chosen: dict[str, Any] = dict(plan.choices)
    objective = partial(pretraining.objective, **chosen)
    if pretraining.documents:
        return bucketed(world_documents(plan, "train", tokenizer, objective, plan.seed,
                                        bilingual=plan.corpus == BILINGUAL), plan.accumulate)
    pairs = pretraining.pairs and partial(pretraining.pairs, **chosen)
    return world_texts(objective, pairs, tokenizer, batch=plan.batch,
                       accumulate=plan.accumulate, time=plan.time, seed=plan.seed,
                       bilingual=plan.corpus == BILINGUAL)


def world_documents(plan: Plan, split: str, tokenizer: Tokenizer, objective: Callable[..., AnyExample], seed: int,
                    **options: Any) -> ExampleBatches:
    """Batches of documents of the full Small World that fit the plan; ``options`` are those of `document_batches`."""
    from plmlab import world
    from plmlab.world.datasets.documents import document_batches

    pretraining = plan.kind.pretraining
    assert pretraining is not None
    return document_batches(world.full(), split, tokenizer, fitting(objective, plan.time), plan.batch, seed,
                            longest=plan.time - pretraining.added, **options)


def real_tokens(plan: Plan, tokenizer: Tokenizer, every: int) -> float:
    """The number of real tokens in the training text of a plan for the Small World, [CLS] and [SEP] included, estimated
    from one update in ``every``. Each position counts once, even if one of MPNet's masks has the same position. For an
    encoder–decoder, the tokens of the source and of the decoder's input count."""
    batches, pad, count = world_batches(plan, tokenizer), tokenizer.vocab.need("pad"), 0
    sampled_updates = range(0, plan.steps, every)
    for update in sampled_updates:
        for step in range(plan.accumulate):
            batch = batches(update * plan.accumulate + step)
            if isinstance(batch, PairBatch):
                count += sum(int((side.tokens != pad).sum()) for side in (batch.source, batch.target))
                continue
            positions = batch.position_ids[:, 0].expand(batch.size).masked_fill(batch.tokens == pad, -1)
            count += int((positions.amax(1) + 1).sum())
    return count * plan.steps / len(sampled_updates)


def fitting(objective: Callable[..., AnyExample], time: int) -> Callable[..., AnyExample]:
    """The objective, with its random choices drawn again until the source of a pair has at most ``time`` tokens: an
    empty span of text infilling makes a source one token longer than the text. The function raises ValueError if
    `ATTEMPTS` sources are too long."""
    def made(tokens: Any, **given: Any) -> AnyExample:
        for _ in range(ATTEMPTS):
            example = objective(tokens, **given)
            if not isinstance(example, PairExample) or len(example.source.tokens) <= time:
                return example
        raise ValueError(f"the objective makes a source of more than {time} tokens from a text of {len(tokens)}; use a "
                         "larger --time")
    return made


def world_texts(objective: Callable[..., Any], pairs: Callable[..., Any] | None, tokenizer: Tokenizer, *, batch: int,
                accumulate: int, time: int, seed: int, bilingual: bool) -> Callable[[int], Any]:
    """Batches of texts of the full Small World, one per step.

    If ``pairs``, an objective for segment pairs, is given, one text in eight is a pair of segments of articles, as long
    as ``time`` permits; these make up nearly half of the tokens (``mixed_batches``). Within an update, texts of similar
    length are batched together (``bucketed``).
    """
    from plmlab import world
    from plmlab.world.datasets.batches import bilingual_batches, mixed_batches, pair_batches, sentence_batches
    from plmlab.world.datasets.segments import segment_pairs

    small_world, rows = world.full(), -(-batch // 8) if pairs else 0
    sentences = bilingual_batches if bilingual else sentence_batches
    batches = sentences(small_world, "train", tokenizer, objective, batch - rows, seed)
    if pairs:
        drawn = partial(segment_pairs, longest=time - 3, bilingual=bilingual)
        pair_rows = pair_batches(small_world, "train", tokenizer, rows, seed, objective=pairs, draw_pairs=drawn)
        batches = mixed_batches(pair_rows, batches)
    return bucketed(batches, accumulate)
