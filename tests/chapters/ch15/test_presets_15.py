"""The chapter's example, the presets of its lab, the documents of its live training, and its figure."""

from plmlab.chapters.ch15 import live, presets
from plmlab.chapters.ch15.figures import support_map
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.checkpoints import load
from plmlab.labs.memory_recall.long_text import split
from plmlab.world.datasets.tokenizer import world_tokenizer


def test_the_lab_reads_the_blocks_of_the_document() -> None:
    """The same blocks, and the needed ones among them."""
    model, tokenizer = load("cogltx-world")
    assert model.config.longest == presets.LONGEST
    for made, (index, _) in zip(presets.presets(), presets.PRESETS, strict=True):
        document = presets.documents()[index]
        text = BlockedDocument.of(document, presets.LONGEST)
        starts, blocks = zip(*split(tokenizer, made.text, presets.LONGEST), strict=True)
        assert [(*block.ids,) for block in blocks] == [block.ids[:-1] for block in text.blocks]
        at = [starts.index(start) for start, _ in made.needed]
        assert at == text.relevant and len(at) == 2
        assert [end - start for start, end in made.needed] == [len(blocks[position].ids) for position in at]
        assert made.question == document.question.text and made.answer in blocks[at[0]].text + blocks[at[1]].text


def test_no_window_has_both_sentences_of_the_example() -> None:
    """As the title of the figure says, and the bars are where the sentences are."""
    document = presets.example()
    assert document.distance > 192
    figure = support_map(document, 192)
    bars = {bar.name: (bar.base[0], bar.base[0] + bar.x[0]) for bar in figure.data}
    assert bars["document"] == (0, len(document.tokens)) and bars["192 positions"] == (0, 192)
    tokens = world_tokenizer().tokens([*document.tokens])
    for name in ("first sentence", "second sentence"):
        start, end = bars[name]
        assert tokens[end - 1] == "." and (start == 0 or tokens[start - 1] == ".")
    start, end = bars["second sentence"]
    assert start <= document.answer[0] < document.answer[1] <= end


def test_the_live_documents_are_short_and_of_four_kinds(monkeypatch) -> None:
    """Training documents come from another world than those of the test."""
    monkeypatch.setattr(live, "TEXTS", 4)
    monkeypatch.setattr(live, "TESTED", 4)
    train, test = live.documents.__wrapped__("train"), live.documents.__wrapped__("test")
    assert len(train) == len(test) == 4
    for document in (*train, *test):
        assert 500 <= len(document.tokens) <= 1000 and document.question.shape in live.KINDS
    assert not {one.question.text for one in train} & {one.question.text for one in test}
