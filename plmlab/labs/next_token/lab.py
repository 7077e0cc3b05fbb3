"""The Next-token Lab: the next-token distribution, sampling from it, and the logit lens."""

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
"""Number of most probable tokens shown as bars."""
BESIDE = 4
"""Number of additional bars for the world's most probable words that are not among those."""


class NextTokenLab(Lab):
    """The next-token distribution of a language model for the text typed by the reader.

    Temperature, top-k and top-p are applied in the browser, without running the model again. Clicking a bar appends its
    token. The logit lens shows the prediction of each layer at each position.

    Args:
        model: a GPT or GPT-2, of plmlab or of ``transformers``, or a recurrent language model.
        tokenizer: the model's tokenizer.
        text: the initial text; by default, that of the first preset.
        world: a Small World, whose exact distribution is shown next to the model's. Each of its words must be a single
            token of the tokenizer.
        split: the split of the world whose distribution is used.
        presets: texts to try, by title; by default, prefixes of sentences of the world, if there is one.
        seed: the seed for sampling.
        traits: what the reader can set: ``temperature``, ``top_k`` (None: all), ``top_p``, ``max_tokens`` (number of
            positions in the logit lens).
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
        choices = dict(presets or {}) if presets is not None or world is None else beginnings(world, split)
        self.name = type(model).__name__
        super().__init__(text=next(iter(choices.values()), "") if text is None else text,
                         menu={"name": self.name, "presets": [list(pair) for pair in choices.items()]}, **traits)

    @traitlets.validate("temperature", "top_k", "top_p")
    def _check(self, proposal: Any) -> Any:
        """Raise TraitError, with the message of `plmlab.decode.distribution`, if the value is invalid."""
        try:
            distribution(torch.zeros(1), **{proposal["trait"].name: proposal["value"]})
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return proposal["value"]

    def distribution(self) -> Float[Tensor, "vocab"]:
        """The next-token distribution shown by the bars, with the current temperature, top-k and top-p. Raises
        ValueError if no text has been processed yet."""
        if self.stream is None:
            raise ValueError(f"no text has been processed yet: {self.message}")
        return distribution(self.stream.logits.double(), self.temperature, self.top_k, self.top_p)

    def divergence(self) -> float | None:
        """KL(world ‖ shown distribution) in nats: infinite if a word that is possible in the world has probability 0;
        None without a world, or if the text is ungrammatical."""
        beside = self.state.get("world")
        if not beside or not beside["p"]:
            return None
        order = self._order()
        probs = self.distribution()[[order[rank] for rank in beside["places"]]]
        return float(kl_divergence(torch.tensor(beside["p"], dtype=torch.float64), probs))

    def summary(self) -> str:
        """The text, and the most probable next token with its probability."""
        if self.stream is None:
            return self.message
        token, p = self.state["rows"][0]["token"], self.stream.logits.double().softmax(-1).max()
        return f"{self.name} after '{self._drawn['text']}': '{token}' with {p:.2f}"

    def compute(self, change: Change) -> Computed:
        """Carry out a new request, then run the model on the text. A request is carried out only once, even if it
        fails; a request for another text is ignored, because the browser may send several messages at once."""
        request = self.request if "request" in change.tried else {}
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}; give 1 or more positions for the lens")
        draft = self._draft
        if draft is None or draft.text != self.text:
            draft = Draft.typed(self.text, self.script)
        if request.get("text", self.text) == self.text and request:
            draft = self._granted(draft, request)
        stream = residual_stream(self.model, draft.ids)
        return Computed({"text": draft.text, "state": self._describe(draft, stream), "message": self._note(draft)},
                        {"_draft": draft, "stream": stream})

    def _granted(self, draft: Draft, request: Mapping[str, Any]) -> Draft:
        """Carry out a request: append tokens to the draft, or undo the last addition."""
        kind, count = request.get("do"), int(request.get("count", 1))
        if kind == "undo":
            return draft.before or draft
        if kind == "take":
            token, before = int(request["token"]), residual_stream(self.model, draft.ids).logits.double().softmax(-1)
            if token not in range(len(before)):
                raise ValueError(f"there is no token {token}: this model has tokens 0 … {len(before) - 1:,}")
            return draft.then([(token, float(before[token]))], self.script)
        if kind not in ("greedy", "sample"):
            raise ValueError(f"unknown request {kind!r:.60}; give take, greedy, sample or undo")
        ids, chosen = list(draft.ids), list[tuple[int, float]]()
        while len(chosen) < count and not self._ended(ids):
            token, p = self._next(ids, greedily=kind == "greedy")
            ids.append(token)
            chosen.append((token, p))
        return draft.then(chosen, self.script) if chosen else draft

    def _next(self, ids: Sequence[int], *, greedily: bool) -> tuple[int, float]:
        """The most probable token, or a token sampled from the shown distribution, with its probability under the
        model."""
        def logits(texts: Int[Tensor, "1 time"]) -> Float[Tensor, "1 vocab"]:
            return residual_stream(self.model, texts[0].tolist()).logits.double()[None]

        writer, prompt, vocab = UncachedLM(logits), torch.tensor([list(ids)]), self.tokenizer.vocab
        if greedily:
            generated = greedy(writer, prompt, vocab, length=1, banned=())[0]
        else:
            generated = sample(writer, prompt, vocab, length=1, banned=(), generator=self.generator,
                               temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)[0]
        return generated.tokens[0], float(torch.tensor(generated.logprob).exp())

    def _ended(self, ids: Sequence[int]) -> bool:
        """Return whether the last token is the end token (and not also the start token)."""
        vocab = self.tokenizer.vocab
        return ids[-1] == vocab.end != vocab.start

    def _order(self) -> list[int]:
        """All token ids, most probable first."""
        assert self.stream is not None
        return self.stream.logits.argsort(descending=True, stable=True).tolist()

    def _describe(self, draft: Draft, stream: ResidualStream) -> State:
        logits, ids = stream.logits.sort(descending=True, stable=True)
        order = ids.tolist()
        beside = self._beside(draft, order)
        missing = [rank for rank in (beside["places"] if beside else ()) if rank >= SHOWN][:BESIDE]
        ranks = [*range(min(SHOWN, len(order))), *missing]
        tokens = labels(self.tokenizer, [order[rank] for rank in ranks])
        expected = dict(zip(beside["places"], beside["p"], strict=True)) if beside else {}
        written = labels(self.tokenizer, [token for token, _ in draft.chosen])
        return {
            "logits": logits.numpy().astype("<f4").tobytes(),
            "rows": [{"id": order[rank], "token": token, "place": rank, "world": expected.get(rank, 0.0)}
                     for rank, token in zip(ranks, tokens, strict=True)],
            "world": beside,
            "lens": self._lens_state(stream),
            "written": [[token, p] for token, (_, p) in zip(written, draft.chosen, strict=True)],
            "undo": draft.before is not None, "ended": self._ended(draft.ids),
        }

    def _beside(self, draft: Draft, order: Sequence[int]) -> Beside | None:
        """The world's next-word distribution, with the rank of each word in the model's distribution; or a note on
        where the text becomes ungrammatical."""
        if self.best is None:
            return None
        unknown, unk = iter(draft.unknown), self.tokenizer.vocab.unk
        words = [next(unknown, name) if id == unk else name
                 for id, name in zip(draft.own, self.tokenizer.tokens(draft.own), strict=True)]
        if self._ended(draft.ids) and not self.best.expects(words[:-1])[1]:
            return {"p": [], "places": [], "entropy": 0.0, "said": "The sentence is over; nothing follows it."}
        expected, said = self.best.expects(words)
        rank = {id: i for i, id in enumerate(order)}
        return {"p": list(expected.values()), "places": [rank[id] for id in expected],
                "entropy": entropy(expected.values()), "said": said}

    def _lens_state(self, stream: ResidualStream) -> LensState:
        """The logit lens at the last positions, with the actual next token of each."""
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
        """Notes about this text."""
        notes, length = [], len(draft.ids)
        room = getattr(self.model.config, "time", length)
        if draft.unknown:
            notes.append(unread(draft.unknown, len(self.tokenizer)))
        if length > room:
            notes.append(f"The text has {length:,} tokens and the model {room:,} positions: its input is the last "
                         f"{room:,} tokens.")
        if min(length, room) > self.max_tokens:
            notes.append(f"The lens shows the last {self.max_tokens} positions.")
        if self._ended(draft.ids):
            notes.append("The text ends here, with the end token. Undo, or type, to continue.")
        elif draft.text.endswith(" ") and self.tokenizer.tokens(draft.ids[-1:])[0].strip(SPACE) == "":
            notes.append("The text ends in a space, but this tokenizer's words begin with one. Delete the trailing "
                         "space to get predictions of whole words.")
        return " ".join(notes)
