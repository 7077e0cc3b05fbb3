"""The Beam Lab without a browser: its tree against beam search, its figures against the world and brute force."""

import json
import math
import statistics
import time

import beam_fixtures
import pytest
import torch
import traitlets
from beam_fixtures import table_lab
from next_token_models import SMALL, WORDS, seeded
from standin import HOSTILE

from plmlab import checkpoints, world
from plmlab.decode import TableLM, UncachedLM, beam_search, greedy, length_penalty
from plmlab.labs import BeamLab
from plmlab.labs.beam import exact_results
from plmlab.labs.beam import lab as beam_lab
from plmlab.labs.beam.presets import APPLE, FIRST, GARDEN, LONGER, PENALTY, REAL, TABLES, WIDER, Preset
from plmlab.models.gpt import GPT2
from plmlab.world.probability.automaton import END

MODEL = seeded(GPT2, layers=1)
TEXT, LENGTH = "the cups near the", 6
PROMPTS = ["", "the", "the girl", "Henry Quinn is", "the cups near the chair", "the boy saw"]
MADE = {"APPLE": APPLE, "GARDEN": GARDEN, "WIDER": WIDER, "LONGER": LONGER}


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def lab() -> BeamLab:
    return BeamLab(MODEL, WORDS, TEXT, world=SMALL, presets=[], length=LENGTH)


def nearly_exact(texts: torch.Tensor) -> torch.Tensor:
    """Logits of the small world's next words; any other token has a little too."""
    rows = torch.full((len(texts), len(WORDS)), 1e-5)
    for row, ids in zip(rows, texts.tolist(), strict=True):
        for word, p in SMALL.next_words(WORDS.tokens(ids[1:])).items():
            row[WORDS.id(word)] += p
    return rows.log()


def ids_of(text: str) -> torch.Tensor:
    return torch.tensor([[WORDS.vocab.start, *WORDS.encode(text)]])


def branches(lab: BeamLab) -> list[tuple[list[str], dict]]:
    """Every branch with its tokens."""
    found: list[tuple[list[str], dict]] = []
    before: list[list[str]] = [[]]
    for column in lab.state["columns"]:
        here = [[*(before[branch["parent"]] if branch["parent"] >= 0 else []), branch["token"]] for branch in column]
        found += zip(here, column, strict=True)
        before = here
    return found


def test_the_fixtures_are_those_of_now() -> None:
    """beam_lab.test.mjs reads the file; ``python tests/labs/beam_fixtures.py`` writes it anew."""
    stored = json.loads(beam_fixtures.FILE.read_text(encoding="utf-8"))
    assert rounded(stored) == rounded(json.loads(json.dumps(beam_fixtures.cases())))


def rounded(value: object) -> object:
    """The same with numbers of nine digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.parametrize("text", PROMPTS)
def test_the_tree_is_that_of_beam_search(text: str) -> None:
    """Of a model whose texts end sooner or later, so that the length penalty has a say."""
    model = seeded(GPT2, layers=1)
    with torch.no_grad():
        model.embeddings.token.weight[WORDS.vocab.end] = 1.3 * model.final_norm.bias
    lab, found = BeamLab(model, WORDS, text, world=SMALL, presets=[], length=LENGTH), {}
    for width, alpha in ((1, 0.7), (2, 0.0), (3, 2.0), (7, 0.7), (10, 0.0), (10, 2.0)):
        with lab.hold_trait_notifications():
            lab.width, lab.alpha = width, alpha
        wanted = beam_search(model, ids_of(text), WORDS.vocab, length=LENGTH, beam=width, alpha=alpha)[0]
        assert lab.message == "" and lab.grown[-1].finished == wanted
        best = [branch for _, branch in branches(lab) if branch["best"]]
        assert best[-1]["total"] == wanted[0].logprob and len(best) == len(wanted[0].tokens)
        scores = [one["score"] for one in lab.best()]
        assert scores == [text.logprob / length_penalty(len(text.tokens), alpha) for text in wanted]
        assert scores == sorted(scores, reverse=True)
        found[width, alpha] = wanted
    assert found[10, 0.0] != found[10, 2.0]
    plain = greedy(model, ids_of(text), WORDS.vocab, length=LENGTH)[0]
    assert [one["token"] for one in lab.state["greedy"]["tokens"]] == WORDS.tokens(plain.tokens)
    assert lab.state["greedy"]["total"] == pytest.approx(plain.logprob, abs=1e-5)


def test_every_branch_bears_its_figures() -> None:
    """p and the world's from their own sources; a branch is open, finished or pruned, and the open ones go on."""
    lab = BeamLab(UncachedLM(nearly_exact), WORDS, TEXT, world=SMALL, presets=[], width=3, alpha=1.3, length=LENGTH)
    begun = TEXT.split()
    left = 0
    for tokens, branch in branches(lab):
        ids = torch.tensor([[*ids_of(TEXT)[0], *(WORDS.id(token) for token in tokens)]])
        chances = nearly_exact(ids[:, :-1]).double().softmax(-1)[0]
        assert branch["p"] == pytest.approx(chances[ids[0, -1]].item(), rel=1e-4)
        after = SMALL.next_words([*begun, *tokens[:-1]])
        exact = after.get(END if tokens[-1] == "[END]" else tokens[-1])
        assert branch["world"] == (None if exact is None else pytest.approx(exact, rel=1e-9))
        left += exact is None
        assert branch["score"] == pytest.approx(branch["total"] / length_penalty(len(tokens), 1.3))
    assert 0 < left < len(branches(lab))
    for column, step in zip(lab.state["columns"], lab.grown, strict=True):
        assert sum(branch["fate"] == "open" for branch in column) == len(step.open) <= 3
        assert sorted(branch["rank"] for branch in column) == list(range(1, len(column) + 1))
        assert all(branch["rank"] <= 3 for branch in column if branch["fate"] == "finished")
        parents = [branch["parent"] for branch in column]
        assert parents == sorted(parents), "no two lines cross"


def test_the_beginning_is_not_counted_in_the_length(lab: BeamLab) -> None:
    lab.alpha = 1.0
    for one in lab.best():
        assert one["score"] == pytest.approx(one["total"] * 6 / (5 + one["count"]))
        assert one["count"] <= LENGTH and lab.state["read"] == len(TEXT.split())


def test_what_was_pruned_unfolds_as_greedy_would_go_on(lab: BeamLab) -> None:
    lab.width = 2
    tree = lab.state
    places = [(step, place) for step, column in enumerate(tree["columns"]) for place, branch in enumerate(column)
              if branch["fate"] == "pruned"]
    named = {(step, place): tokens for (tokens, _), (step, place) in zip(
        branches(lab), [(s, p) for s, column in enumerate(tree["columns"]) for p in range(len(column))], strict=True)}
    for step, place in places:
        lab.unfold = [step, place]
        tokens = [WORDS.id(token) for token in named[step, place]]
        before = tree["columns"][step][place]["total"]
        if tokens[-1] == WORDS.vocab.end or len(tokens) == LENGTH:
            assert lab.unfolded["tokens"] == [] and lab.unfolded["total"] == before
            continue
        wanted = greedy(MODEL, torch.tensor([[*ids_of(TEXT)[0], *tokens]]), WORDS.vocab, length=LENGTH - len(tokens))[0]
        assert [one["token"] for one in lab.unfolded["tokens"]] == WORDS.tokens(wanted.tokens)
        assert lab.unfolded["total"] == pytest.approx(before + wanted.logprob, abs=1e-4)
        assert lab.unfolded["from"] == len(tokens)
    assert len(places) > 5 and lab.state == tree, "the tree stays as it is"
    lab.unfold = [40, 0]
    assert lab.stale and "no branch 0 in step 41" in lab.message
    lab.width = 3
    assert (lab.unfold, lab.unfolded, lab.message) == ([], {}, "")


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_misses_are_named_by_brute_force(name: str, width: int, alpha: float) -> None:
    """The likeliest of a table's texts is read off it."""
    table = MADE[name]
    text = next(preset.text for preset in (FIRST, PENALTY, *TABLES) if preset.table is table)
    lab = BeamLab(table, text=text, width=width, alpha=alpha, presets=[])
    count = len(lab.search.ids)
    whole = {ids[count:]: weight / sum(table.texts.values()) for ids, weight in table.texts.items()}
    likeliest = max(whole.values())
    assert math.exp(lab.pinned["model"]["total"]) == pytest.approx(likeliest)
    beam = lab.grown[-1].finished[0]
    assert math.exp(beam.logprob) == pytest.approx(whole[beam.tokens])
    mine = beam.logprob / length_penalty(len(beam.tokens), alpha)
    best = max((math.log(p) / length_penalty(len(ids), alpha) for ids, p in whole.items() if p == likeliest))
    assert lab.pinned["search_error"] == (best > mine + 1e-6)
    assert lab.pinned["preferred"] == (mine > best + 1e-6)
    assert [one["width"] for one in lab.pinned["widths"]] == list(range(1, 11))
    for one in lab.pinned["widths"]:
        found = beam_search(table, table.prompt(lab.search.writer.words(text)), table.vocab, length=20,
                            beam=one["width"], alpha=alpha)[0][0]
        assert one["total"] == pytest.approx(found.logprob)


def test_the_empty_text_can_be_the_likeliest() -> None:
    table = TableLM({"a": 0.4, "abc": 0.3, "abd": 0.2, "ac": 0.1})
    lab = BeamLab(table, text="a", width=1, presets=[])
    assert lab.best()[0]["text"] == "bc", "greedy goes by b, which is likelier than the end"
    assert lab.pinned["model"]["text"] == "" and lab.pinned["search_error"]
    assert lab.pinned["empty"] == pytest.approx(math.log(0.4))


def test_a_search_that_would_take_too_long_is_told(monkeypatch: pytest.MonkeyPatch, lab: BeamLab) -> None:
    monkeypatch.setattr(exact_results, "LIMIT", 1)
    flat = BeamLab(GPT2(MODEL.config).eval(), WORDS, "the", presets=[], length=4)
    assert flat.pinned["model"] is None and flat.pinned["search_error"] is None and flat.best()


def test_the_pins_are_looked_for_when_asked(lab: BeamLab, monkeypatch: pytest.MonkeyPatch) -> None:
    known, asked = lab.pinned, []
    monkeypatch.setattr(beam_lab, "likeliest", lambda search: asked.append(search) or exact_results.likeliest(search))
    lab.width = 2
    assert lab.pinned["model"] == known["model"] and not asked, "the same text has the same likeliest"
    lab.text = "the girl"
    assert lab.pinned == {} and not asked
    lab.seek += 1
    assert lab.pinned["model"]["total"] >= max(one["total"] for one in lab.pinned["widths"]) - 1e-4
    assert len(asked) == 1
    lab.alpha = 0.5
    assert lab.pinned == {}, "what each width finds hangs on the penalty"
    lab.html()
    assert lab.pinned and len(asked) == 1


def test_the_worlds_best_stands_beside_the_models(lab: BeamLab) -> None:
    best = lab.pinned["world"]
    words = [*TEXT.split(), *best["text"].replace(".", " .").split()]
    mass = math.prod(SMALL.next_words(TEXT.split()[:i])[word] for i, word in enumerate(TEXT.split()))
    assert best["total"] == pytest.approx(SMALL.logprob(words) - math.log(mass))
    assert best["total"] >= max(SMALL.logprob([*TEXT.split(), *tail.split()]) - math.log(mass) for tail in (
        "chair are lost .", "chair is lost .", "table are lost .")) - 1e-9
    knowing = BeamLab(UncachedLM(nearly_exact), WORDS, TEXT, world=SMALL, presets=[], length=20)
    assert knowing.pinned["model_error"] is False
    assert knowing.pinned["model"]["world"] == pytest.approx(best["total"])
    assert not knowing.pinned["search_error"]
    astray = torch.zeros(len(WORDS))
    astray[WORDS.vocab.end] = 9.0
    ending = BeamLab(UncachedLM(lambda texts: astray.expand(len(texts), -1)), WORDS, TEXT, world=SMALL, presets=[])
    assert ending.pinned["model"]["text"] == "" and ending.pinned["model"]["world"] is None
    assert ending.pinned["model_error"] is True and ending.pinned["search_error"] is False


def test_the_first_state_teaches() -> None:
    lab = BeamLab()
    assert (lab.text, lab.width, lab.alpha, lab.steps) == ("我爱", 2, 0.0, None)
    assert repr(lab) == "<BeamLab: '我爱': a beam of 2 finds '苹果' (-0.80 nats), greedy '大妈' (-2.12)>"
    assert [one["title"] for one in lab.menu["presets"]][:3] == ["苹果", "a garden path", "a wider beam is worse"]
    firsts = [branch for _, branch in branches(lab)][:2]
    assert [(branch["token"], round(branch["p"], 2)) for branch in firsts] == [("大", 0.55), ("苹", 0.45)]
    assert math.exp(lab.best()[0]["total"]) == pytest.approx(0.45)
    assert math.exp(lab.state["greedy"]["total"]) == pytest.approx(0.12)


@pytest.mark.parametrize("preset", [*TABLES, PENALTY], ids=lambda preset: preset.title)
def test_the_tables_do_what_their_titles_say(preset: Preset) -> None:
    lab = table_lab(preset)
    beam, plain = lab.best()[0], lab.state["greedy"]
    if preset is TABLES[0]:
        assert beam["total"] > plain["total"] + 1
    elif preset is TABLES[1]:
        assert beam["total"] < table_lab(preset, width=1).best()[0]["total"] - 1
        assert table_lab(preset, width=3).best()[0]["total"] > beam["total"] + 1
    else:
        short = table_lab(preset, alpha=0.0).best()[0]
        assert short["count"] < beam["count"] and short["total"] > beam["total"]
        assert beam["score"] > short["total"] / length_penalty(short["count"], preset.alpha)


@pytest.mark.parametrize("name", ["lstm-world", "gpt2-world"])
def test_real_beginnings_do_what_their_titles_say(name: str) -> None:
    """By beam search and the world's own sums, and each is offered."""
    model, tokenizer = checkpoints.load(name)
    model.eval()
    full = world.full()

    def found(preset: Preset, width: int) -> tuple[float, float]:
        prompt = torch.tensor([[tokenizer.vocab.start, *tokenizer.encode(preset.text)]])
        text = beam_search(model, prompt, tokenizer.vocab, length=20, beam=width)[0][0]
        words = tokenizer.tokens([id for id in text.tokens if id != tokenizer.vocab.end])
        return text.logprob, full.logprob([*preset.text.split(), *words])

    garden, wider, untrue = REAL
    assert found(garden, garden.width)[0] > found(garden, 1)[0] + 5
    assert found(wider, wider.width)[0] < found(wider, wider.width - 1)[0] - 1.9
    (beam, said), (plain, truer) = found(untrue, untrue.width), found(untrue, 1)
    assert beam > plain and said < truer - 1.5
    lab = BeamLab(model, tokenizer, world=full)
    own = [one["title"] for one in lab.menu["presets"] if one["source"] == type(model).__name__]
    assert own == [preset.title for preset in REAL]
    with lab.hold_trait_notifications():
        lab.text, lab.width, lab.source = wider.text, wider.width, type(model).__name__
    lab.seek += 1
    assert lab.pinned["search_error"] is True and lab.state["world"]
    assert lab.pinned["model"]["total"] > lab.best()[0]["total"] + 1.9


@pytest.mark.parametrize("name", HOSTILE)
def test_any_beginning_is_read(lab: BeamLab, name: str) -> None:
    lab.text = HOSTILE[name]
    assert not lab.stale and lab.text == HOSTILE[name] and lab.best()
    assert lab.state["left"] and all(branch["world"] is None for _, branch in branches(lab))
    assert "[UNK]" in lab.message or name == "long"
    note = lab.message
    lab.seek += 1
    assert lab.message == note, "what is asked besides does not blank it"
    if name == "long":
        assert "2,501 tokens" in lab.message and f"{24 - LENGTH} are the model's input" in lab.message


def test_what_cannot_be_searched_is_told(lab: BeamLab) -> None:
    drawn = lab.state
    table = table_lab(FIRST)
    for text, said in (("我恨", "no word '恨'"), ("", "The prompt is empty"), ("果", "No text of the table begins")):
        stood = table.state
        table.text = text
        assert table.stale and said in table.message and table.state == stood and table.text == text
    table.text = " 我 爱"
    assert not table.stale and table.best()[0]["text"] == "苹果"
    lab.source = "nobody"
    assert lab.stale and "there is no model 'nobody'" in lab.message and lab.state == drawn
    for name, value in (("width", 11), ("width", 0), ("alpha", 2.1), ("length", 21)):
        with pytest.raises(traitlets.TraitError, match=f"{name} must be from"):
            setattr(lab, name, value)
    with pytest.raises(ValueError, match="give the tokenizer"):
        BeamLab(MODEL)
    with pytest.raises(ValueError, match="neither a tokenizer nor a world"):
        BeamLab(APPLE, WORDS)
    with pytest.raises(TypeError, match="start and step"):
        BeamLab(torch.nn.Linear(2, 2), WORDS)
    with pytest.raises(ValueError, match="there is no model"):
        BeamLab(presets=[])
    with pytest.raises(ValueError, match="has no table"):
        BeamLab(presets=[REAL[0]])


def test_the_model_is_read_without_dropout_and_left_as_it_was(lab: BeamLab) -> None:
    busy = seeded(GPT2, layers=1).train()
    assert BeamLab(busy, WORDS, TEXT, world=SMALL, presets=[], length=LENGTH).state == lab.state
    assert busy.training


def test_a_model_writes_without_a_world() -> None:
    lab = BeamLab(*checkpoints.load("lstm-world"), "the visitor", presets=[])
    assert lab.best() and lab.pinned["world"] is None and lab.pinned["model_error"] is None
    assert not lab.state["world"] and all(branch["world"] is None for _, branch in branches(lab))


@pytest.mark.timing
def test_a_wide_tree_is_grown_in_time() -> None:
    """The lower quartile, since other tests may run beside this one; shapes are checked here, which takes twice as
    long. ``benchmarks/beam_lab.py`` measures without."""
    model, tokenizer = checkpoints.load("lstm-world")
    lab = BeamLab(model.eval(), tokenizer, "the", world=world.full(), presets=[], width=10,
                  alpha=2.0)
    assert len(lab.state["columns"]) >= 15
    spent = []
    for turn in range(20):
        start = time.perf_counter()
        lab.width = 9 + turn % 2
        spent.append(time.perf_counter() - start)
    print(f"a tree of {len(lab.state['columns'])} steps: median {1e3 * statistics.median(spent):.0f} ms")
    assert statistics.quantiles(spent)[0] <= 0.25
