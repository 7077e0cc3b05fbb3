"""The Next-token Lab: what a language model says comes next, how one draws from that, and what each layer would say."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import traitlets
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.decode import UncachedLM, distribution, greedy, sample
from plmlab.interpret.distances import kl_divergence
from plmlab.interpret.logit_lens import Column, Lens, ResidualStream, language_model, residual_stream
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.next_token.draft import Draft, Script
from plmlab.labs.next_token.state import Beside, Cell, LensState, State
from plmlab.labs.next_token.world import beginnings, entropy
from plmlab.labs.shared.notes import unread
from plmlab.labs.shared.probabilities import spelled
from plmlab.labs.shared.tokens import labels, names_of
from plmlab.text.printable import SPACE
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SHOWN = 12
"""The model's likeliest tokens get a bar each."""
BESIDE = 4
"""So many more of the world's likeliest words do, where the model does not think of them."""


class NextTokenLab(Lab):
    """The reader types, and the distribution of the next token moves.

    Temperature and cuts weigh the model's logits anew without the model; a click on a bar writes its token; and the
    logit lens shows what each layer would say after each position.

    Args:
        model: a GPT or GPT-2, of plmlab or of ``transformers``, or a recurrent language model.
        tokenizer: the model's own.
        text: the text to begin with; the first preset if None.
        world: a Small World, whose exact distribution then stands beside the model's. The tokenizer must have one
            token for each of its words.
        split: which of the world's distributions.
        presets: texts to try, by title; beginnings of the world's sentences if None and there is a world.
        seed: of what is sampled.
        traits: what the reader can set: ``temperature``, ``top_k`` (None: all), ``top_p``, ``max_tokens`` (positions of
            the lens).
    """

    title = "Next-token Lab"
    module = "next_token/lab.js"
    styles = ("next_token/lab.css",)
    inputs: ClassVar = ("text", "max_tokens", "request")

    temperature = traitlets.Float(1.0).tag(sync=True)
    top_k = traitlets.Int(None, allow_none=True).tag(sync=True)
    top_p = traitlets.Float(1.0).tag(sync=True)
    request = traitlets.Dict().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, model: "nn.Module | PreTrainedModel", tokenizer: "Tokenizer | PreTrainedTokenizerBase",
                 text: str | None = None, *, world: World | None = None, split: str = "train",
                 presets: Mapping[str, str] | None = None, seed: int = 0, **traits: Any) -> None:
        self.model, self.tokenizer = language_model(model, tokenizer)
        self.best = None if world is None else BayesOptimalPredictor(world, split, self.tokenizer,
                                                                     self.model.config.vocab)
        self.script = Script(self.tokenizer, partial(spelled, world=world) if world else str)
        self.generator = torch.Generator().manual_seed(seed)
        self.stream: ResidualStream | None = None
        self._lens = Lens(self.model)
        self._draft: Draft | None = None
        tried = dict(presets or {}) if presets is not None or world is None else beginnings(world, split)
        self.name = type(model).__name__
        super().__init__(text=next(iter(tried.values()), "") if text is None else text,
                         menu={"name": self.name, "presets": [list(pair) for pair in tried.items()]}, **traits)

    @traitlets.validate("temperature", "top_k", "top_p")
    def _check(self, proposal: Any) -> Any:
        """A TraitError, in decoding's own words, for what no token can be drawn with."""
        try:
            distribution(torch.zeros(1), **{proposal["trait"].name: proposal["value"]})
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return proposal["value"]

    def distribution(self) -> Float[Tensor, "vocab"]:
        """What the bars show: the model's distribution of the next token, at this temperature and with these cuts.
        ValueError where no text was read yet."""
        if self.stream is None:
            raise ValueError(f"no text was read yet: {self.message}")
        return distribution(self.stream.logits.double(), self.temperature, self.top_k, self.top_p)

    def divergence(self) -> float | None:
        """KL(world ‖ what the bars show) in nats: infinite where a possible word is cut; None without a world, or
        where the text has left its grammar."""
        beside = self.state.get("world")
        if not beside or not beside["p"]:
            return None
        order = self._order()
        chances = self.distribution()[[order[place] for place in beside["places"]]]
        return float(kl_divergence(torch.tensor(beside["p"], dtype=torch.float64), chances))

    def summary(self) -> str:
        """The text, and the token that is likeliest to come next, with its probability."""
        if self.stream is None:
            return self.message
        token, p = self.state["rows"][0]["token"], self.stream.logits.double().softmax(-1).max()
        return f"{self.name} after '{self._drawn['text']}': '{token}' with {p:.2f}"

    def compute(self, change: Change) -> Computed:
        """What a new request asks, done; and what the model says of the text then. A request is heard once, though
        it fails; one that was made on another text is not heard, since messages of the browser's may come as one."""
        request = self.request if "request" in change.tried else {}
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}: the lens needs 1 position or more")
        draft = self._draft
        if draft is None or draft.text != self.text:
            draft = Draft.typed(self.text, self.script)
        if request.get("text", self.text) == self.text and request:
            draft = self._granted(draft, request)
        stream = residual_stream(self.model, draft.ids)
        return Computed({"text": draft.text, "state": self._describe(draft, stream), "message": self._note(draft)},
                        {"_draft": draft, "stream": stream})

    def _granted(self, draft: Draft, request: Mapping[str, Any]) -> Draft:
        """The draft with what the reader asked to be written, or without what was written last."""
        kind, count = request.get("do"), int(request.get("count", 1))
        if kind == "undo":
            return draft.before or draft
        if kind == "take":
            token, before = int(request["token"]), residual_stream(self.model, draft.ids).logits.double().softmax(-1)
            if token not in range(len(before)):
                raise ValueError(f"token {token} is to be written, and this model has {len(before):,} tokens")
            return draft.then([(token, float(before[token]))], self.script)
        if kind not in ("greedy", "sample"):
            raise ValueError(f"{kind!r:.60} is asked for; this lab can take, greedy, sample and undo")
        ids, chosen = list(draft.ids), list[tuple[int, float]]()
        while len(chosen) < count and not self._ended(ids):
            token, p = self._next(ids, greedily=kind == "greedy")
            ids.append(token)
            chosen.append((token, p))
        return draft.then(chosen, self.script) if chosen else draft

    def _next(self, ids: Sequence[int], *, greedily: bool) -> tuple[int, float]:
        """One token, the likeliest or one drawn from what the bars show, and its probability under the model."""
        def logits(texts: Int[Tensor, "1 time"]) -> Float[Tensor, "1 vocab"]:
            return residual_stream(self.model, texts[0].tolist()).logits.double()[None]

        writer, prompt, vocab = UncachedLM(logits), torch.tensor([list(ids)]), self.tokenizer.vocab
        if greedily:
            said = greedy(writer, prompt, vocab, length=1, banned=())[0]
        else:
            said = sample(writer, prompt, vocab, length=1, banned=(), generator=self.generator,
                          temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)[0]
        return said.tokens[0], float(torch.tensor(said.logprob).exp())

    def _ended(self, ids: Sequence[int]) -> bool:
        """Whether the text is over: its last token is the end, and not also what texts begin with."""
        vocab = self.tokenizer.vocab
        return ids[-1] == vocab.end != vocab.start

    def _order(self) -> list[int]:
        """The tokens, the likeliest first."""
        assert self.stream is not None
        return self.stream.logits.argsort(descending=True, stable=True).tolist()

    def _describe(self, draft: Draft, stream: ResidualStream) -> State:
        logits, ids = stream.logits.sort(descending=True, stable=True)
        order = ids.tolist()
        beside = self._beside(draft, order)
        missing = [place for place in (beside["places"] if beside else ()) if place >= SHOWN][:BESIDE]
        places = [*range(min(SHOWN, len(order))), *missing]
        tokens = labels(self.tokenizer, [order[place] for place in places])
        expected = dict(zip(beside["places"], beside["p"], strict=True)) if beside else {}
        written = labels(self.tokenizer, [token for token, _ in draft.chosen])
        return {
            "logits": logits.numpy().astype("<f4").tobytes(),
            "rows": [{"id": order[place], "token": token, "place": place, "world": expected.get(place, 0.0)}
                     for place, token in zip(places, tokens, strict=True)],
            "world": beside,
            "lens": self._lens_state(stream),
            "written": [[token, p] for token, (_, p) in zip(written, draft.chosen, strict=True)],
            "undo": draft.before is not None, "ended": self._ended(draft.ids),
        }

    def _beside(self, draft: Draft, order: Sequence[int]) -> Beside | None:
        """The world's words that can come next, by their places in the model's order; or where the text left it."""
        if self.best is None:
            return None
        unknown, unk = iter(draft.unknown), self.tokenizer.vocab.unk
        words = [next(unknown, name) if id == unk else name
                 for id, name in zip(draft.own, self.tokenizer.tokens(draft.own), strict=True)]
        if self._ended(draft.ids) and not self.best.expects(words[:-1])[1]:
            return {"p": [], "places": [], "entropy": 0.0, "said": "The sentence is over, and nothing follows it."}
        expected, said = self.best.expects(words)
        place = {id: i for i, id in enumerate(order)}
        return {"p": list(expected.values()), "places": [place[id] for id in expected],
                "entropy": entropy(expected.values()), "said": said}

    def _lens_state(self, stream: ResidualStream) -> LensState:
        """The lens of the last positions, and what stands behind each of them in the text."""
        columns = self._lens.columns(stream, self.max_tokens)
        tokens = labels(self.tokenizer, stream.ids)
        first = len(tokens) - len(columns)
        return {
            "layers": ["embedding", *(f"layer {i}" for i in range(self.model.config.layers))],
            "tokens": tokens[first:], "names": names_of(tokens)[first:], "next": [*tokens[first + 1:], None],
            "columns": [self._column(column) for column in columns],
        }

    def _column(self, column: Column) -> list[Cell]:
        return [{"likeliest": [[token, round(p, 6)] for token, (_, p)
                               in zip(labels(self.tokenizer, [id for id, _ in cell.likeliest]), cell.likeliest,
                                      strict=True)],
                 "rank": cell.rank, "p": round(cell.p, 6)} for cell in column]

    def _note(self, draft: Draft) -> str:
        """What the reader should know of this text."""
        notes, positions = [], len(draft.ids)
        room = getattr(self.model.config, "time", positions)
        if draft.unknown:
            notes.append(unread(draft.unknown, len(self.tokenizer)))
        if positions > room:
            notes.append(f"The text has {positions:,} tokens and the model {room:,} positions: it reads the last "
                         f"{room:,} "
                         "only; the text keeps them all.")
        if min(positions, room) > self.max_tokens:
            notes.append(f"The lens shows the last {self.max_tokens} positions.")
        if self._ended(draft.ids):
            notes.append("The model has said that the text ends here. Undo, or type, to go on.")
        elif draft.text.endswith(" ") and self.tokenizer.tokens(draft.ids[-1:])[0].strip(SPACE) == "":
            notes.append("The text ends in a space, and this tokenizer's words bring their own: without it, the model "
                         "is asked for a whole word.")
        return " ".join(notes)
