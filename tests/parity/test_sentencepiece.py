"""A T5 tokenizer read from SentencePiece's own file, against the package ``sentencepiece``."""

from pathlib import Path
from random import Random

import pytest
import sentencepiece
from parity.alike import shaken
from parity.encoder_decoders import SIZES, T5S
from transformers import T5Config, T5ForConditionalGeneration

from plmlab.hf import from_hf
from plmlab.hf.load import NotLoadable
from plmlab.hf.sentencepiece import fields, t5_tokenizer
from plmlab.models.t5 import T5
from plmlab.objectives import span_corruption

SENTENCE = "Thank you for inviting me to your party last week ."
LINES = [SENTENCE, "The cute dog walks in the green park.", "Ein Fluß fließt ﬁnal – 10 ½ km.", "猫坐在垫子上。"]
TEXTS = [*LINES, "", "  Thank   you ", "party\tparty\nparty", "ﬁsh Ⅳ ½", "ДОМ", "weekweekweek", "a" * 40]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained as that of T5: padding, end and unknown are 0, 1 and 2, and there is no beginning."""
    folder = tmp_path_factory.mktemp("spiece")
    (folder / "text.txt").write_text("\n".join(LINES * 20), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "spiece"), vocab_size=120, hard_vocab_limit=False,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2)
    return folder / "spiece.model"


def test_it_encodes_as_sentencepiece_does(file: Path) -> None:
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(file))
    ours = t5_tokenizer(file)
    assert len(ours) == theirs.get_piece_size() + 100
    for text in TEXTS:
        assert ours.encode(text, add_special_tokens=False) == theirs.encode(text), text
    assert [ours.convert_ids_to_tokens(i) for i in range(theirs.get_piece_size())] == [
        theirs.id_to_piece(i) for i in range(theirs.get_piece_size())]


def test_a_folder_of_t5_with_nothing_else_is_loaded(file: Path, tmp_path: Path) -> None:
    """The start of its decoder is its padding; the first sentinel has the last id; T5's example comes out."""
    size = len(t5_tokenizer(file))
    shaken(T5ForConditionalGeneration(T5Config(**T5S | SIZES["t5"][0] | {
        "vocab_size": size, "eos_token_id": 1, "decoder_start_token_id": 0}))).float().save_pretrained(tmp_path)
    (tmp_path / "spiece.model").write_bytes(file.read_bytes())
    model, tokenizer = from_hf(tmp_path)
    assert type(model) is T5 and tokenizer is not None and len(tokenizer) == size
    vocab = tokenizer.vocab
    assert (vocab.pad, vocab.end, vocab.unk, vocab.start, vocab.mask) == (0, 1, 2, 0, None)
    assert vocab.sentinels == tuple(range(size - 1, size - 101, -1)) and not set(vocab.sentinels) & {*vocab.words}
    words = [tokenizer.encode(word) for word in SENTENCE.split()]
    ids = [token for word in words for token in word]
    ends = [sum(map(len, words[:i])) for i in range(len(words) + 1)]
    example = span_corruption(ids, vocab=vocab, rng=Random(0), spans=[(ends[2], ends[4]), (ends[8], ends[9])])
    assert ids == tokenizer.encode(SENTENCE)
    for tokens, expected in (
            (example.source.tokens, "Thank you <extra_id_0> me to your party <extra_id_1> week . </s>"),
            (example.target.tokens, "<pad> <extra_id_0> for inviting <extra_id_1> last <extra_id_2>")):
        plain = tokenizer.decode(tokens.tolist()).replace("<", " <").replace(">", "> ")
        assert plain.split() == expected.split()


def test_fields_of_a_message() -> None:
    """The examples of the protocol buffer documentation: 150 as field 1, "testing" as field 2; and fixed sizes."""
    assert list(fields(bytes.fromhex("089601"))) == [(1, 150)]
    assert list(fields(bytes.fromhex("120774657374696e67"))) == [(2, b"testing")]
    assert list(fields(bytes.fromhex("1d0000803f 210000000000000000 0801"))) == [
        (3, bytes.fromhex("0000803f")), (4, bytes(8)), (1, 1)]


@pytest.mark.parametrize("data", [b"SentencePiece's", b"\x0a\x05ab", b"", b"\x0a\x02\x08\x01", b"\x08\x01"])
def test_another_file_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(data)
    with pytest.raises(ValueError, match=r"spiece\.model is not a SentencePiece model"):
        t5_tokenizer(tmp_path / "spiece.model")
    shaken(T5ForConditionalGeneration(T5Config(**T5S, **SIZES["t5"][0]))).save_pretrained(tmp_path)
    with pytest.raises(NotLoadable, match="is not a SentencePiece model"):
        from_hf(tmp_path)


def test_a_model_of_another_type_is_refused(file: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("\n".join(LINES * 20), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_prefix=str(tmp_path / "bpe"), vocab_size=120, model_type="bpe",
        hard_vocab_limit=False, minloglevel=2)
    with pytest.raises(ValueError, match=r"bpe\.model has a SentencePiece model of type 2; a T5 has type 1"):
        t5_tokenizer(tmp_path / "bpe.model")
