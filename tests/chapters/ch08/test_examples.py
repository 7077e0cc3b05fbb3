"""One training example of each task, as it is printed."""

from plmlab.chapters.ch08.examples import of_tasks


def test_each_task_shows_an_input_and_its_label() -> None:
    told = of_tasks()
    assert list(told) == ["acceptability", "paraphrase", "NER", "extractive QA"]
    assert told["acceptability"].split(" → ")[1] in ("acceptable", "unacceptable")
    assert told["paraphrase"].split(" → ")[1] in ("the same fact", "different facts")
    assert any("/B-" in word for word in told["NER"].split()) and all("/" in word for word in told["NER"].split())
    text, answer = told["extractive QA"].split(" | ")[1].split(" → ")
    assert answer in text
