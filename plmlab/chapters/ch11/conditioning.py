"""How much of a text each training objective conditions its predictions on (Song et al. 2020, table 1)."""

from random import Random

from plmlab.draws import shuffled
from plmlab.objectives import always_mask, masked, masked_and_permuted, permuted_targets
from plmlab.text.vocabulary import Vocabulary

WORDS, TARGETS = 398, 60
"""Number of words in the text, and how many of them are predicted: 15 % of the 400 positions with [CLS] and [SEP]."""


def conditioned_on(words: int = WORDS, targets: int = TARGETS) -> dict[str, list[float]]:
    """Proportion of the words and of the positions that a prediction is conditioned on, for each objective.

    They are counted in the masks of one text with ``words`` words, of which ``targets`` are predicted, and averaged
    over the predictions. [CLS] and [SEP] count as words.
    """
    vocab, text, time = Vocabulary(100 + words), range(100, 100 + words), words + 2
    predict = shuffled(Random(0), range(1, words + 1))[:targets]  # positions in a text with [CLS] in front
    last = [position - 1 for position in predict]  # XLNet's text has no [CLS] in front
    order = [*(position for position in range(time) if position not in last), *last]
    examples = {
        "masked LM (BERT)": masked(text, vocab=vocab, rng=Random(0), select=predict, corrupt=always_mask),
        "permutation LM (XLNet)": permuted_targets(text, vocab=vocab, rng=Random(0), order=order, predict=last),
        "masked and permuted LM (MPNet)": masked_and_permuted(text, vocab=vocab, rng=Random(0), predict=predict,
                                                              corrupt=always_mask)}
    found: dict[str, list[float]] = {}
    for name, example in examples.items():
        visible = (example.query_stream_mask or example.visible).dense()[example.targets >= 0]  # [target key]
        is_word = example.tokens != vocab.mask
        found[name] = [keys.sum().item() / len(visible) / time for keys in (visible & is_word, visible)]
    return found
