"""Summaries with a wrong name: one name of the same kind is exchanged, nothing else."""

from random import Random

from plmlab.chapters.ch13.wrong_names import with_wrong_name
from plmlab.world.datasets.generation_tasks import bilingual_ids, summarization
from plmlab.world.datasets.summaries import evaluated, fact_extractor
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

TOWN = "North Haven is a town in Sarovia . it has 18,000 inhabitants ."


def words(text: tuple[int, ...]) -> str:
    return " ".join(bilingual_tokenizer().tokens(text))


def test_the_last_name_becomes_another_one_of_its_kind() -> None:
    before, after = TOWN.split("Sarovia")
    changed = {words(with_wrong_name(bilingual_ids(TOWN.split()), Random(seed))) for seed in range(30)}
    names = {text.removeprefix(before).removesuffix(after) for text in changed}
    countries = {country.name for country in fact_extractor().facts.kind("country")}
    assert names == countries - {"Sarovia"}
    alone = words(with_wrong_name(bilingual_ids(["North", "Haven", "has", "18,000", "inhabitants", "."]), Random(0)))
    assert alone.endswith(" has 18,000 inhabitants .") and not alone.startswith("North Haven")


def test_almost_all_such_summaries_state_a_false_fact_and_score_high() -> None:
    """The exceptions: another name may be true too, such as that of a second employee."""
    references = [target for _, target in summarization().test_set]
    rng = Random(0)
    wrong = evaluated("test_set", [with_wrong_name(target, rng) for target in references])
    assert 0.9 < wrong["false"] <= 1 and wrong["unmatched"] == 0 and 0.8 < wrong["score"] < 0.95
    right = evaluated("test_set", references)
    assert right["false"] == 0 and right["score"] == 1
