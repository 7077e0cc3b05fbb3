"""The Permutation Lab: two-stream prediction of a sentence in any factorization order, compared with the Bayes-optimal
predictor."""

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
from plmlab.labs.permutation.presets import PermutationPreset, default_presets
from plmlab.labs.permutation.quiz import QUESTION, answer, own_chances, some
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
    """A two-stream model (XLNet) predicts the words of a sentence in an order chosen by the user; [SEP] and [CLS] come
    first in the order, so that the length is known.

    The lab shows the attention masks of both streams; the visible context at each step, with the predictions of the
    model and of the Bayes-optimal predictor; and the loss on the sentence in all orders, which for the Bayes-optimal
    predictor is the same in every order.

    Args:
        model: a two-stream model, such as an XLNetPretraining.
        tokenizer: the model's tokenizer.
        text: the initial sentence; by default, that of the first preset.
        world: a Small World, whose exact posteriors are compared with the model's predictions; each of its words must
            be a single token.
        split: the split of the world.
        order: the factorization order as word indices (0, 1, …); if None, an order is sampled.
        leaking: a second model with the same tokenizer, trained with target leakage: the query stream attends to the
            target itself.
        presets: examples to try; by default, sentences of the ``world``.
        max_tokens: the maximum length of a sentence.
        traits: initial values of other traits: ``step`` (from 1; None for the first step whose target has both left and
            right context), ``leak`` (whether the leaking model is used, with its query stream unmasked), ``by_order``
            (whether the rows and columns of the masks are sorted by the order), ``draws`` (the number of orders sampled
            so far).

    Raises:
        ValueError: if a model has no query stream or does not match the tokenizer.
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
                raise ValueError("`leaking` has a vocabulary of a different size; give a model with the same tokenizer")
        self.best = None if world is None else BayesOptimalPredictor(world, split, self.tokenizer, size)
        self._paid = lru_cache(8)(self._in_all_orders)
        offered = list(presets or ()) if world is None or presets is not None else default_presets(world, split)
        tries = [{"title": preset.title} | preset.traits() for preset in offered]
        menu = {"leaking": leaking is not None,
                "tally": None if world is None else tally(world, split, self.tokenizer, model, leaking)}
        given = {} if order is None else {"order": list(order)}
        super().__init__(beginning(text, tries, order=None) | given | traits, tries, menu, max_tokens)

    def summary(self) -> str:
        """The words in their order, and the loss on them under the model and under the Bayes-optimal predictor."""
        if not self.state:
            return self.message
        words = " → ".join(self.state["tokens"][step["position"]] for step in self.state["steps"])
        model, best = self.state["steps"][-1]["sums"]
        return f"{words}: {model:.2f} nats" + ("" if best is None else f", Bayes-optimal predictor {best:.2f}")

    def compute(self, change: Change) -> Computed:
        """Evaluate the sentence in the current order and in many others."""
        ids, note = self.read(self.text, self.max_tokens)
        new_text = bool({"text", "max_tokens"} & change.drawn)
        order = self._order(len(ids), change, new_text)
        if self.leak and self.leaking is None:
            raise ValueError("leak is True, but no leaking model was given: give leaking= a model trained with a query "
                             "stream that sees its own word")
        step = None if new_text and self._drawn else self.step
        if not 1 <= (step or 1) <= len(order):
            raise ValueError(f"step is {step}; this sentence has {len(order)} steps, give one from 1 to {len(order)}")
        state = self._state(tuple(ids), order)
        return Computed({"order": order, "step": step, "state": state, "message": note})

    def _order(self, count: int, change: Change, new_text: bool) -> list[int]:
        """The order chosen by the user, or a sampled order if the user requests one or if the current order belongs to
        a sentence of a different length."""
        if "draws" in change.tried and self._drawn:
            return orders.drawn(count, Random(self.draws), self.order or ())
        if self.order is None or (new_text and "order" not in change.drawn and len(self.order) != count):
            return orders.drawn(count, Random(self.draws))
        return orders.checked(self.order, count)

    def _state(self, ids: Words, order: list[int]) -> State:
        vocab, model = self.tokenizer.vocab, self.leaking if self.leak and self.leaking is not None else self.model
        tokens = self._labels([*ids, vocab.need("sep"), vocab.need("cls")])
        words = tokens[:len(ids)]
        inputs = example(ids, order, vocab, leak=self.leak)
        assert inputs.query_stream_mask is not None
        logits = logits_of(model, in_orders(ids, [order], vocab, leak=self.leak))[0]
        nats = None if self.world is None else exact.surprisal(self.world, self.split, words)
        steps = self._steps(ids, words, order, logits)
        return {
            "tokens": tokens, "names": names_of(tokens), "order": order, "leak": self.leak, "steps": steps,
            "masks": [mask_state(title, visible) for title, visible in
                      zip(STREAMS, (inputs.visible, inputs.query_stream_mask), strict=True)],
            "exact": nats, "why_not": self._why_not(words, nats),
            "orders": self._many(ids, order, steps[-1]["sums"][0]),
            "question": QUESTION, "answer": answer(orders.steps(order)[-1], words, self.leak),
            "proof": self._proof(ids, order) if self.leak else None,
        }

    def _steps(self, ids: Words, words: Sequence[str], order: Sequence[int], logits: Float[Tensor, "time vocab"],
               ) -> list[Step]:
        """For each step: the position of the target, the words already predicted on its left and right, the
        predictions, and the word's loss and the cumulative loss, both under the model and under the Bayes-optimal
        predictor (None for an impossible word, or without a world)."""
        best = [None] * len(ids) if self.best is None else exact.beliefs(self.best, words, order)
        result = list[Step]()
        total, least = 0.0, None if self.best is None else 0.0
        for step, known in zip(orders.steps(order), best, strict=True):
            chances = logits[step.place].double().softmax(-1)
            belief = belief_state(chances, known, ids[step.place], self._labels)
            own = belief["own"]
            assert own is not None
            costs = own["nats"], _nats(own["best"])
            total, least = total + costs[0], None if least is None or costs[1] is None else least + costs[1]
            result.append({"position": step.place, "left": step.left, "right": step.right, "belief": belief,
                           "costs": costs,
                           "sums": (total, least)})
        return result

    def _why_not(self, words: Sequence[str], nats: float | None) -> str:
        """The reason why the sentence has no exact loss; "" if it has one."""
        if self.world is None:
            return "No world was given, so the exact probabilities of this sentence are unknown."
        return "" if nats is not None else self.world.explain(words, self.split).message

    def _many(self, ids: Words, order: list[int], loss: float) -> Orders:
        """The loss on the sentence in many orders, under the model and, with the leak, under the leaking model;
        ``here`` is the index of the current order, whose loss is ``loss``."""
        listed, complete = orders.many(len(ids), Random(0))
        model = self._paid(ids, False)
        leaking = self._paid(ids, True) if self.leak else None
        if order not in listed:
            listed = [*listed, order]
            model = [*model, sum(self._surprisals(ids, [order], False))]
            leaking = None if leaking is None else [*leaking, loss]
        return {"listed": listed, "complete": complete, "here": listed.index(order), "model": model, "leaking": leaking}

    def _in_all_orders(self, ids: Words, leak: bool) -> list[float]:
        return self._surprisals(ids, orders.many(len(ids), Random(0))[0], leak)

    def _surprisals(self, ids: Words, listed: Sequence[Sequence[int]], leak: bool) -> list[float]:
        """−log p of the whole sentence in each of the orders, computed in one batch."""
        model = self.leaking if leak and self.leaking is not None else self.model
        return surprisals(model, in_orders(ids, listed, self.tokenizer.vocab, leak=leak)).sum(1).tolist()

    def _proof(self, ids: Words, order: list[int]) -> Proof:
        """Substitute other words for the word that is first in the order; return, for each of the two models, the sum
        of the probabilities of the substituted words."""
        leaking = self.model if self.leaking is None else self.leaking
        words = some(self._ordinary())
        sums = [sum(own_chances(model, ids, order, words, self.tokenizer.vocab, leaking=leak))
                for model, leak in ((self.model, False), (leaking, True))]
        return {"tried": len(words), "model": sums[0], "leaking": sums[1]}

    def _ordinary(self) -> list[int]:
        """The ids of the world's words; without a world, the ids of all tokens that are not special."""
        if self.world is not None and self.best is not None:
            return [self.best.id[word] for word in self.world.vocabulary]
        return [id for id in range(len(self.tokenizer)) if id not in self.tokenizer.vocab.special]


def _nats(p: float | None) -> float | None:
    """−log p; None if p is 0 or unknown."""
    return -log(p) if p else None
