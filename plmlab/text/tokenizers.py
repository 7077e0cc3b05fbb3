"""Tokenizers, which convert between text and ids: word-level, byte-level BPE, and WordPiece."""

import hashlib
import os
import re
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, count, groupby, takewhile
from pathlib import Path
from typing import Self

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers

from plmlab import git_lfs
from plmlab.lists import refuse_string
from plmlab.text.printable import printable
from plmlab.text.spacing import readable
from plmlab.text.text import Named, Text, sentence_places, token_spans
from plmlab.text.vocabulary import SENTINELS, SPECIALS, Vocabulary

OURS = (*SPECIALS, *SENTINELS)
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())

ROLES = ("pad", "unk", "cls", "sep", "mask", "start", "end")
USUAL_NAMES = {
    "pad": ("[PAD]", "<pad>"), "unk": ("[UNK]", "<unk>"), "cls": ("[CLS]", "<s>"), "sep": ("[SEP]", "</s>"),
    "mask": ("[MASK]", "<mask>"), "start": ("[START]", "<s>", "<|endoftext|>"),
    "end": ("[END]", "</s>", "<|endoftext|>"),
}
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class TokenizerError(ValueError):
    """Raised for a tokenizer that cannot be trained or read, and for a token or id that it does not have."""


@dataclass(frozen=True)
class ForeignVocabulary(Vocabulary):
    """The vocabulary of a third-party tokenizer, with the ids reserved by it."""

    reserved: frozenset[int] = field(default=frozenset(), repr=False)

    @cached_property
    def special(self) -> frozenset[int]:
        """Every id that is not a word or subword, including reserved ones such as BERT's [unused1]."""
        return super().special | self.reserved


class Tokenizer:
    """A Hugging Face tokenizer together with the Vocabulary of its special ids.

    ``encode`` adds no special tokens; the objectives do.
    """

    def __init__(self, backend: tokenizers.Tokenizer, vocab: Vocabulary) -> None:
        self.backend = backend
        self.vocab = vocab

    def __len__(self) -> int:
        return self.vocab.size

    def __repr__(self) -> str:
        return f"Tokenizer({type(self.backend.model).__name__}, {self.vocab.size:,} tokens)"

    @classmethod
    def words(cls, lines: Iterable[str], size: int) -> Self:
        """Train a word-level tokenizer: one token per word or punctuation mark. ``size`` is the maximum vocabulary
        size; less frequent words become [UNK]."""
        backend = tokenizers.Tokenizer(models.WordLevel(unk_token="[UNK]"))
        backend.normalizer = normalizers.NFC()
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        backend.decoder = decoders.WordPiece()
        trainer = trainers.WordLevelTrainer(vocab_size=size, special_tokens=[*OURS], show_progress=False)
        backend.train_from_iterator(_corpus(lines, size, len(OURS) + 1), trainer)
        return cls(backend, Vocabulary(backend.get_vocab_size()))

    @classmethod
    def bpe(cls, lines: Iterable[str], size: int) -> Self:
        """Train a byte-level BPE tokenizer (Sennrich et al. 2016; Radford et al. 2019, §2.2): there are no unknown
        tokens, and ``decode(encode(text)) == text`` for any text. ``size`` is the maximum vocabulary size."""
        backend = tokenizers.Tokenizer(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size, special_tokens=[*OURS], initial_alphabet=BYTES, show_progress=False
        )
        backend.train_from_iterator(_corpus(lines, size, len(OURS) + len(BYTES)), trainer)
        return cls(backend, Vocabulary(backend.get_vocab_size()))

    @classmethod
    def wordpiece(cls, lines: Iterable[str], size: int, lowercase: bool = True) -> Self:
        """Train BERT's WordPiece tokenizer (Devlin et al. 2019, §3): words are split into subwords, Chinese into single
        characters.

        With ``lowercase``, accents are removed too, as in BERT. A word with a character too rare for the vocabulary
        becomes [UNK].
        """
        normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        corpus = [normalizer.normalize_str(line) for line in _corpus(lines, size, len(OURS) + 2)]
        backend = tokenizers.Tokenizer(models.WordPiece(_pieces(corpus, size), unk_token="[UNK]"))
        backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in OURS])
        backend.normalizer = normalizer
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        backend.decoder = decoders.WordPiece()
        return cls(backend, Vocabulary(backend.get_vocab_size()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a tokenizer.json file, or the one in a folder; it may come from a third party (see `from_hf`)."""
        return cls.of(_read(path))

    @classmethod
    def from_hf(cls, pretrained) -> Self:
        """Load a third-party tokenizer: a fast tokenizer of ``transformers``, a tokenizer.json file, or a folder that
        contains one.

        The special tokens are those that the tokenizer defines, or tokens with the usual names ([MASK], <mask>, …); a
        missing one is None. Truncation and padding are disabled.
        """
        if isinstance(pretrained, str | Path):
            return cls.load(pretrained)
        backend = getattr(pretrained, "backend_tokenizer", None)
        if not isinstance(backend, tokenizers.Tokenizer):
            raise TokenizerError(
                f"from_hf needs a fast tokenizer of transformers, or the path of its tokenizer.json; a "
                f"{type(pretrained).__name__} was given"
            )
        attributes = {**{role: role for role in ROLES}, "start": "bos", "end": "eos"}
        named = {role: getattr(pretrained, f"{name}_token", None) for role, name in attributes.items()}
        return cls.of(tokenizers.Tokenizer.from_str(backend.to_str()),
                      {role: (name,) if name else () for role, name in named.items()})

    @classmethod
    def of(cls, backend: tokenizers.Tokenizer, names: Mapping[str, Sequence[str]] = USUAL_NAMES) -> Self:
        """Wrap a backend of ``tokenizers``; ``names`` lists the possible names of each special token. The sentinels are
        T5's <extra_id_0>, …, if the backend has them."""
        backend.no_truncation()
        backend.no_padding()
        if all(backend.token_to_id(name) == id for id, name in enumerate(OURS)):
            return cls(backend, Vocabulary(backend.get_vocab_size()))
        known = backend.get_vocab()
        roles = {role: next((known[name] for name in names[role] if name in known), None) for role in ROLES}
        unused = {id for token, id in known.items() if re.fullmatch(r"\[unused\d+\]", token)}
        added = {id for id, token in backend.get_added_tokens_decoder().items() if token.special}
        size = max(known.values()) + 1
        holes = set(range(size)) - set(known.values())
        _warn_if_never_used(backend, [token for token, id in known.items() if id not in unused | added])
        sentinels = tuple(known[name] for name in takewhile(known.__contains__, map("<extra_id_{}>".format, count())))
        reserved = frozenset(unused | added | holes)
        return cls(backend, ForeignVocabulary(size, sentinels=sentinels, reserved=reserved, **roles))

    def encode(self, text: str, *, plain: bool = False) -> list[int]:
        """The ids of a text, without added special tokens.

        "[MASK]" in the text becomes the special token, because that is how a user types it; with ``plain`` it is
        treated as ordinary text.
        """
        return self._encoding(text, plain).ids

    def encode_all(self, texts: Sequence[str], *, plain: bool = False) -> list[list[int]]:
        """The ids of many texts, encoded in parallel; ``plain`` as in `encode`."""
        refuse_string(texts, "texts")
        encodings = self._backend(plain).encode_batch_fast([_sound(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def text(self, text: str, *, plain: bool = False) -> Text:
        """``encode(text)`` with its words (from the pre-tokenizer), its sentences (split at punctuation), and the
        entities if the text is a `plmlab.text.text.Named`."""
        return self._text(text, self._encoding(text, plain))

    def texts(self, texts: Sequence[str], *, plain: bool = False) -> list[Text]:
        """Apply `text` to many texts in parallel."""
        refuse_string(texts, "texts")
        encodings = self._backend(plain).encode_batch([_sound(text) for text in texts], add_special_tokens=False)
        return list(map(self._text, texts, encodings))

    def offsets(self, text: str, *, plain: bool = False) -> list[tuple[int, int]]:
        """The character span of each token of ``encode(text)``, such that ``text[start:end]`` is the token."""
        return self._encoding(text, plain).offsets

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these ids, including special tokens, with normal spacing."""
        if self._bytes or isinstance(self.backend.decoder, decoders.Metaspace):
            return self.backend.decode(list(ids), skip_special_tokens=False)
        return readable(self._name(id) for id in ids)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The label of each token: "##ing", "[MASK]"; for byte-level tokens "␣the", as formatted by `printable`, and
        ⟨e4 bd⟩ for part of a character."""
        return [self._label(self._name(id)) if self._bytes else self._name(id) for id in ids]

    def id(self, token: str) -> int:
        """The id of one token, given as a label of `tokens`. Raises TokenizerError if it is not in the vocabulary."""
        found = self._by_label.get(token)
        if found is None:
            subwords = " ".join(self.tokens(self.encode(token))) or "nothing"
            raise TokenizerError(f"{token!r:.60} is not a single token of this vocabulary of {len(self):,}; "
                                 f"it is tokenized as {subwords:.200}")
        return found

    def save(self, folder: str | Path) -> Path:
        """Write ``folder/tokenizer.json``, which ``transformers`` can also load."""
        path = Path(folder) / "tokenizer.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".tokenizer.{os.getpid()}.json")
        unfinished.write_text(self.backend.to_str(pretty=True), encoding="utf-8")
        unfinished.replace(path)
        return path

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the tokenizer, because ids can be decoded only with the tokenizer that produced them."""
        return hashlib.sha256(self.backend.to_str().encode()).hexdigest()[:16]

    def _backend(self, plain: bool) -> tokenizers.Tokenizer:
        return self._plain if plain else self.backend

    @cached_property
    def _plain(self) -> tokenizers.Tokenizer:
        backend = tokenizers.Tokenizer.from_str(self.backend.to_str())
        backend.encode_special_tokens = True
        return backend

    @cached_property
    def _bytes(self) -> bool:
        return isinstance(self.backend.decoder, decoders.ByteLevel)

    @cached_property
    def _by_label(self) -> dict[str, int]:
        ids = sorted(self.backend.get_vocab().values(), reverse=True)
        return dict(zip(self.tokens(ids), ids, strict=True))

    def _encoding(self, text: str, plain: bool) -> tokenizers.Encoding:
        return self._backend(plain).encode(_sound(text), add_special_tokens=False)

    def _text(self, text: str, encoding: tokenizers.Encoding) -> Text:
        words: list[tuple[int, int]] | None = None
        if self.backend.pre_tokenizer is not None:
            runs = [[*run] for word, run in groupby(range(len(encoding)), encoding.word_ids.__getitem__)
                    if word is not None]
            words = [(run[0], run[-1] + 1) for run in runs]
        offsets = encoding.offsets
        entities = token_spans(text.entities, offsets) if isinstance(text, Named) else None
        return Text(encoding.ids, words=words, sentences=token_spans(sentence_places(text), offsets), entities=entities)

    def _name(self, id: int) -> str:
        name = self.backend.id_to_token(int(id))
        if name is None:
            raise TokenizerError(f"there is no token {id}; the ids of this vocabulary are 0 … {len(self) - 1}")
        return name

    def _label(self, name: str) -> str:
        if any(letter not in BYTE_OF for letter in name):
            return name
        raw = bytes(BYTE_OF[letter] for letter in name)
        try:
            shown = raw.decode()
        except UnicodeDecodeError:
            return f"⟨{raw.hex(' ')}⟩"
        return printable(shown)


def _byte_letters() -> dict[str, int]:
    """GPT-2's mapping of characters to the bytes that they represent: a printable byte is its own character, any other
    byte the next free character from U+0100 on."""
    printed = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(b): b for b in printed} | {chr(256 + i): b for i, b in enumerate(others)}


BYTE_OF = _byte_letters()


def _sound(text: str) -> str:
    """Replace lone surrogates, which a browser may send but UTF-8 cannot encode, by U+FFFD."""
    return LONE_SURROGATE.sub("\ufffd", text)


def _corpus(lines: Iterable[str], size: int, least: int) -> list[str]:
    """The training lines, held in memory. Raises TokenizerError if nothing can be learned from them."""
    if size < least:
        raise TokenizerError(f"size must be at least {least}: {len(OURS)} special tokens and the minimum for any text "
                             f"(bytes, characters, or words); {size} was given")
    if isinstance(lines, str):
        raise TokenizerError("the corpus is a single string; give a list of lines or paragraphs, such as [text]")
    corpus = [_sound(line) for line in lines]
    if not any(line.strip() for line in corpus):
        raise TokenizerError("the corpus is empty: there is no text to learn a vocabulary from")
    return corpus


def _pieces(corpus: Sequence[str], size: int) -> dict[str, int]:
    """Learn a WordPiece vocabulary deterministically.

    The library numbers characters in an order that changes from run to run, and the merges depend on this order. So the
    characters, both word-initial and word-internal, are numbered in advance, most frequent first.
    """
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    distinct = {chunk for line in corpus for chunk in line.split()}
    inside = {letter for chunk in distinct for word, _ in split(chunk) for letter in word[1:]}
    common = _common_letters(corpus, (size - len(OURS)) // 2)
    numbered = [*OURS, *common, *(f"##{letter}" for letter in common if letter in inside)]
    learner = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=numbered, initial_alphabet=common, limit_alphabet=len(common),
        show_progress=False,
    )
    learner.train_from_iterator(corpus, trainer)
    return learner.get_vocab()


def _common_letters(corpus: Sequence[str], most: int) -> list[str]:
    """The most frequent characters that together cover 99.95 % of the text (the default coverage of SentencePiece)."""
    counts = Counter(letter for line in corpus for letter in line if not letter.isspace())
    ranked = sorted(counts, key=lambda letter: (-counts[letter], letter))[:most]
    running = list(accumulate(counts[letter] for letter in ranked))
    return ranked[: bisect_left(running, 0.9995 * counts.total()) + 1]


def _warn_if_never_used(backend: tokenizers.Tokenizer, tokens: Sequence[str]) -> None:
    """Warn if texts are lower-cased although the vocabulary contains tokens with capital letters."""
    if backend.normalizer is None or "A" in backend.normalizer.normalize_str("A"):
        return
    capital = sum(token != token.lower() for token in tokens)
    if capital > len(tokens) / 100:
        warnings.warn(f"{capital:,} of the {len(tokens):,} tokens have capital letters, and are never used: this "
                      'tokenizer lower-cases every text. If the model is cased, its tokenizer_config.json is missing, '
                      'or lacks "do_lower_case": false', stacklevel=4)


def _read(path: str | Path) -> tokenizers.Tokenizer:
    """Load the backend from a tokenizer.json file."""
    file = Path(path)
    file = file / "tokenizer.json" if file.is_dir() else file
    if not file.is_file():
        raise TokenizerError(f"there is no tokenizer at {file}; give a tokenizer.json, or a folder with one in it")
    try:
        return tokenizers.Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises a bare Exception
        raise TokenizerError(git_lfs.pointers(file) or f"{file} is not a tokenizer.json ({error}); "
                             "save one with Tokenizer.save(folder)") from None
