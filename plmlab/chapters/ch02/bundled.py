"""The vectors that come with the course: ``python -m plmlab.chapters.ch02.bundled`` makes them anew, in two minutes."""

from plmlab.chapters.ch02 import sampling, wikipedia
from plmlab.chapters.ch02.factorisation import factors_of, pair_loss, scores
from plmlab.checkpoints import enter, home, save
from plmlab.models.word2vec import Word2Vec
from plmlab.text.tokenizers import Tokenizer
from plmlab.vectors.learning import LearnedVectors, learn_vectors, vectors_of

COMMAND = "python -m plmlab.chapters.ch02.bundled"
SENTENCES = 640_000


def world_vectors() -> LearnedVectors:
    """Of the words of the full world, from fresh sentences, each read once."""
    return learn_vectors(sampling.text(SENTENCES, seed=0), size=sampling.SIZE)


def wikipedia_vectors() -> LearnedVectors:
    """Of the words that stand in the Wikipedia sample five times or more."""
    return learn_vectors(wikipedia.sentences(), size=wikipedia.SIZE, least=wikipedia.LEAST, sample=wikipedia.SAMPLE,
                         rounds=wikipedia.ROUNDS)


def above_floor(model: Word2Vec, tokenizer: Tokenizer) -> float:
    """How far the exact loss of vectors of the full world lies above the least, in percent of it."""
    loss = pair_loss("full")
    factors = factors_of(loss, vectors_of(model, tokenizer), vectors_of(model, tokenizer, output=True))
    return 100 * loss.above(scores(factors))


def main() -> None:
    """Make both, and put them into the index."""
    made = {"skipgram-world": world_vectors(), "skipgram-wikipedia": wikipedia_vectors()}
    for name, learned in made.items():
        reached = {"loss above the least, %": above_floor(learned.model, learned.tokenizer)} \
            if name == "skipgram-world" else {}
        save(home() / name, learned.model, learned.tokenizer, command=COMMAND, figures={
            **reached, "words": f"{len(learned.vectors):,}", "numbers a word": str(learned.model.config.model),
            "updates of 128 sentences": f"{len(learned.history.losses):,}",
            "seconds": f"{learned.history.seconds:.0f}",
        })
        enter(name)


if __name__ == "__main__":
    main()
