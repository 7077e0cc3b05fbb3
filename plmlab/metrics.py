"""Evaluation metrics, computed with the standard library for each, and the comparison of a loss with its floor.

All scores are from 0 to 1, except BLEU, which is from 0 to 100, as in papers.
"""

import re
import string
import warnings
from collections import Counter
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from math import exp
from typing import Literal
from unicodedata import category

from plmlab.lists import refuse_string

Average = Literal["macro", "micro", "weighted", "binary"]


def perplexity(nats: float) -> float:
    """Perplexity e^nats (困惑度): the number of equally likely tokens that would give the same loss.

    ``nats`` is the mean negative log-likelihood per token; like every loss in plmlab, it uses the natural logarithm.
    """
    return exp(nats)


@dataclass(frozen=True)
class AboveFloor:
    """A loss compared with its floor (the entropy lower bound).

    ``excess``: nats per token above the floor; ``ratio``: the loss's perplexity divided by the floor's (1 is optimal);
    ``leaks``: whether the loss indicates target leakage; ``verdict``: the result in words.
    """

    excess: float
    ratio: float
    leaks: bool
    verdict: str


def above_floor(loss: float, floor: float, error: float = 0.0) -> AboveFloor:
    """Compare a loss with its floor, both in nats per token.

    ``error`` is the standard error of their difference. A loss more than three standard errors below the floor
    indicates target leakage; by chance alone this has a probability of about 1/700. Within three standard errors, the
    model is at the floor. Raises ValueError if ``error`` is negative.
    """
    if error < 0:
        raise ValueError(f"the standard error is {error}; it must not be below 0")
    excess = loss - floor
    leaks = excess < -3 * error
    if leaks:
        verdict = f"{-excess:.3f} nats below the floor: target leakage; the model sees what it has to predict"
    elif excess <= 3 * error:
        verdict = "at the floor: not distinguishable from the Bayes-optimal predictor on this sample"
    else:
        verdict = f"{excess:.3f} nats above the floor: {exp(excess):.2f} times the perplexity of the floor"
    return AboveFloor(excess, exp(excess), leaks, verdict)


def bleu(written: Sequence[str], references: Sequence[str], *, chinese: bool = False) -> float:
    """Corpus BLEU, from 0 to 100, computed with sacrebleu, with one reference per sentence (Papineni et al. 2002; Post
    2018).

    ``chinese`` tokenizes Chinese into characters; without it, a Chinese sentence is a single word. Warns if no
    generated text has four words, in which case BLEU is 0. Raises ValueError unless there is one reference per text.
    """
    paired(written, references)
    from sacrebleu import corpus_bleu
    result = corpus_bleu(list(written), [list(references)], tokenize="zh" if chinese else "13a")
    if not result.totals[-1]:
        warnings.warn("no generated text has four words: BLEU is 0, because it multiplies the precisions of 1- to "
                      "4-grams. For such short texts, use rouge or answers", stacklevel=2)
    return result.score


@dataclass(frozen=True)
class Rouge:
    """Mean F1, from 0 to 1, over unigrams, bigrams and the longest common subsequence (Lin 2004)."""

    rouge1: float
    rouge2: float
    rougeL: float


def rouge(written: Sequence[str], references: Sequence[str], *, chinese: bool = False) -> Rouge:
    """ROUGE computed with rouge-score, averaged over texts, without stemming.

    ``chinese`` counts characters; without it, rouge-score drops Chinese characters. Warns if no reference has two
    words. Raises ValueError unless there is one reference per text.
    """
    paired(written, references)
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer
    names = ("rouge1", "rouge2", "rougeL")
    tokenizer = Characters() if chinese else DefaultTokenizer(use_stemmer=False)
    if all(len(tokenizer.tokenize(reference)) < 2 for reference in references):
        warnings.warn("no reference has two words: rouge2, which counts bigrams, is 0 for every text",
                      stacklevel=2)
    scorer = RougeScorer(list(names), tokenizer=tokenizer)
    scores = [scorer.score(reference, text) for text, reference in zip(written, references, strict=True)]
    return Rouge(**{name: sum(score[name].fmeasure for score in scores) / len(scores) for name in names})


class Characters:
    """A tokenizer for rouge-score that treats every character except white space as a word."""

    def tokenize(self, text: str) -> list[str]:
        """The characters of a text without white space."""
        return [character for character in text if not character.isspace()]


def accuracy(predicted: Sequence[int | str], gold: Sequence[int | str]) -> float:
    """The fraction of correct predictions. Raises ValueError unless there is one prediction per gold label."""
    paired(predicted, gold)
    from sklearn.metrics import accuracy_score
    return float(accuracy_score(gold, predicted))


def f1(predicted: Sequence[int | str], gold: Sequence[int | str], average: Average = "macro") -> float:
    """F1, the harmonic mean of precision and recall.

    ``average``: "macro" averages over classes, "micro" counts all predictions together, "weighted" averages by class
    frequency, "binary" scores class 1 only. A class that is never predicted has F1 0.
    """
    paired(predicted, gold)
    from sklearn.metrics import f1_score
    return float(f1_score(gold, predicted, average=average, zero_division=0))


def entity_f1(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> float:
    """Entity-level F1 of BIO tags as in CoNLL-2003, computed with seqeval: type and both boundaries have to be correct.

    Raises ValueError if the tag sequences of a sentence differ in length, and for a tag that is not O, B-type or
    I-type. Warns if the gold tags contain no entity.
    """
    paired(predicted, gold)
    for sentence, (ours, theirs) in enumerate(zip(predicted, gold, strict=True)):
        refuse_string(ours, "the tags of a sentence")
        refuse_string(theirs, "the tags of a sentence")
        if len(ours) != len(theirs):
            raise ValueError(f"sentence {sentence} has {len(ours)} predicted tags and {len(theirs)} gold tags; "
                             "each token needs one of each")
        wrong = [tag for tag in (*ours, *theirs) if not re.fullmatch(r"O|[BI]-.+", tag)]
        if wrong:
            raise ValueError(f"sentence {sentence} has the tag {wrong[0]!r:.60}; BIO tags are O, B-type and I-type")
    if all(tag == "O" for tags in gold for tag in tags):
        warnings.warn("the gold tags contain no entity: F1 is 0 for every prediction", stacklevel=2)
    from seqeval.metrics import f1_score
    return float(f1_score([list(tags) for tags in gold], [list(tags) for tags in predicted], zero_division=0))


@dataclass(frozen=True)
class Answers:
    """Scores of predicted answers: exact match and mean word-level F1."""

    exact: float
    f1: float


def answers(predicted: Sequence[str], gold: Sequence[str | Sequence[str]]) -> Answers:
    """Exact match and word-level F1 of predicted answers, as defined for SQuAD (Rajpurkar et al. 2016, §6.1).

    Case, punctuation, articles and extra white space are ignored. If a question has several gold answers, the highest
    score over them counts. Raises ValueError for a question without a gold answer.
    """
    paired(predicted, gold)
    exact = shared = 0.0
    for answer, gold_answers in zip(predicted, gold, strict=True):
        choices = [gold_answers] if isinstance(gold_answers, str) else list(gold_answers)
        if not choices:
            raise ValueError("a question has no gold answer; if its text contains none, give '' as the gold answer")
        exact += max(normalised(answer) == normalised(choice) for choice in choices)
        shared += max(word_f1(normalised(answer).split(), normalised(choice).split()) for choice in choices)
    return Answers(exact / len(predicted), shared / len(predicted))


def normalised(answer: str) -> str:
    """Lower-case an answer, remove punctuation, articles and extra spaces, and separate Chinese characters."""
    plain = "".join(c for c in answer.lower() if c not in string.punctuation and category(c)[0] != "P")
    words = re.sub(r"\b(?:a|an|the)\b", " ", plain)
    return " ".join(re.sub(r"([\u3400-\u9fff])", r" \1 ", words).split())


def word_f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    """Word-level F1 between a predicted and a gold answer, from 0 to 1; it is 1 if both are empty."""
    refuse_string(answer, "an answer's words")
    refuse_string(gold, "a gold answer's words")
    if not answer or not gold:
        return float(not answer and not gold)
    shared = (Counter(answer) & Counter(gold)).total()
    return 2 * shared / (len(answer) + len(gold))


def paired(predicted: Sized, gold: Sized) -> None:
    """Raise ValueError unless predictions and gold labels are non-empty lists (not strings) of equal length."""
    refuse_string(predicted, "predictions")
    refuse_string(gold, "gold labels")
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predictions cannot be compared with {len(gold)} gold labels; "
                         "give one gold label per prediction")
    if not len(gold):
        raise ValueError("there is nothing to measure: the lists are empty")
