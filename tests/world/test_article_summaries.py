"""The evaluation of summaries, and the baselines without a network, on rows of the task and on made-up ones."""

import re

import pytest

from plmlab.world.datasets.generation_tasks import bilingual_ids, summarization, summarization_entities
from plmlab.world.datasets.summaries import baselines, best_sentence, evaluated, lead, naive_bayes, nearest, sentences
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

TARGETS = [target for _, target in summarization().test_set]
ACTOR, TOWN, CELLO, WHO = (bilingual_ids(text.split()) for text in (
    "Helen Kessler is an actor .", "she lives in Ravenna .", "she plays the cello .", "who is she ?"))


def test_references_have_the_highest_scores_and_state_nothing_false() -> None:
    assert evaluated("test_set", TARGETS) == pytest.approx(
        {"rouge1": 1, "rouge2": 1, "rougeL": 1, "score": 1, "false": 0, "unmatched": 0, "high and false": 0})


def test_a_wrong_year_is_false_although_rouge_is_high() -> None:
    """In every reference with a year, it is replaced by another."""
    wrong, changed = [], 0
    for target in TARGETS:
        words = bilingual_tokenizer().tokens(target)
        years = [i for i, word in enumerate(words) if re.fullmatch("1[0-9]{3}", word)]
        changed += len(years) > 0
        for i in years:
            words[i] = "1951" if words[i] != "1951" else "1952"
        wrong.append(bilingual_ids(words))
    found = evaluated("test_set", wrong)
    assert changed > 10 and found["score"] > 0.9 and found["unmatched"] == 0
    assert found["false"] == found["high and false"] == pytest.approx(changed / len(TARGETS))


def test_texts_that_are_no_sentences_state_nothing() -> None:
    found = evaluated("development", [(*target[:2], *TOWN[1:3]) for _, target in summarization().development])
    assert found["unmatched"] == 1 and found["false"] == 0 and found["score"] < 0.6
    assert evaluated("development", [()] * len(summarization_entities().development))["score"] == 0


def test_sentences_end_with_a_full_stop_or_question_mark() -> None:
    assert sentences((*ACTOR, *WHO, *TOWN[:2])) == [ACTOR, WHO]
    assert lead((*ACTOR, *WHO, *TOWN), 2) == (*ACTOR, *WHO) and lead(ACTOR, 2) == ACTOR


def test_the_baselines_on_made_up_rows() -> None:
    known = [((*ACTOR, *CELLO, *TOWN), (*ACTOR, *TOWN)), ((*CELLO, *WHO), CELLO)]
    assert nearest([((*TOWN, *ACTOR), ()), (WHO, ())], known) == [known[0][1], known[1][1]]
    assert naive_bayes([((*CELLO, *TOWN, *WHO, *ACTOR), ())], known[:1]) == [(*TOWN, *ACTOR)], "in the text's order"
    assert best_sentence([((*ACTOR, *CELLO, *TOWN), (*TOWN, *CELLO)), ((*WHO, *TOWN), TOWN)]) in (
        [CELLO, TOWN], [TOWN, TOWN])


def test_all_baselines_have_a_summary_for_each_row() -> None:
    rows, known = summarization().test_set[:3], summarization().train[:16]
    found = baselines(rows, known)
    assert len(found) == 5 and all(len(texts) == 3 for texts in found.values())
    assert found["the first two sentences"] == [lead(source, 2) for source, _ in rows]
    assert found["the summary of the nearest labelled article"] == nearest(rows, known)
