"""The bundled translators get right what their READMEs state."""

from collections.abc import Callable

import pytest
import torch
from readmes import stated

from plmlab.chapters.ch03 import bundled
from plmlab.chapters.ch03.noisy_translation import (
    ARMS,
    LONGEST,
    SEEDS,
    SOURCES,
    beamed,
    evaluate_translations,
    likeliest,
    pairs,
    tokenizer,
)
from plmlab.chapters.ch03.noisy_translation import (
    test_set as evaluation_set,
)
from plmlab.chapters.ch04 import arms as passage_arms
from plmlab.chapters.ch04 import bundled as passage_translators
from plmlab.chapters.ch04 import translation
from plmlab.checkpoints import load

LOST = ARMS[bundled.ARM].lost


@pytest.mark.bundled
@pytest.mark.parametrize("name", [bundled.NAME])
def test_the_translator_does_what_its_readme_tells(name: str) -> None:
    translator, own = load(name)
    telegrams = evaluation_set(LOST, LONGEST, SEEDS[0], SOURCES)
    empty = evaluate_translations(LOST, telegrams, [likeliest(translator, telegram) for telegram in telegrams])["empty"]
    right = evaluate_translations(LOST, telegrams, beamed(translator, telegrams, 1))["right"]
    assert empty == pytest.approx(stated(name, "exact search: fraction of empty texts"), abs=0.04) and empty
    assert right == pytest.approx(stated(name, "greedy search: fraction of correct texts"), abs=0.04)
    assert own.fingerprint == tokenizer().fingerprint


@pytest.mark.parametrize("name", [bundled.NAME])
def test_ten_telegrams_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    translator, _ = load(name)
    with torch.no_grad():
        same_ten(name, float(translator.loss(pairs(evaluation_set(LOST, LONGEST, SEEDS[0], 10)))))


@pytest.mark.parametrize("name", passage_translators.BUNDLED)
def test_a_translator_of_passages_does_what_its_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    arm = passage_arms.ARMS[passage_translators.BUNDLED[name][0]]
    some = translation.test_set(30, passage_arms.SEEDS[0], passage_translators.COUNT)
    right = translation.evaluate_translations(translation.translations(model, some, arm), some)["exact"]
    assert right == pytest.approx(stated(name, "30 words: exact match"), abs=0.04)
    lost = stated(name, "30 words: loss, nats per word")
    assert translation.loss(model, some, arm) == pytest.approx(lost, rel=2e-2, abs=1e-3)
    assert tokenizer.fingerprint == translation.tokenizer().fingerprint
