"""Train the bundled word vectors: ``python -m plmlab.chapters.ch02.bundled`` (two minutes)."""

from plmlab.chapters.ch02 import sampling, wikipedia
from plmlab.chapters.ch02.factorisation import factors_of, pair_loss, scores
from plmlab.checkpoints import enter, home, save
from plmlab.models.word2vec import Word2Vec
from plmlab.text.tokenizers import Tokenizer
from plmlab.vectors.learning import LearnedVectors, learn_vectors, vectors_of

COMMAND = "python -m plmlab.chapters.ch02.bundled"
SENTENCES = 640_000


def world_vectors() -> LearnedVectors:
    """Train vectors for one epoch on newly sampled sentences of the full world."""
    return learn_vectors(sampling.text(SENTENCES, seed=0), size=sampling.SIZE)


def wikipedia_vectors() -> LearnedVectors:
    """Train vectors on the Wikipedia sample, for all words that occur at least five times."""
    return learn_vectors(wikipedia.sentences(), size=wikipedia.SIZE, least=wikipedia.LEAST, sample=wikipedia.SAMPLE,
                         rounds=wikipedia.ROUNDS)


def above_floor(model: Word2Vec, tokenizer: Tokenizer) -> float:
    """Relative excess of the exact loss of the full world's vectors over the minimum, in percent."""
    loss = pair_loss("full")
    factors = factors_of(loss, vectors_of(model, tokenizer), vectors_of(model, tokenizer, output=True))
    return 100 * loss.above(scores(factors))


def main() -> None:
    """Train and save both sets of vectors, and add them to the index of checkpoints."""
    trained = {"skipgram-world": world_vectors(), "skipgram-wikipedia": wikipedia_vectors()}
    for name, learned in trained.items():
        excess = {"excess loss over the minimum, %": above_floor(learned.model, learned.tokenizer)} \
            if name == "skipgram-world" else {}
        save(home() / name, learned.model, learned.tokenizer, command=COMMAND, figures={
            **excess, "words": f"{len(learned.vectors):,}", "dimensions": str(learned.model.config.model),
            "updates of 128 sentences": f"{len(learned.history.losses):,}",
            "seconds": f"{learned.history.seconds:.0f}",
        })
        enter(name)


if __name__ == "__main__":
    main()
