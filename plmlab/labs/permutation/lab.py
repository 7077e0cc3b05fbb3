"""The Permutation Lab: the words of a sentence said in any order, by two streams, beside the best possible reader."""

from collections.abc import Sequence
from functools import lru_cache
from math import log
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.interpret.readable import AnyTokenizer, as_ours, readable
from plmlab.labs.base import Change, Computed
from plmlab.labs.permutation import exact, orders
from plmlab.labs.permutation.asking import QUESTION, answer, own_chances, some
from plmlab.labs.permutation.presets import PermutationPreset, things_to_try
from plmlab.labs.permutation.reading import check_two_streams, example, in_orders, logits_of, surprisals
from plmlab.labs.permutation.state import Orders, Proof, State, Step
from plmlab.labs.permutation.tally import tally
from plmlab.labs.shared.beliefs import belief_state
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.sentence import SentenceLab, beginning
from plmlab.labs.shared.tokens import names_of
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor

if TYPE_CHECKING:
    from plmlab.world import World

STREAMS = ("content stream", "query stream")

Words = tuple[int, ...]


class PermutationLab(SentenceLab):
    """A model of two streams (an XLNet) says the words of a sentence in an order that the reader makes; [SEP] and [CLS]
    come first in it, so that the length is known.

    Both streams' masks; at each step what the word may see, and what the model and the best possible reader believe
    stands there; and what the sentence costs in all orders, which for the best possible reader is one number.

    Args:
        model: a model of two streams, such as an XLNetPretraining.
        tokenizer: its own.
        text: the sentence to begin with; the first preset if None.
        world: a Small World, whose exact posteriors stand beside the model's; the tokenizer must have a token for each
            of its words.
        split: which text of the world.
        order: the places of the words (0, 1, …) in the order in which they are said; one is drawn if None.
        leaking: a second model of the same tokenizer, trained with a query stream that sees its own word.
        presets: things to try; some of the ``world``'s if None.
        max_tokens: the longest sentence.
        traits: what the reader can set besides: ``step`` (from 1 on; None for the first whose word sees both sides),
            ``leak`` (whether the leaking model reads, with its query stream open), ``by_order`` (whether the masks'
            rows and columns follow the order), ``draws`` (counts the orders drawn).

    Raises:
        ValueError: a model without a query stream, or of another tokenizer.
    """

    title = "Permutation Lab"
    module = "permutation/lab.js"
    styles = ("permutation/lab.css",)
    inputs: ClassVar = ("text", "order", "draws", "leak", "max_tokens")

    order: traitlets.List = traitlets.List(None, allow_none=True).tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    leak = traitlets.Bool(False).tag(sync=True)
    step = traitlets.Int(None, allow_none=True).tag(sync=True)
    by_order = traitlets.Bool(False).tag(sync=True)

    model: nn.Module

    def __init__(self, model: nn.Module, tokenizer: AnyTokenizer, text: str | None = None, *,
                 world: "World | None" = None, split: str = "train", order: Sequence[int] | None = None,
                 leaking: nn.Module | None = None, presets: Sequence[PermutationPreset] | None = None,
                 max_tokens: int = 12, **traits: Any) -> None:
        self.model, self.leaking, self.world, self.split = model, leaking, world, split
        self.tokenizer = as_ours(tokenizer)
        check_two_streams(model, self.tokenizer)
        size = readable(model).vocab or 0
        if leaking is not None:
            check_two_streams(leaking, self.tokenizer, "leaking")
            if readable(leaking).vocab != size:
                raise ValueError("leaking has a vocabulary of another size; give a model of the same tokenizer")
        self.best = None if world is None else BayesOptimalPredictor(world, split, self.tokenizer, size)
        self._paid = lru_cache(8)(self._in_all_orders)
        offered = list(presets or ()) if world is None or presets is not None else things_to_try(world, split)
        tries = [{"title": one.title} | one.traits() for one in offered]
        menu = {"leaking": leaking is not None,
                "tally": None if world is None else tally(world, split, self.tokenizer, model, leaking)}
        given = {} if order is None else {"order": list(order)}
        super().__init__(beginning(text, tries, order=None) | given | traits, tries, menu, max_tokens)

    def summary(self) -> str:
        """The words in their order, and what they cost the model and the best possible reader."""
        if not self.state:
            return self.message
        said = " → ".join(self.state["tokens"][step["position"]] for step in self.state["steps"])
        model, best = self.state["steps"][-1]["sums"]
        return f"{said}: {model:.2f} nats" + ("" if best is None else f", the best possible reader {best:.2f}")

    def compute(self, change: Change) -> Computed:
        """The sentence read in the order, and in many others."""
        ids, note = self.read(self.text, self.max_tokens)
        new_text = bool({"text", "max_tokens"} & change.drawn)
        order = self._order(len(ids), change, new_text)
        if self.leak and self.leaking is None:
            raise ValueError("leak is True, and no leaking model was given: give leaking= one whose query stream was "
                             "trained to see its own word")
        step = None if new_text and self._drawn else self.step
        if not 1 <= (step or 1) <= len(order):
            raise ValueError(f"step is {step}; this sentence is said in {len(order)} steps, from 1 on")
        state = self._state(tuple(ids), order)
        return Computed({"order": order, "step": step, "state": state, "message": note})

    def _order(self, count: int, change: Change, new_text: bool) -> list[int]:
        """The order that the reader made, or one that is drawn: another one where the reader asks for it, and where the
        order that stands is of a sentence of another length."""
        if "draws" in change.tried and self._drawn:
            return orders.drawn(count, Random(self.draws), self.order or ())
        if self.order is None or (new_text and "order" not in change.drawn and len(self.order) != count):
            return orders.drawn(count, Random(self.draws))
        return orders.checked(self.order, count)

    def _state(self, ids: Words, order: list[int]) -> State:
        vocab, model = self.tokenizer.vocab, self.leaking if self.leak and self.leaking is not None else self.model
        tokens = self._labels([*ids, vocab.need("sep"), vocab.need("cls")])
        words = tokens[:len(ids)]
        made = example(ids, order, vocab, leak=self.leak)
        assert made.query_stream_mask is not None
        logits = logits_of(model, in_orders(ids, [order], vocab, leak=self.leak))[0]
        nats = None if self.world is None else exact.surprisal(self.world, self.split, words)
        steps = self._steps(ids, words, order, logits)
        return {
            "tokens": tokens, "names": names_of(tokens), "order": order, "leak": self.leak, "steps": steps,
            "masks": [mask_state(title, visible) for title, visible in
                      zip(STREAMS, (made.visible, made.query_stream_mask), strict=True)],
            "exact": nats, "why_not": self._why_not(words, nats),
            "orders": self._many(ids, order, steps[-1]["sums"][0]),
            "question": QUESTION, "answer": answer(orders.steps(order)[-1], words, self.leak),
            "proof": self._proof(ids, order) if self.leak else None,
        }

    def _steps(self, ids: Words, words: Sequence[str], order: Sequence[int], logits: Float[Tensor, "time vocab"],
               ) -> list[Step]:
        """Step by step the position that is said, those said before on its left and right, what is believed there, and
        what the word and all up to it cost: by the model, and by the best possible reader (None for an impossible word,
        or where there is no such reader)."""
        best = [None] * len(ids) if self.best is None else exact.beliefs(self.best, words, order)
        found = list[Step]()
        paid, least = 0.0, None if self.best is None else 0.0
        for step, known in zip(orders.steps(order), best, strict=True):
            chances = logits[step.place].double().softmax(-1)
            belief = belief_state(chances, known, ids[step.place], self._labels)
            own = belief["own"]
            assert own is not None
            costs = own["nats"], _nats(own["best"])
            paid, least = paid + costs[0], None if least is None or costs[1] is None else least + costs[1]
            found.append({"position": step.place, "left": step.left, "right": step.right, "belief": belief,
                          "costs": costs,
                          "sums": (paid, least)})
        return found

    def _why_not(self, words: Sequence[str], nats: float | None) -> str:
        """Why there is no exact value of the whole sentence; "" where there is one."""
        if self.world is None:
            return "No world was given, so nobody knows the exact probabilities of this sentence."
        return "" if nats is not None else self.world.explain(words, self.split).message

    def _many(self, ids: Words, order: list[int], paid: float) -> Orders:
        """What the sentence costs in many orders, by the model and, with the leak, by the one that leaks; ``here`` is
        the number of the reader's order among them. ``paid`` is what that one costs."""
        listed, complete = orders.many(len(ids), Random(0))
        model = self._paid(ids, False)
        leaking = self._paid(ids, True) if self.leak else None
        if order not in listed:
            listed = [*listed, order]
            model = [*model, sum(self._surprisals(ids, [order], False))]
            leaking = None if leaking is None else [*leaking, paid]
        return {"listed": listed, "complete": complete, "here": listed.index(order), "model": model, "leaking": leaking}

    def _in_all_orders(self, ids: Words, leak: bool) -> list[float]:
        return self._surprisals(ids, orders.many(len(ids), Random(0))[0], leak)

    def _surprisals(self, ids: Words, listed: Sequence[Sequence[int]], leak: bool) -> list[float]:
        """−log p of the whole sentence in each of some orders, in one batch."""
        model = self.leaking if leak and self.leaking is not None else self.model
        return surprisals(model, in_orders(ids, listed, self.tokenizer.vocab, leak=leak)).sum(1).tolist()

    def _proof(self, ids: Words, order: list[int]) -> Proof:
        """Other words put in turn where the first word of the order stands: the sum of what either model gives each of
        them when it stands there."""
        leaking = self.model if self.leaking is None else self.leaking
        words = some(self._ordinary())
        sums = [sum(own_chances(model, ids, order, words, self.tokenizer.vocab, leaking=leak))
                for model, leak in ((self.model, False), (leaking, True))]
        return {"tried": len(words), "model": sums[0], "leaking": sums[1]}

    def _ordinary(self) -> list[int]:
        """The ids of the world's words; without a world, all ids that are not special."""
        if self.world is not None and self.best is not None:
            return [self.best.id[word] for word in self.world.vocabulary]
        return [id for id in range(len(self.tokenizer)) if id not in self.tokenizer.vocab.special]


def _nats(p: float | None) -> float | None:
    """−log p; None for what is impossible, or for what nobody knows."""
    return -log(p) if p else None
