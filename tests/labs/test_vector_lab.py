"""The Vector Lab without a browser: what it sends, what it refuses in words, presets, and a text of the reader's."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from math import inf, nan
from typing import Any

import pytest
import torch
import vector_fixtures
from standin import HOSTILE
from traitlets import TraitError
from vector_fixtures import ASKED, UPDATES, WIDTH, WORDS, lab, snapshots, twins

from plmlab.labs import VectorLab
from plmlab.labs.vectors.numbers import packed, principal
from plmlab.labs.vectors.own_text import LIMIT
from plmlab.vectors import WordVectors

LAST = snapshots()[UPDATES[-1]]
TALE = "the old baker told the ferryman a long story about the bear and the spring . " * 5


def numbers_of(value: object) -> list[float]:
    """Every number in a nest of lists and dicts, in order."""
    if isinstance(value, dict | list):
        return [n for part in (value.values() if isinstance(value, dict) else value) for n in numbers_of(part)]
    return [value] if isinstance(value, int | float) else []


def words_of(value: object) -> list[str]:
    """Every text in it, the bytes apart, which may differ in the last step."""
    if isinstance(value, dict):
        return [text for name, part in value.items() if name not in ("numbers", "steps") for text in words_of(part)]
    return [text for part in value for text in words_of(part)] if isinstance(value, list) else \
        [value] if isinstance(value, str) else []


def unpacked(sent: Mapping[str, bytes], count: int) -> torch.Tensor:
    """[snapshot, word, model]: what JavaScript makes of the bytes."""
    steps = torch.frombuffer(bytearray(sent["steps"]), dtype=torch.float32).view(count, -1, 1)
    return torch.frombuffer(bytearray(sent["numbers"]), dtype=torch.int16).view(count, steps.shape[1], -1) * steps


def test_what_javascript_must_agree_with_is_stored() -> None:
    """vector_lab.test.mjs reads the file; ``python tests/labs/vector_fixtures.py`` writes it anew."""
    stored = json.loads(vector_fixtures.FILE.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(vector_fixtures.cases()))
    assert words_of(stored) == words_of(made)
    assert numbers_of(stored) == pytest.approx(numbers_of(made), abs=1e-5, rel=1e-3)


def test_the_fixtures_can_tell_wrong_from_right() -> None:
    """Cosine and dot product choose others, and each rank moves."""
    for case in vector_fixtures.cases()["snapshots"]:
        assert [word for word, _ in case["near"]] != [word for word, _ in case["dot"]]
        assert [word for word, _ in case["kept"]] != case["left"]
    for name in ("added", "b", "c"):
        assert len({case["ranks"][name] for case in vector_fixtures.cases()["snapshots"]}) > 1


@pytest.mark.parametrize("width", [2, 50, 100, 300])
def test_packing_keeps_cosines_as_closely_as_is_told(width: int) -> None:
    generator = torch.Generator().manual_seed(width)
    matrix = torch.randn(200, width, generator=generator) ** 3 * torch.logspace(-4, 4, 200)[:, None]
    matrix[17] = 0
    back = unpacked(packed([matrix, 2 * matrix]), 2)
    steps = matrix.abs().amax(-1, keepdim=True) / 32767
    assert ((back[0] - matrix).abs() <= steps * 0.504 + 1e-12).all()
    assert torch.equal(back[1], 2 * back[0])
    before, after = (torch.nn.functional.normalize(rows.double(), dim=-1) for rows in (matrix, back[0]))
    assert (before @ before.T - after @ after.T).abs().max() < width ** 0.5 / 32767


def test_neighbours_survive_packing() -> None:
    back = unpacked(lab().state, len(UPDATES))
    for i, vectors in enumerate(snapshots().values()):
        read = WordVectors(WORDS, back[i])
        for word in WORDS[:4]:
            assert [one.word for one in read.neighbours(word)] == [one.word for one in vectors.neighbours(word)]


def test_principal_axes_are_those_of_numpy_and_of_points_on_a_line() -> None:
    line = torch.outer(torch.linspace(-1, 1, 9), torch.tensor([3.0, 0.0, -4.0])) + 7
    found = principal(line)
    assert found.axes[0].tolist() == pytest.approx([-0.6, 0, 0.8], abs=1e-9)
    assert found.mean.tolist() == pytest.approx([7, 7, 7])
    assert found.shares == pytest.approx([1, 0])
    assert principal(torch.ones(4, 3)).shares == [0.0, 0.0]
    stored = lab().state["principal"]["shares"]
    assert stored == pytest.approx(vector_fixtures.cases()["pictures"]["shares"], abs=1e-6)


def test_other_seeds_are_asked_about_the_words_that_are_shown() -> None:
    sent = torch.frombuffer(bytearray(lab().state["twins"][0]), dtype=torch.int16).view(2, len(WORDS), 10)
    near = [WORDS[row] for row in sent[0, WORDS.index("king")].tolist()]
    twin = twins()[0].only(WORDS)
    assert near == [one.word for one in twin.neighbours("king")]
    by_dot = [WORDS[row] for row in sent[1, WORDS.index("king")].tolist()]
    assert by_dot == [one.word for one in twin.neighbours("king", dot=True)]


def test_it_begins_at_the_last_snapshot_with_a_word_that_says_something() -> None:
    assert (lab().update, lab().word, lab().analogy, lab().axes) == (2500, "king", list(ASKED), [])
    assert lab(word=None).word == "woman"
    assert lab(word=None, analogy=None).word == "king"
    assert VectorLab(LAST).word == "the"
    assert VectorLab(LAST).update == 0
    assert list(VectorLab({7: LAST, 3: LAST}).snapshots) == [3, 7]
    assert lab(axes=vector_fixtures.AXES).axes == [["man", "woman"], ["girl", "girls"]]


def test_the_summary_names_what_is_near() -> None:
    near = ", ".join(one.word for one in LAST.neighbours("king", 3))
    assert repr(lab()) == ("<VectorLab: 16 words × 7 dimensions, update 2,500; "
                           f"nearest to 'king': {near}; man : king :: "
                           "woman : ?>")
    shown = lab(update=100, measure="dot", analogy=None)
    near = ", ".join(one.word for one in snapshots()[100].neighbours("king", 3, dot=True))
    assert shown.summary() == f"16 words × 7 dimensions, update 100; nearest to 'king': {near}"


def vectors_with(value: float) -> WordVectors:
    matrix = LAST.matrix.clone()
    matrix[3, 2] = value
    return WordVectors(WORDS, matrix)


def changed(**words: str) -> WordVectors:
    return WordVectors(tuple(words.get(word, word) for word in WORDS), LAST.matrix)


@pytest.mark.parametrize(("made", "error", "told"), [
    (lambda: VectorLab({}), ValueError, "there are no vectors to show"),
    (lambda: VectorLab({-1: LAST}), ValueError, "a non-negative integer; -1 was given"),
    (lambda: VectorLab(LAST.only(["king"])), ValueError, "there is only 1 word: neighbours need at least 2"),
    (lambda: VectorLab(LAST.only([])), ValueError, "there are no words"),
    (lambda: VectorLab(WordVectors(WORDS, LAST.matrix[:, :1])), ValueError, "1 dimension; a picture has two axes"),
    (lambda: VectorLab(vectors_with(nan)), ValueError, "the vector of 'man' is not finite"),
    (lambda: VectorLab({0: LAST, 5: vectors_with(inf)}), ValueError, "'man' at update 5 is not finite"),
    (lambda: VectorLab(WordVectors(WORDS, 0 * LAST.matrix)), ValueError, "all vectors are zero"),
    (lambda: VectorLab({0: LAST, 5: changed(king="duke")}), ValueError, "'king' is in only one of them"),
    (lambda: VectorLab({0: LAST, 5: LAST.only(WORDS[::-1])}), ValueError, "the same order: the order differs"),
    (lambda: VectorLab({0: LAST, 5: WordVectors(WORDS, LAST.matrix[:, :3])}), ValueError,
     "update 0 have 7 .* 5 have 3: "),
    (lambda: VectorLab(WordVectors(tuple(map(str, range(66_000))), torch.ones(66_000, 2))), ValueError,
     "65,535 words: show fewer snapshots, or only the most frequent words"),
    (lambda: lab(word="duke"), TraitError, "word: 'duke' has no vector: it is not among the 16 words"),
    (lambda: lab(analogy=("man", "king")), ValueError, r"three words .*, or four.*\('man', 'king'\) was given"),
    (lambda: lab(analogy="man"), ValueError, "'man' was given"),
    (lambda: lab(analogy=("man", "king", "wolf")), ValueError, "analogy: 'wolf' has no vector"),
    (lambda: lab(axes=("man", "woman")), ValueError, "axes must be two pairs of words"),
    (lambda: lab(axes="man woman"), ValueError, "axes must be two pairs of words"),
    (lambda: lab(axes=(("man", "woman"), ("cup", "mug"))), ValueError, "axes: 'mug' has no vector"),
    (lambda: lab(axes=(("man", "woman"), ("cup", "cup"))), ValueError, "from 'cup' to 'cup' is undefined"),
    (lambda: lab(groups={"a": ["wolf"]}), ValueError, "'wolf' has no vector"),
    (lambda: lab(groups={"a": ["cup"], "b": ["cup"]}), ValueError, "'cup' is in the groups 'a' and 'b'"),
    (lambda: lab(groups={str(i): [WORDS[i]] for i in range(8)}), ValueError, "8 groups are too many"),
    (lambda: lab(counts=[1, 2]), ValueError, "2 counts were given for 16 words"),
    (lambda: lab(counts=[-1] * 16), ValueError, "the count of 'the' is -1"),
    (lambda: lab(twins=[LAST.only(WORDS[:5])]), ValueError, "twin 0 has no vector of 'girl'"),
    (lambda: lab(update=7), TraitError, "there is no snapshot of update 7; there are snapshots of 0, 100, 2,500"),
    (lambda: lab(measure="euclid"), TraitError, "measure must be one of cosine, dot; 'euclid' was given"),
    (lambda: lab(presets={"x": {"colour": 1}}), ValueError, "the preset 'x' sets colour; it can set word, analogy"),
    (lambda: lab(presets={"x": {"word": "wolf"}}), ValueError, "the preset 'x': word: 'wolf' has no vector"),
    (lambda: lab(presets={"x": {"update": 9}}), ValueError, "the preset 'x': there is no snapshot of update 9"),
])
def test_what_cannot_be_shown_is_refused_in_words(made: Callable[[], Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        made()


WRONG_TYPES = {
    "VectorLab([LAST])": "a mapping from training updates to WordVectors; list was given",
    "VectorLab({0: LAST.matrix})": "the vectors at update 0 are Tensor; they must be WordVectors",
    "VectorLab({'end': LAST})": "the key of a snapshot is its update, a non-negative integer; 'end' was given",
    "lab(word=['king'])": "TraitError The 'word' trait",
    "lab(twins=LAST)": "write twins=[vectors]",
    "lab(twins=[{0: LAST}])": "twin 0 is dict",
    "lab(train='word2vec')": "train must be a function from a text to vectors by update; 'word2vec' was given",
    "lab(groups={'a': 'cup'})": "the group 'a' must be a list of words; the string 'cup' was given",
}


def test_wrong_types_are_told_to_a_reader_too() -> None:
    """Without the tests' own check of types, which would come first."""
    code = f"""
import sys
sys.path[:0] = {[str(vector_fixtures.FILE.parent)]!r}
from vector_fixtures import *
LAST = snapshots()[2500]
for made in {list(WRONG_TYPES)!r}:
    try:
        eval(made)
    except Exception as error:
        print(type(error).__name__, error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for told, said in zip(WRONG_TYPES.values(), run.stdout.splitlines(), strict=True):
        assert told in said


def test_a_wrong_trait_leaves_the_old_one() -> None:
    found = lab()
    for name, value in (("word", "duke"), ("analogy", ["man"]), ("axes", [["man", "woman"]]), ("update", 3)):
        before = getattr(found, name)
        with pytest.raises(TraitError):
            setattr(found, name, value)
        assert getattr(found, name) == before


@pytest.mark.parametrize("name", HOSTILE)
def test_any_word_may_be_a_word(name: str) -> None:
    words = (HOSTILE[name], "x", "y\n")
    found = VectorLab(WordVectors(words, torch.eye(3)), word=HOSTILE[name], groups={HOSTILE[name]: ["x"]})
    page = found.html()
    assert "<img" not in page and page.count("</script>") == 2
    assert found.state["words"] == list(words)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_few_words_are_enough(count: int) -> None:
    found = VectorLab(LAST.only(WORDS[:count]), twins=[LAST])
    assert "nearest to 'the': " in found.summary()
    assert len(found.state["twins"][0]) == 2 * 2 * count * 10


def test_half_precision_and_gradients_are_taken() -> None:
    half = VectorLab(WordVectors(WORDS, LAST.matrix.half()))
    assert half.state["width"] == WIDTH
    grown = VectorLab(WordVectors(WORDS, LAST.matrix.clone().requires_grad_()))
    assert unpacked(grown.state, 1).shape == (1, 16, WIDTH)


OWN = {0: WordVectors(("old", "baker", "bear"), torch.eye(3)),
       40: WordVectors(("old", "baker", "bear"), torch.eye(3) + 0.5)}


def asking(found: VectorLab, **request: Any) -> VectorLab:
    found.request = {"number": 1, **request}
    return found


def test_a_text_of_ones_own_is_trained_on_shown_and_left_again() -> None:
    read: list[str] = []
    found = lab(train=lambda text: read.append(text) or OWN, axes=vector_fixtures.AXES, hidden=["people"])
    first = found.state
    asking(found, do="train", text=TALE, name="tale.txt")
    assert read == [TALE]
    assert found.message == "These are the vectors trained on “tale.txt”: 3 words × 3 dimensions, 2 snapshots."
    assert not found.stale
    assert found.state["words"] == ["old", "baker", "bear"] and found.state["own"]
    assert found.state["groups"] == found.state["twins"] == [] and found.state["counts"] is None
    assert (found.word, found.analogy, found.axes, found.update, found.hidden) == ("baker", [], [], 40, [])
    assert found.request == {}, "the text is not kept"
    assert TALE not in found.html()
    asking(found, do="back")
    assert (found.state, found.message, found.update) == (first, "", 2500)
    assert found.word == "the" or found.word in WORDS


def test_what_the_new_vectors_have_too_stays() -> None:
    found = lab(train=lambda _: {0: LAST, 9: snapshots()[100]}, axes=vector_fixtures.AXES, word="cups")
    asking(found, do="train", text=TALE, name="tale.txt")
    assert (found.word, found.analogy, len(found.axes), found.update) == ("cups", list(ASKED), 2, 9)


def fail(_: str) -> dict[int, WordVectors]:
    raise RuntimeError("no room")


def refuse(_: str) -> dict[int, WordVectors]:
    raise ValueError("no word comes five times")


@pytest.mark.parametrize(("train", "text", "told"), [
    (lambda _: OWN, "", "“my.txt” is empty"), (lambda _: OWN, " \n\t ", "“my.txt” is empty"),
    (lambda _: OWN, "a few words", "has 3 words, which is too short"),
    (lambda _: OWN, "PK\0\3 " * 60, "is not a text file: it contains zero bytes"),
    (lambda _: OWN, "word " * (LIMIT // 5 + 1), "has 4.0 MB; the limit is 4 MB"),
    (refuse, TALE, "training on “my.txt” gave no vectors: no word comes five times"),
    (fail, TALE, r"Training on “my.txt” failed \(RuntimeError: no room\)"),
    (lambda _: {}, TALE, "training on “my.txt” gave no vectors: there are no vectors"),
    (lambda _: {0: OWN[0].only(["old"])}, TALE, "there is only 1 word"),
    (lambda _: {0: vectors_with(nan)}, TALE, "not finite"),
    (lambda _: None, TALE, "failed"), (None, TALE, "created without train"),
])
def test_what_cannot_be_trained_on_is_told_and_the_old_stands(train: Any, text: str, told: str) -> None:
    found = lab(train=train)
    before = (found.state, found.word, found.update)
    asking(found, do="train", text=text, name="my.txt")
    assert found.stale and found.request == {}
    assert (found.state, found.word, found.update) == before
    with pytest.raises(ValueError, match=told):
        raise ValueError(found.message)
    assert found.message.endswith("The previous vectors are still shown.")
    asking(found, do="back")
    assert (found.message, found.stale) == ("", False)
