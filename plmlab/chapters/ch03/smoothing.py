"""N-gram models with and without smoothing: their test losses by order, and the quality of texts sampled from them."""

from collections.abc import Sequence
from functools import cache
from itertools import islice

from plmlab import world
from plmlab.chapters.ch03.amounts import encode_words
from plmlab.chapters.ch03.baselines import Ids, counted_losses
from plmlab.chapters.ch03.writing import sampled_texts, text_quality
from plmlab.metrics import perplexity
from plmlab.models.ngram import AddK, KneserNey, NGram
from plmlab.tables import show_table
from plmlab.world.datasets.tokenizer import world_tokenizer

READ, TEST_SIZE = 8000, 500
"""Number of training sentences, and of test sentences."""


@cache
def sentences() -> tuple[list[tuple[str, ...]], ...]:
    """Training sentences of the full world, and test sentences that are not among them (cached)."""
    training = [tuple(words) for words in islice(world.full().text("train", seed=1), READ)]
    known = set(training)
    unseen = (tuple(words) for words in world.full().text("test", seed=3) if tuple(words) not in known)
    return training, list(islice(unseen, TEST_SIZE))


@cache
def token_ids() -> tuple[Ids, Ids]:
    """Token ids of the training sentences and of the test sentences (cached)."""
    training, test_set = sentences()
    return encode_words(training), encode_words(test_set)


def show_losses(orders: Sequence[int]) -> None:
    """Show the mean loss by order and smoothing method, and the fraction of tokens with probability 0."""
    rows, (training, test_set), vocab = {}, token_ids(), world_tokenizer().vocab
    for order in orders:
        models = NGram(training, order, vocab), AddK(training, order, vocab, 0.01), KneserNey(training, order, vocab)
        losses = [counted_losses(model, test_set) for model in models]
        raw, *smoothed = (f"{loss.mean().item():.2f}".replace("inf", "∞") for loss in losses)
        rows[str(order)] = (raw, f"{losses[0].isinf().double().mean().item():.1%}", *smoothed)
    show_table(("order n", "no smoothing", "tokens with p = 0", "add 0.01", "Kneser–Ney"), rows)


def sampling_quality(model: NGram) -> tuple[str, ...]:
    """Cells of a table row: the perplexity on the test sentences, and percentages of 200 sampled texts: grammatical;
    copied from the training text; grammatical and not copied."""
    texts, loss = text_quality(sampled_texts(model), set(sentences()[0])), counted_losses(model, token_ids()[1]).mean()
    number = f"{perplexity(loss.item()):.1f}" if loss.isfinite() else "∞"
    return (number, *(f"{share:.0%}" for share in (texts.grammatical, texts.read, texts.grammatical - texts.read)))
