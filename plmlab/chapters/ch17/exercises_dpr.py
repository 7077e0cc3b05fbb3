"""Exercises 17.2 and 17.4, DPR: its loss, and hard negatives."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, rand, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def dpr_loss(
    questions: Float[Tensor, "question width"], documents: Float[Tensor, "document width"],
) -> Float[Tensor, ""]:
    """The training loss of DPR for one batch: the mean over its questions of −log p(positive document), in nats.

    Row i of ``questions`` is the vector of question i. If there are n questions, ``documents`` has 2n rows: row i is
    the vector of the positive document of question i, and row n + i that of its hard negative. The score of a document
    for a question is the inner product of the two vectors. p is the softmax over *all* documents of the batch. So the
    negatives of a question are the positive documents of the other questions and the hard negatives of all questions.
    If a document occurs twice, both rows count. exp of a score may overflow.
    """
    scores = questions @ documents.T
    return -scores.log_softmax(1).diagonal().mean()


def draw_vectors(rng: Generator) -> Probes:
    """Inputs for 17.2: name → (questions, documents)."""
    def drawn(questions: int, width: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        return scale * randn(questions, width, generator=rng), randn(2 * questions, width, generator=rng)

    questions, documents = drawn(3, 2)
    return {
        "one question": (torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 1.0], [1.0, -1.0]])),
        "two questions": (torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
                          torch.tensor([[2.0, 1.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5]])),
        "three questions, vectors of width 5": drawn(3, 5), "five questions, vectors of width 1": drawn(5, 1),
        "as wide as the number of documents": drawn(2, 4),
        "a hard negative is the positive document of another question": (questions, documents[[0, 1, 2, 1, 2, 0]]),
        "all inner products are negative": (questions.abs(), -1 - documents.abs()),
        "scores of hundreds, positive and negative": drawn(4, 3, 200.0),
    }


def hard_negative(scores: list[float], documents: list[list[str]], answer: list[str], gold: list[int]) -> int:
    """The index of a question's hard negative: the best by BM25 that is not gold and does not contain the answer.

    ``scores[i]`` is the BM25 score of document i for the question, and ``documents[i]`` is the list of its words.
    ``gold`` has the indices of the gold documents, which are known to answer the question; some of them do not contain
    the answer word for word. A document contains the answer if all words of ``answer`` occur in it next to each other,
    in this order. Words are equal only if their spelling is identical. Of equal scores, take the lowest index. A score
    may be 0 or negative. Return −1 if there is no such document.
    """
    candidates = [number for number, words in enumerate(documents) if number not in gold
                  and answer not in [words[i:i + len(answer)] for i in range(len(words))]]
    return max(candidates, key=lambda number: scores[number], default=-1)


def draw_ranked(rng: Generator) -> Probes:
    """Inputs for 17.4: name → (scores, documents, answer, gold)."""
    def given(answer: str, gold: list[int], *texts: tuple[float, str]) -> tuple[object, ...]:
        return [score for score, _ in texts], [text.split() for _, text in texts], answer.split(), gold

    def drawn(docs: int, answer: str, gold: list[int]) -> tuple[object, ...]:
        words = (3 * rand(docs, 5, generator=rng)).long().tolist()
        numbers = (9 * rand(docs, generator=rng)).round().tolist()
        return given(answer, gold, *zip(numbers, (" ".join("abc"[i] for i in row) for row in words), strict=True))

    return {
        "the two best contain the answer": given(
            "Rome", [0], (4.0, "the capital is Rome"), (3.0, "Rome is a city"), (1.0, "a river"), (2.0, "a lake")),
        "the words of the answer are apart": given(
            "New York", [1], (3.0, "York has a New bridge"), (5.0, "it is in New York"), (1.0, "a bridge")),
        "the words of the answer, with another between them": given(
            "Henry Quinn", [2], (1.0, "a film"), (2.0, "Henry James Quinn wrote it"), (3.0, "Henry Quinn wrote it")),
        "one word of the answer": given(
            "New York", [1], (1.0, "a bridge"), (4.0, "it is in New York"), (3.0, "a New bridge in Boston")),
        "a longer word begins with the answer": given(
            "Rome", [], (2.0, "Romeo loved her"), (1.0, "a play"), (3.0, "it is in Rome")),
        "a gold document does not contain the answer": given(
            "1947", [2, 0], (2.0, "it opened in 1947"), (1.0, "a film"), (4.0, "it opened two years after the war")),
        "the answer is the whole document": given("New York", [], (1.0, "a city"), (3.0, "New York"), (2.0, "New")),
        "the answer begins twice": given(
            "very very old", [], (5.0, "a very very very old oak"), (1.0, "an oak"), (2.0, "a very old oak")),
        "equal scores": given("Rome", [], (2.0, "in Rome"), (1.0, "a play"), (2.0, "a film"), (2.0, "a river")),
        "no document has a word of the question": given("Rome", [1], (0.0, ""), (0.0, "in Rome"), (0.0, "a film")),
        "all scores are negative": given("Rome", [], (-1.0, "near Rome"), (-3.0, "a film"), (-2.0, "a play")),
        "every document is gold or contains the answer": given(
            "Rome", [1], (2.0, "Rome"), (3.0, "the capital of Italy"), (1.0, "in Rome")),
        "eleven documents": drawn(11, "a b", [3, 8]), "thirteen documents": drawn(13, "c a", [0, 5, 12]),
    }


NO_SPAN = "answer not in [words[i:i + len(answer)] for i in range(len(words))]"
"""The condition in `hard_negative` that a document does not contain the answer, for edits."""

LOSS = Exercise(
    "17.2", "DPR's loss", dpr_loss, draw_vectors,
    mistakes={
        "the only negative is the question's own hard negative; all other documents of the batch are negatives":
            edit("scores.log", "torch.stack([scores.diagonal(), scores.diagonal(len(scores))], 1).log",
                 "(1).diagonal()", "(1)[:, 0]"),
        "the hard negatives of the other questions are left out; they are negatives of this question, too": edit(
            "scores.log", "torch.cat([scores[:, :len(scores)], scores.diagonal(len(scores))[:, None]], 1).log"),
        "the hard negatives are left out": edit("documents.T", "documents[:len(questions)].T"),
        "the softmax runs over the questions; it runs over the documents, axis 1": edit("softmax(1)", "softmax(0)"),
        "the scores are cosine similarities; use inner products":
            edit("questions @ documents.T", "torch.cosine_similarity(questions[:, None], documents, 2)"),
        "the losses of the questions are summed; compute their mean": edit("mean()", "sum()"),
        "the softmax is applied twice: cross_entropy expects scores": edit(".log_", ".softmax(1).log_"),
        "the target is the hard negative; it is document i": edit("diagonal()", "diagonal(len(scores))"),
        "the target is document 2i, as if positive documents and hard negatives alternated; it is document i":
            edit("diagonal()", "gather(1, 2 * torch.arange(len(scores))[:, None])"),
        "exp overflows for large scores, and a small probability becomes 0: use log_softmax or cross_entropy":
            edit("-scores.log_softmax(1)", "-by_exp(scores).log()"),
    },
    hints=(
        "In the second input there are two questions and four documents. Compute the four scores of each question. "
        "Which of them belongs to the positive document? Over how many documents does the softmax run?",
        "A matrix with one row per question and one column per document holds all scores. Each row is a "
        "classification over the documents, and the correct class of row i is i.",
        "A matrix product with the transposed documents gives the scores. The log-softmax runs along axis 1, and "
        ".diagonal() takes entry i of row i. F.cross_entropy(scores, targets) combines all but the product.",
    ),
)

HARD_NEGATIVE = Exercise(
    "17.4", "hard negatives", hard_negative, draw_ranked,
    mistakes={
        "documents with all words of the answer are excluded; the words must be next to each other and in order":
            edit(NO_SPAN, "{*answer} - {*words}"),
        "documents with any word of the answer are excluded; only the whole answer counts":
            edit(NO_SPAN, "not {*answer} & {*words}"),
        "the answer is matched as a string, so that Rome occurs in Romeo; compare words":
            edit(NO_SPAN, '" ".join(answer) not in " ".join(words)'),
        "gold documents are not excluded": edit("number not in gold\n                  and ", ""),
        "documents that contain the answer are not excluded: they would be false negatives":
            edit(f"\n                  and {NO_SPAN}", ""),
        "the answer at the end of a document is not found: the last span begins at len(words) − len(answer)":
            edit("range(len(words))", "range(len(words) - len(answer))"),
        "this is the document with the lowest score, the easiest negative": edit("max(", "min("),
        "scores of 0 and below are ignored: a maximum that starts at 0": edit("))]]", "))] and scores[number] > 0]"),
        "only the best document is considered; if it is excluded, take the next": edit(
            "max(candidates,", "max(range(len(scores)),", "return", "best =", "default=-1)",
            "default=-1)\n    return best if best in candidates else -1"),
        "the index counts only the documents that are left; return the index among all":
            edit("max(candidates,", "max(range(len(candidates)),", "scores[number]", "scores[candidates[number]]"),
    },
    hints=(
        "In the second input, which documents contain the answer? Why is the first document a good negative, "
        "although both words of the answer occur in it?",
        "First list the indices of the documents that may be used, and then take the one with the highest score. A "
        "document with n words has a span of the answer's length at each of its positions but the last few.",
        "words[i:i + k] is the span of k words that begins at i, and lists are compared with ==. "
        "max(numbers, key=…, default=…) returns the first of several maxima, and the default if there are none.",
    ),
)
