"""LSTMs for the tests of the Gate Lab: one whose units copy a label by construction, and ones of random weights."""

import torch
from torch import nn

from plmlab import world
from plmlab.interpret.gates import Clamp
from plmlab.labs import GateLab
from plmlab.labs.gates.tracked_units import tracking
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.world.datasets.numbers import number_words
from plmlab.world.datasets.tokenizer import build_world_tokenizer

SMALL = world.small()
WORDS = build_world_tokenizer(SMALL, ["english"])
TEXT = "the cup near the chairs"
LAST, SEEN, SUBJECT = 0, 2, 3
NOUN = 1
WIDTH = 6
HOLDS = [Clamp("forget", 0, SUBJECT, 0.0, 3), Clamp("memory", 0, SUBJECT, 2.0, 5)]
SHUT, OPEN = -12.0, 12.0
STRONG = 6.0


def random_lstm(layers: int = 2, width: int = 10, size: int = len(WORDS)) -> LSTMLanguageModel:
    """Loud random weights, so that gates are neither all shut nor all open."""
    generator = torch.Generator().manual_seed(0)
    made = LSTMLanguageModel(RecurrentConfig(size, layers=layers, model=width))
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.6, generator=generator)
    return made.eval()


@torch.no_grad()
def agreeing() -> LSTMLanguageModel:
    """An LSTM that agrees by construction. Unit ``LAST`` has −1 or 1 for the number of the noun read last, unit
    ``SUBJECT`` the same for the first noun, and says the verbs; unit ``SEEN`` counts nouns. An embedding has the number
    of a noun in dimension ``LAST``, and in ``NOUN`` whether it is one."""
    model = LSTMLanguageModel(RecurrentConfig(len(WORDS), layers=1, model=WIDTH)).eval()
    for parameter in model.parameters():
        parameter.zero_()
    shows = number_words(SMALL)
    for word, id in WORDS.backend.get_vocab().items():
        for reading, form in SMALL.lexicon.readings.get(word, ()):
            if reading.tag == "NOUN" and form in ("sg", "pl"):
                model.token.weight[id, LAST] = 1.0 if form == "pl" else -1.0
                model.token.weight[id, NOUN] = 1.0
        model.token.weight[id, SUBJECT] = STRONG * ((word in shows.plural) - (word in shows.singular))
    cell = model.recurrent.layers[0].cells[0]
    gate = {name: i * WIDTH for i, name in enumerate(cell.gates)}
    for unit in (LAST, SEEN, SUBJECT):
        cell.weight_ih[gate["input"] + unit, NOUN] = OPEN - SHUT
        cell.bias_ih[gate["input"] + unit] = SHUT
        cell.bias_ih[gate["forget"] + unit] = OPEN
        cell.bias_ih[gate["output"] + unit] = OPEN
        cell.weight_ih[gate["candidate"] + unit, NOUN if unit == SEEN else LAST] = OPEN
    cell.weight_ih[gate["forget"] + LAST, NOUN] = SHUT - OPEN
    cell.weight_hh[gate["input"] + SUBJECT, SEEN] = 4 * SHUT
    return model


def lab(**more: object) -> GateLab:
    """The lab of the LSTM that agrees."""
    model = agreeing()
    return GateLab(model, WORDS, TEXT, world=SMALL, tracked=tracking(model, WORDS, SMALL, sentences=40), **more)
