"""Figures and tables of chapter 06: initialization, reversal, translations, recorded runs, and the cost of a layer."""

import string
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from plmlab.chapters.ch06 import agreement, long_chains
from plmlab.chapters.ch06.backwards import generated
from plmlab.chapters.ch06.cost import milliseconds, multiplications
from plmlab.chapters.ch06.initialization import gradient_norms, saturation
from plmlab.chapters.ch06.translation import Translations
from plmlab.example import PairBatch
from plmlab.interpret import watch
from plmlab.layers.transformer import PostNorm, PreNorm
from plmlab.models.transformer import Transformer
from plmlab.plots import attention_heatmap, lines
from plmlab.tables import show_table
from plmlab.text.vocabulary import Vocabulary

Recorded = Mapping[str, Any]
Forward = Callable[[Tensor], Any]
LAYERS = {"attention": "multi-head attention", "layer": "Transformer layer", "LSTM": "LSTM layer"}


def show_saturation(widths: Sequence[int]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Plot the largest of 32 attention weights by d_k. Returns (weight, gradient norm) for each width, with the scores
    divided by √d_k and without."""
    torch.manual_seed(0)
    divided = [saturation(width, sqrt(width)) for width in widths]
    undivided = [saturation(width, 1) for width in widths]
    lines("Without division by √d_k, a wide head attends to a single key", widths,
          {"divided by √d_k": [weight for weight, _ in divided], "not divided": [weight for weight, _ in undivided]},
          log_x=True, x_title="d_k (dimensions of a key)", y_title="largest of 32 weights (median)").show()
    return divided, undivided


def show_gradients(depths: Sequence[int], seeds: int = 3) -> tuple[list[float], list[float]]:
    """Plot the gradient norm of the last layer's W₂ at initialization by depth. Returns its mean over ``seeds`` seeds,
    for post-norm and for pre-norm."""
    post, pre = ([sum(gradient_norms(residual, depth, seed)[-1] for seed in range(seeds)) / seeds for depth in depths]
                 for residual in (PostNorm, PreNorm))
    lines("With pre-norm the last layer's gradient falls like 1/√L; with post-norm it does not", depths,
          {"post-norm (paper)": post, "pre-norm (GPT-2)": pre,
           "1/√L": [pre[0] * sqrt(depths[0] / depth) for depth in depths]},
          log_x=True, log_y=True, x_title="L (number of layers)",
          y_title="gradient norm of W₂ in the last layer").show()
    return post, pre


def show_reversal(model: nn.Module, batch: PairBatch, vocab: Vocabulary) -> float:
    """Draw the cross-attention of a one-layer model that reverses strings, for the longest string of a batch, averaged
    over the heads. Returns the mean weight on the letter to be generated, over all strings."""
    with torch.no_grad(), watch(model) as seen:
        model(batch)
    weights = seen["decoder.layers.0.cross_attention.weights"].mean(1)  # [batch query key]
    sizes = (batch.targets >= 0).sum(-1).tolist()  # letters and [END]
    row = sizes.index(size := max(sizes))

    def letters(ids: Tensor) -> list[str]:
        return ["[END]" if id == vocab.end else string.ascii_lowercase[id - vocab.words[0]] for id in ids.tolist()]
    attention_heatmap("To reverse a string, the decoder attends to its letters from last to first",
                      weights[row, :size, :size].tolist(), letters(batch.targets[row, :size]),
                      letters(batch.source.tokens[row, :size]),
                      x_title="source letter (key)", y_title="target letter (query)").show()
    return float(torch.stack([weights[i, step, size - 2 - step]
                              for i, size in enumerate(sizes) for step in range(size - 1)]).mean())


def show_translations(model: Transformer, data: Translations, first: int = 3, incorrect: int = 2) -> list[str]:
    """Print the greedy translations of the ``first`` test sentences, and the first ``incorrect`` ones with their
    references. Returns the translations of all test sentences."""
    names = {id: word for word, id in data.ids.items()}
    outputs = ["".join(names[id] for id in text)
               for text in generated(model, data.collated(data.test), data.vocab, length=40)]
    wrong = [i for i, sentence in enumerate(data.test) if outputs[i] != "".join(sentence.chinese)]
    for i in [*range(first), *wrong[:incorrect]]:
        print(data.test[i].text, "\n   ", outputs[i])
        if i in wrong:
            print("    reference:", "".join(data.test[i].chinese))
    return outputs


def show_agreement(recorded: Recorded) -> None:
    """Plot and tabulate the recorded runs for distances of up to 12 words between noun and verb."""
    steps = recorded["steps"]
    far = {kind: result["far"] for kind, result in recorded["kinds"].items()}
    lines("Up to 12 words, the wide LSTM learns as fast as the Transformer, the deep LSTM later", steps,
          {kind: [100 * point["mean"] for point in points] for kind, points in far.items()},
          spread={kind: tuple([100 * point[end] for point in points] for end in ("low", "high"))  # type: ignore[misc]
                  for kind, points in far.items()},
          x_title="updates (64 sentences each)", y_title="agreement accuracy at 9–12 words (%)").show()
    show_table(("model", *(f"update from which accuracy is above 95 %, {distance} words between (three seeds)"
                           for distance in ("3–4", "9–12")), "learning rate"),
               {kind: (*(agreement.learned_at(result[reach], steps) for reach in ("near", "far")), f"{result['lr']:g}")
                for kind, result in recorded["kinds"].items()})


def show_rules() -> None:
    """Tabulate the accuracy of the rule-based baselines at a distance of 50 words."""
    show_table(("rule", "accuracy (%)"),
               {name: (f"{100 * long_chains.rule_accuracy(rule):.0f}",) for name, rule in long_chains.RULES.items()})


def show_long_chains(recorded: Recorded) -> None:
    """Plot and tabulate the recorded runs for distances of 50 and 200 words between noun and verb."""
    steps, lengths = recorded["steps"], [str(length) for length in long_chains.LENGTHS]
    lines("At 50 words the Transformer learns first; at 200 words neither model learns reliably", steps,
          {f"{kind}, {between} words": [100 * point["mean"] for point in result[between]["seen"]]
           for kind, result in recorded["kinds"].items() for between in lengths},
          x_title="updates (32 sentences each)", y_title="agreement accuracy, mean of three seeds (%)").show()
    rows = {}
    for kind, result in recorded["kinds"].items():
        for between in lengths:
            unseen = ", ".join(f"{100 * value:.0f}" for value in result[between]["unseen"]["values"])
            rows[f"{kind}, trained on {between} words"] = (
                agreement.learned_at(result[between]["seen"], steps), unseen, f"{result['lr']:g}")
    show_table(("model", "update from which accuracy is above 95 % (three seeds)",
                f"final accuracy at {recorded['unseen']} words (%, three seeds)", "learning rate"), rows)


def show_heads(recorded: Recorded, updates: Sequence[int] = (200, 400, 800)) -> None:
    """Tabulate the recorded losses of string reversal by the number of heads."""
    at = [recorded["steps"].index(step) for step in updates]
    show_table(("heads", *(f"loss after {step} updates: mean (range)" for step in updates),
                "learning rate"),
               {count: (*(f"{result['loss'][i]['mean']:.2f} ({result['loss'][i]['low']:.2f} to "
                          f"{result['loss'][i]['high']:.2f})" for i in at), f"{result['lr']:g}")
                for count, result in recorded["heads"].items()})


def show_multiplications(layers: Mapping[str, Forward], lengths: Sequence[int], width: int) -> dict[str, list[int]]:
    """Plot the multiplications of a forward pass of "attention", "layer" and "LSTM" by text length. Returns them."""
    texts = [torch.randn(1, n, width) for n in lengths]
    cost = {name: [multiplications(forward, text) for text in texts] for name, forward in layers.items()}
    lines("Attention needs fewer multiplications than an LSTM for n < 2d; a Transformer layer never does", lengths,
          {LAYERS[name]: values for name, values in cost.items()}, log_x=True, log_y=True,
          x_title="n (words in the text)", y_title=f"multiplications (d = {width})").show()
    return cost


def show_times(layers: Mapping[str, Forward], lengths: Sequence[int], width: int) -> dict[str, list[float]]:
    """Print the time of a forward pass of each layer on this machine, in milliseconds, by text length. Returns the
    times."""
    texts = [torch.randn(1, n, width) for n in lengths]
    times = {name: [milliseconds(forward, text) for text in texts] for name, forward in layers.items()}
    for i, n in enumerate(lengths):
        print(f"n = {n:4}: " + ", ".join(f"{LAYERS[name]} {spent[i]:.1f} ms" for name, spent in times.items()))
    return times
