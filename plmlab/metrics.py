"""How good it is: each measure by the library that the field counts with, and the loss against its floor.

Where shares are meant, 1 is all of it; BLEU runs from 0 to 100, as papers print it.
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
    """e^nats: among how many equally likely tokens the model might as well be choosing (困惑度).

    ``nats`` is the mean −log p a token, base e, as every loss here.
    """
    return exp(nats)


@dataclass(frozen=True)
class AboveFloor:
    """A loss beside the least that any honest reader could reach.

    ``excess`` nats above it a token, the ``ratio`` of the two perplexities (1 is perfect), whether something ``leaks``,
    and a ``verdict`` in words.
    """

    excess: float
    ratio: float
    leaks: bool
    verdict: str


def above_floor(loss: float, floor: float, error: float = 0.0) -> AboveFloor:
    """Compare a loss with its floor, both in nats a token.

    ``error`` is the standard error of their difference. A loss below the floor by more than three of them is a
    leak: by chance alone that happens once in 700 times. Within three on either side, the model is at the floor.
    """
    if error < 0:
        raise ValueError(f"a standard error of {error} is below 0")
    excess = loss - floor
    leaks = excess < -3 * error
    if leaks:
        verdict = f"below the floor by {-excess:.3f} nats: a leak; the model sees what it must predict"
    elif excess <= 3 * error:
        verdict = "at the floor: as good as the best reader, as far as this sample can tell"
    else:
        verdict = f"{excess:.3f} nats above the floor: as unsure as among {exp(excess):.2f} times as many tokens"
    return AboveFloor(excess, exp(excess), leaks, verdict)


def bleu(written: Sequence[str], references: Sequence[str], *, chinese: bool = False) -> float:
    """Corpus BLEU, 0 to 100, by sacrebleu (Papineni et al. 2002; Post 2018): one reference a sentence.

    ``chinese`` cuts Chinese into characters before counting; without it, a Chinese sentence is one word. A warning
    where no written text has four words, which makes it 0.
    """
    paired(written, references)
    from sacrebleu import corpus_bleu
    found = corpus_bleu(list(written), [list(references)], tokenize="zh" if chinese else "13a")
    if not found.totals[-1]:
        warnings.warn("no written text has four words, and BLEU multiplies the precisions of 1 to 4 words in a row: it "
                      "is 0 whatever they are. For texts so short use rouge or answers", stacklevel=2)
    return found.score


@dataclass(frozen=True)
class Rouge:
    """Mean F1, from 0 to 1, of shared words, shared pairs of words, and the longest common subsequence (Lin 2004)."""

    rouge1: float
    rouge2: float
    rougeL: float


def rouge(written: Sequence[str], references: Sequence[str], *, chinese: bool = False) -> Rouge:
    """ROUGE by rouge-score, the mean over texts, without stemming. ``chinese`` counts
    characters, which it would drop."""
    paired(written, references)
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer
    names = ("rouge1", "rouge2", "rougeL")
    tokenizer = Characters() if chinese else DefaultTokenizer(use_stemmer=False)
    if all(len(tokenizer.tokenize(reference)) < 2 for reference in references):
        warnings.warn("no reference has two words, so that rouge2, of pairs of words, is 0 whatever was written",
                      stacklevel=2)
    scorer = RougeScorer(list(names), tokenizer=tokenizer)
    scores = [scorer.score(reference, text) for text, reference in zip(written, references, strict=True)]
    return Rouge(**{name: sum(score[name].fmeasure for score in scores) / len(scores) for name in names})


class Characters:
    """A tokenizer as rouge-score wants it: each character that is not a space is a word."""

    def tokenize(self, text: str) -> list[str]:
        """The characters of a text, spaces left out."""
        return [character for character in text if not character.isspace()]


def accuracy(predicted: Sequence[int | str], gold: Sequence[int | str]) -> float:
    """The share of predictions that are right, from 0 to 1; a ValueError unless there is one for each gold label."""
    paired(predicted, gold)
    from sklearn.metrics import accuracy_score
    return float(accuracy_score(gold, predicted))


def f1(predicted: Sequence[int | str], gold: Sequence[int | str], average: Average = "macro") -> float:
    """The harmonic mean of precision and recall over classes: "macro" is the mean over classes, "micro" counts all
    alike, "weighted" by frequency, "binary" looks at class 1 alone. A class never predicted counts as 0."""
    paired(predicted, gold)
    from sklearn.metrics import f1_score
    return float(f1_score(gold, predicted, average=average, zero_division=0))


def entity_f1(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> float:
    """F1 over whole entities of BIO tags, by seqeval as CoNLL-2003 counts: right means type and both ends. ValueError
    for sentences of unequal length, and for a tag that is not O, B-type or I-type."""
    paired(predicted, gold)
    for sentence, (ours, theirs) in enumerate(zip(predicted, gold, strict=True)):
        refuse_string(ours, "the tags of a sentence")
        refuse_string(theirs, "the tags of a sentence")
        if len(ours) != len(theirs):
            raise ValueError(f"sentence {sentence} has {len(ours)} predicted tags and {len(theirs)} gold ones; "
                             "each token needs one of both")
        wrong = [tag for tag in (*ours, *theirs) if not re.fullmatch(r"O|[BI]-.+", tag)]
        if wrong:
            raise ValueError(f"sentence {sentence} has the tag {wrong[0]!r:.60}; BIO tags are O, B-type and I-type")
    if all(tag == "O" for tags in gold for tag in tags):
        warnings.warn("the gold tags hold no entity, so that F1 is 0 whatever was predicted", stacklevel=2)
    from seqeval.metrics import f1_score
    return float(f1_score([list(tags) for tags in gold], [list(tags) for tags in predicted], zero_division=0))


@dataclass(frozen=True)
class Answers:
    """How well questions were answered: the share answered exactly, and the mean F1 over words."""

    exact: float
    f1: float


def answers(predicted: Sequence[str], gold: Sequence[str | Sequence[str]]) -> Answers:
    """Exact match and F1 of answers, as SQuAD counts them (Rajpurkar et al. 2016, §6.1).

    Case, punctuation, articles and extra spaces do not count. Where a question has several gold answers, the
    best counts.
    """
    paired(predicted, gold)
    exact = shared = 0.0
    for answer, good in zip(predicted, gold, strict=True):
        choices = [good] if isinstance(good, str) else list(good)
        if not choices:
            raise ValueError("a question has no gold answer; one that has none in its text is answered by ''")
        exact += max(normalised(answer) == normalised(choice) for choice in choices)
        shared += max(word_f1(normalised(answer).split(), normalised(choice).split()) for choice in choices)
    return Answers(exact / len(predicted), shared / len(predicted))


def normalised(answer: str) -> str:
    """In lower case, without punctuation (Chinese too), articles and extra spaces; Chinese parted into characters."""
    plain = "".join(c for c in answer.lower() if c not in string.punctuation and category(c)[0] != "P")
    words = re.sub(r"\b(?:a|an|the)\b", " ", plain)
    return " ".join(re.sub(r"([\u3400-\u9fff])", r" \1 ", words).split())


def word_f1(answer: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of the words that two answers share, from 0 to 1; two empty ones agree."""
    refuse_string(answer, "an answer's words")
    refuse_string(gold, "a gold answer's words")
    if not answer or not gold:
        return float(not answer and not gold)
    same = (Counter(answer) & Counter(gold)).total()
    return 2 * same / (len(answer) + len(gold))


def paired(predicted: Sized, gold: Sized) -> None:
    """A ValueError unless there is one of each for the other, and at least one, in lists, not in one string."""
    refuse_string(predicted, "predictions")
    refuse_string(gold, "gold ones")
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predictions cannot be held against {len(gold)} gold ones; "
                         "each needs its own")
    if not len(gold):
        raise ValueError("there is nothing to measure: the list is empty")
