"""What the reasoner of the bundled CogLTX is given, against the documents."""

from plmlab.chapters.ch15.answering import evaluation_documents
from plmlab.chapters.ch15.baselines import linked_paragraphs
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.checkpoints import load
from studies.ch15 import reading


def test_every_selection_has_the_blocks_that_it_names() -> None:
    model, _ = load("cogltx-world")
    for document in evaluation_documents("test", 3):
        text = BlockedDocument.of(document, model.config.longest)
        found = {name: {*window.positions} for name, window in reading.selections(model, text).items()}
        first, second = map(set, text.supports)
        assert found["gold blocks alone"] == first | second
        assert first | second < found["gold blocks, start of the text"]
        without = found["the same without the first sentence"]
        assert second <= without and not (first - second) & without and len(without) > 3
        assert first | second <= found["gold blocks, the judge's blocks"] <= first | second | found["MemRecall"]
        begin, end = linked_paragraphs(document)[0]
        about = {place for place, (start, _) in enumerate(text.spans) if begin <= start < end}
        assert found["linked articles"] & about


def test_the_reasoner_is_best_with_the_gold_blocks_alone() -> None:
    found = reading.read(4)
    assert found["gold blocks alone"] == {"exact match": max(row["exact match"] for row in found.values()), "both": 1}
