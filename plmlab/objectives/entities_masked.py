"""Knowledge masking (知识掩码) of ERNIE: all tokens of an entity are masked together, or none."""

from collections.abc import Sequence
from random import Random

from plmlab.draws import randint
from plmlab.example import Example
from plmlab.objectives.masked import Corruption, bert_80_10_10, check_rate, masked
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.whole_words import in_input, positions
from plmlab.text.text import Spans, spans
from plmlab.text.vocabulary import Vocabulary

NEEDED_FOR = "entity-level masking"


@objective(
    title="entity-level masking (ERNIE 1.0)",
    chinese="实体级掩码",
    paper="Sun et al. 2019, §3.2",
    choices=(Choice("rate", "proportion of words and entities to predict", 0.15, 0.05, 0.6, 0.05),),
    question="An entity of three words is masked. Which tokens can still help to predict its last word?",
    answer="Only those outside the entity. With whole-word masking, the first two words of the entity usually stay "
           "visible and are enough to complete the name; here the model needs what the sentence says about the entity.",
)
def entities_masked(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """Masked language modelling with whole entities and, outside of them, whole words: [CLS] A [SEP], or [CLS] A [SEP]
    B [SEP], as in `masked`.

    As in the authors' code (ERNIE's ``batching.py``), each unit of the text, an entity or a word outside all entities
    (`knowledge_units`), is selected independently with probability ``rate``, and 80/10/10 is decided for each token.
    The proportion of selected tokens is therefore ``rate`` only in expectation. ``select`` sets the selected units
    instead of sampling them: indices into the units of A, followed by those of B. Random draws: one per unit, from left
    to right; one more if none was selected; then one corruption per selected token.

    Differences from the paper: there are no phrases (§3.2.2), because a text does not know them; the basic level
    (§3.2.1: single words of English, or characters of Chinese) is left to the objectives `whole_words` and `masked`,
    and the levels are not mixed, whereas the authors' code draws one of two, units or single tokens, for each file of
    texts; one unit is always selected, so that there is always a target.

    Raises ValueError if the words or entities of a text are unknown, or if it has no word.
    """
    check_rate(rate)
    units = in_input(tokens, pair, knowledge_units)
    if select is None:
        select = [i for i in range(len(units)) if rng.random() < rate] or [randint(rng, len(units))]
    return masked(tokens, pair=pair, vocab=vocab, rng=rng, select=positions(units, select), corrupt=corrupt)


def knowledge_units(tokens: Sequence[int]) -> Spans:
    """The entities of a text and its words outside of them, in text order. An entity that ends within a word includes
    the rest of that word.

    Raises ValueError if the words or entities are unknown.
    """
    units = list[tuple[int, int]]()
    for start, end in sorted((*spans(tokens, "entities", NEEDED_FOR), *spans(tokens, "words", NEEDED_FOR))):
        if units and start < units[-1][1]:
            start, last = units.pop()
            end = max(end, last)
        units.append((start, end))
    return tuple(units)
