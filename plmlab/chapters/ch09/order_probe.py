"""Which part of sentence-pair prediction is topic? Linear probes on bags of words, without any language model."""

from collections.abc import Callable, Iterable, Sequence

Words = Sequence[str]
Features = dict[str, int]


def topic_features(first: Words, second: Words) -> Features:
    """Words of the pair and words that its two sentences share: the same if the sentences are exchanged."""
    shared = {*first} & {*second}
    return {**{f"in:{word}": 1 for word in (*first, *second)}, **{f"both:{word}": 1 for word in shared},
            "shared words": len(shared)}


def ordered_features(first: Words, second: Words) -> Features:
    """`topic_features`, and which words are in the first and which in the second sentence."""
    return {**topic_features(first, second), **{f"first:{word}": 1 for word in first},
            **{f"second:{word}": 1 for word in second}}


def probe_accuracy(train: Iterable[tuple[Words, Words, bool]], test: Iterable[tuple[Words, Words, bool]],
                   features: Callable[[Words, Words], Features]) -> float:
    """Accuracy on ``test`` of a logistic regression on bags of words, trained on ``train``; both yield (first sentence,
    second sentence, label)."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    (x, y), (test_x, test_y) = (zip(*((features(a, b), label) for a, b, label in pairs), strict=True)
                                for pairs in (train, test))
    return float(make_pipeline(DictVectorizer(), LogisticRegression(max_iter=2000)).fit(x, y).score(test_x, test_y))
