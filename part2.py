# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# ## 2 · Fewer parameters: ALBERT
#
# ALBERT (Lan et al. 2020) has two ideas for a BERT with fewer parameters.
#
# **Factorized embeddings** (嵌入分解). In BERT, the embedding of a token is as wide as a hidden state, $H$. ALBERT's embeddings have a smaller width $E$, and a matrix projects them to $H$:
#
# $$V \times H \;\longrightarrow\; V \times E + E \times H$$
#
# **In numbers**: with $V = 5$ tokens, $H = 3$ and $E = 2$, BERT needs $5 \cdot 3 = 15$ weights and ALBERT $5 \cdot 2 + 2 \cdot 3 = 16$, so it saves nothing. With $V = 50$ it needs 106 instead of 150. The saving requires a large vocabulary.
#
# **Cross-layer parameter sharing** (跨层参数共享). All layers use the weights of *one* layer. **In numbers**: let a layer multiply its input by $w = 3$. Two such layers turn $x = 1$ into $w^2 x = 9$. The derivative with respect to $w$ is $2wx = 6$, of which the first layer contributes 3 and the second layer 3. A shared weight receives the sum of the gradients of all layers.

# %%
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F


class MiniALBERT(nn.Module):
    def __init__(self, vocab, E, H, heads, inner, layers):
        super().__init__()
        self.token, self.position, self.segment = (nn.Embedding(rows, E) for rows in (vocab, 512, 2))   # V × E
        self.norm, self.project, self.layers = nn.LayerNorm(E, 1e-12), nn.Linear(E, H), layers          # E × H
        gelu = partial(F.gelu, approximate="tanh")
        self.layer = nn.TransformerEncoderLayer(H, heads, inner, 0.0, gelu, 1e-12, batch_first=True)    # PyTorch's own layer

    def forward(self, tokens, segments, padding):
        positions = torch.arange(tokens.shape[1])
        x = self.project(self.norm(self.token(tokens) + self.position(positions) + self.segment(segments)))
        for _ in range(self.layers):
            x = self.layer(x, src_key_padding_mask=padding)                                             # the same weights each time
        return x


# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: with copied weights, the code above equals plmlab's ALBERT, also after one weight is changed; a shared gradient is the sum over the layers
from random import Random

from plmlab.example import IGNORE, Batch
from plmlab.models.albert import ALBERT, ALBERTConfig, UnsharedALBERT
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary


def layer_weights(layer):
    parts = layer.attention, layer.attention.out, layer.feed_forward.up, layer.feed_forward.down, layer.attention_residual.norm, layer.feed_forward_residual.norm
    joined = [torch.cat([getattr(getattr(parts[0], name), kind) for name in "qkv"]) for kind in ("weight", "bias")]
    return [*joined, *(weight for part in parts[1:] for weight in (part.weight, part.bias))]


def outputs(changed):
    with torch.no_grad():
        reference.layers[0].feed_forward.up.bias.add_(changed)
        mini.layer.linear1.bias.add_(changed)
        return mini(texts.tokens, texts.segments, ~texts.padding_mask)[texts.padding_mask], reference(texts)[texts.padding_mask]


torch.manual_seed(0)
size = ALBERTConfig(30, time=512, layers=3, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0, embedding=6)
reference, unshared, mini = ALBERT(size).eval(), UnsharedALBERT(size).eval(), MiniALBERT(30, 6, 16, 2, 32, 3).eval()
for weight in reference.parameters():
    nn.init.normal_(weight, std=0.5)
ours = [mini.token.weight, mini.position.weight, mini.segment.weight, *mini.norm.parameters(), *mini.project.parameters(), *mini.layer.parameters()]
theirs = reference.embeddings
for weight, source in zip(ours, [theirs.token.weight, theirs.position.weight, theirs.segment.weight, *theirs.norm.parameters(), *theirs.project.parameters(),
                                 *layer_weights(reference.layers[0])], strict=True):
    assert weight.shape == source.shape
    weight.data = source.detach().clone()
texts = Batch.of([masked(range(7, 7 + length), pair=[20, 21], vocab=Vocabulary(30), rng=Random(0)) for length in (9, 4)], pad=0)
before, after = outputs(0.0), outputs(0.3)
unshared.load_state_dict(reference.state_dict())
for model in (reference, unshared):
    model(texts)[texts.padding_mask].square().sum().backward()
summed = sum(layer.feed_forward.up.weight.grad for layer in unshared.layers)
pooler = sum(weight.numel() for weight in reference.pooler.parameters())
count = sum(weight.numel() for weight in mini.parameters()) + pooler
print("equal to plmlab:", all(torch.allclose(*pair, atol=1e-4) for pair in (before, after)), "· parameters, with the pooler:", count,
      "· shared gradient = sum over the 3 layers:", torch.allclose(summed, reference.layers[0].feed_forward.up.weight.grad, rtol=1e-3, atol=1e-3))
print(f"toy: V = 5: {5 * 3} and {5 * 2 + 2 * 3} weights; V = 50: {50 * 3} and {50 * 2 + 2 * 3}")
assert all(torch.allclose(*pair, atol=1e-4) for pair in (before, after)) and not torch.allclose(before[0], after[0], atol=1e-2)
assert torch.allclose(summed, reference.layers[0].feed_forward.up.weight.grad, rtol=1e-3, atol=1e-3)
assert count == sum(weight.numel() for weight in reference.parameters())

# %% [markdown]
# How much do the two ideas save at the sizes of the paper? We build the encoders and count.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Parameters of the encoders in the paper's sizes (vocabulary of 30,000), computed, and the numbers printed in the paper
from dataclasses import replace

import plotly.graph_objects as go

from plmlab.palette import ACCENT, KEY, QUERY, VALUE
from plmlab.plots import plain
from plmlab.tables import show_table

SIZES = {
    "BERT-base": (BERT, replace(BERTConfig.base(), vocab=30_000), "108"), "BERT-large": (BERT, replace(BERTConfig.large(), vocab=30_000), "334"),
    "ALBERT-base": (ALBERT, ALBERTConfig.base(), "12"), "ALBERT-large": (ALBERT, ALBERTConfig.large(), "18"),
    "ALBERT-xlarge": (ALBERT, replace(ALBERTConfig.large(), model=2048, inner=8192), "60"), "ALBERT-xxlarge": (ALBERT, ALBERTConfig.xxlarge(), "235")}
PARTS = {"embeddings": QUERY, "projection E × H": ACCENT, "layers": KEY, "pooler": VALUE}


def millions(kind, config):
    with torch.device("meta"):                                                   # shapes only, no memory
        encoder = kind(config)
    whole, layers, pooler = (sum(p.numel() for p in part.parameters()) for part in (encoder, encoder.layers, encoder.pooler))
    projection = sum(p.numel() for p in encoder.embeddings.project.parameters()) if kind is ALBERT else 0
    return [part / 1e6 for part in (whole - layers - pooler - projection, projection, layers, pooler)]


counts = {name: millions(kind, config) for name, (kind, config, _) in SIZES.items()}
show_table(("million parameters", "layers × H", *PARTS, "total", "total without pooler", "in the paper (table 1)"), {
    name: (f"{SIZES[name][1].layers} × {SIZES[name][1].model:,}", *(f"{part:.1f}" for part in parts), f"{sum(parts):.1f}", f"{sum(parts[:3]):.1f}", SIZES[name][2])
    for name, parts in counts.items()})
figure = go.Figure([go.Bar(y=list(counts), x=[parts[i] for parts in counts.values()], name=part, marker_color=colour, orientation="h")
                    for i, (part, colour) in enumerate(PARTS.items())])
figure.update_layout(**plain("ALBERT's parameters: one layer and small embeddings"), barmode="stack", height=330, xaxis_title="million parameters",
                     yaxis={"autorange": "reversed", "automargin": True}, legend={"orientation": "h", "y": 1.12}).show()
assert abs(sum(counts["ALBERT-base"]) - 11.68) < 0.01 and abs(sum(counts["ALBERT-xxlarge"]) - 222.60) < 0.01

# %% [markdown]
# **What you see.** Nearly all of BERT-base's parameters are in its 12 layers and its embeddings, and ALBERT reduces both: 11.7 million instead of 109.1. ALBERT-xxlarge has 222.6 million parameters although it stores a single layer, because this layer is very wide. It is applied 12 times, so the model is small on disk but slow to run.
#
# Our counts agree with the paper for BERT only without the pooler, and for ALBERT-base and -large only with it; the paper does not say what it counts. Its 60 and 235 million are not explained by any count that we tried.

# %% [markdown]
# ## Sentence order instead of next sentence *deeper*
#
# A random sentence usually has another topic, so next-sentence prediction (NSP) can be solved without knowing how sentences follow each other. ALBERT's second task is **sentence-order prediction** (SOP, 句序预测). Both segments come from the same document, and in half of the inputs they are swapped. **A toy**: the text is "Ann bakes bread. She sells it." In the original order the label is 0; in "She sells it. Ann bakes bread." it is 1. The topic is the same, so the label depends on the order alone.

# %%
from plmlab.labs import MaskLab
from plmlab.world.datasets.tokenizer import world_tokenizer

MaskLab(world_tokenizer(), text="she is married to David Lambert . her favourite food is omelettes .", objective="sentence_order", seed=1)

# %% jupyter={"source_hidden": true} tags=["measure"]
# Sentence order against next sentence: the segment ids do not reveal the label, and the paper's ablation
from plmlab.objectives import sentence_order

first, second = (world_tokenizer().encode(text, plain=True) for text in ("she is married to David Lambert .", "her favourite food is omelettes ."))
examples = [sentence_order(first, second, vocab=world_tokenizer().vocab, rng=Random(seed), select=()) for seed in range(400)]
swapped = [int(example.labels["sentence_order"]) for example in examples]
for example, label in zip(examples, swapped, strict=True):
    begin, other = (second, first) if label else (first, second)
    assert example.tokens.tolist() == [2, *begin, 3, *other, 3] and example.segments.tolist() == [0] * (len(begin) + 2) + [1] * (len(other) + 1)
print(f"{sum(swapped)} of {len(swapped)} inputs are swapped; in all of them the first segment of the input has segment id 0")
assert abs(sum(swapped) / len(swapped) - 0.5) < 0.1
show_table(("Lan et al. 2020, table 5 (%)", "NSP accuracy", "SOP accuracy", "average of five tasks"), {
    "trained with neither": ("52.4", "53.3", "79.0"), "trained with NSP": ("90.5", "52.0", "79.2"), "trained with SOP": ("78.9", "86.5", "80.1")})

# %% [markdown]
# **What you see.** The lab shows which segment comes first; the segment ids follow the place in the input, so they do not reveal the label. In the paper's table, the model trained with NSP is at chance on SOP (52.0 %), but the model trained with SOP reaches 78.9 % on NSP. The tasks gain 1.1 points on average.
#
# The authors' code does not quite follow its description: if a text consists of one segment only, the second segment is random, as in NSP.

# %% [markdown]
# ## 3 · Learning from every position: ELECTRA
#
# BERT has targets at about one position in seven. ELECTRA (Clark et al. 2020) replaces tokens instead of masking them, and every position becomes a target. It trains two networks together:
#
# - The **generator** (生成器) is a small masked language model. It predicts the selected tokens, and a token is *sampled* from each prediction.
# - The **discriminator** (判别器) receives the text with these samples and classifies *every* token as original or replaced. This task is **replaced-token detection** (替换词检测, RTD). Only the discriminator is fine-tuned later.
#
# **In numbers**: the text is *a b c*, and the first two tokens are selected. The generator samples *x* and *b*. The discriminator receives *x b c*. The labels are *replaced*, *original*, *original*: the second sample happens to be correct, so it counts as original. Let the logits of "replaced" be 1, 0 and −2. The probabilities of the correct labels are 0.73, 0.50 and 0.88, and their losses 0.31, 0.69 and 0.13 nats. The mean over all *three* tokens is 0.38. The two losses are added with a weight:
#
# $$L = L_{\mathrm{MLM}} + \lambda\, L_{\mathrm{Disc}}, \qquad \lambda = 50$$
#
# The weight is large because a binary decision has a much smaller loss than a choice from the whole vocabulary.

# %%
def electra_loss(generator, discriminator, batch, weight=50.0):
    selected, real = batch.targets != IGNORE, batch.padding_mask
    logits = generator(batch)[selected]                                       # the generator's input has [MASK]
    with torch.no_grad():                                                     # no gradient through a sample
        samples = torch.multinomial(logits.softmax(-1), 1)[:, 0]
    tokens = batch.tokens.masked_scatter(selected, samples)                   # the discriminator's input has none
    replaced = selected.masked_scatter(selected, samples != batch.targets[selected])   # a correct sample is original
    disc_logits = discriminator(replace(batch, tokens=tokens))
    disc_loss = F.binary_cross_entropy_with_logits(disc_logits[real], replaced[real].float())   # all real tokens
    return F.cross_entropy(logits, batch.targets[selected]) + weight * disc_loss


# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: loss and all gradients equal plmlab's with padding; the toy; shared embeddings; the same samples after a stop and a resume
from pathlib import Path
from tempfile import TemporaryDirectory

from plmlab.models.electra import ELECTRAPretraining, ELECTRAPretrainingConfig, rtd_input
from plmlab.train import fit
from plmlab.visibility import AttentionMask


def tiny_electra():
    torch.manual_seed(0)
    model = ELECTRAPretraining(ELECTRAPretrainingConfig(30, time=24, layers=1, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0))
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.3)
    return model


def loss_and_gradients(model, compute):
    torch.manual_seed(7)                                                      # the samples are drawn with torch's random state
    model.zero_grad()
    loss = compute()
    loss.backward()
    return loss.detach(), [None if weight.grad is None else weight.grad.clone() for weight in model.parameters()]


model = tiny_electra()
texts = Batch.of([rtd_input(range(7, 7 + length), vocab=Vocabulary(30), rng=Random(length), rate=0.5) for length in (16, 5)], pad=0)
(loss, gradients), (theirs, expected) = (loss_and_gradients(model, compute) for compute in (
    lambda: electra_loss(model.generator, model.discriminator, texts), lambda: model.loss(texts)))
equal = [one is other if one is None or other is None else torch.allclose(one, other, rtol=1e-4, atol=1e-4) for one, other in zip(gradients, expected, strict=True)]
shared = [getattr(model.generator.encoder.embeddings, part) is getattr(model.encoder.embeddings, part) for part in ("token", "position", "segment", "norm")]


def toy_discriminator(batch):
    seen.append(batch.tokens.tolist())
    return torch.tensor([[1.0, 0.0, -2.0]])


def losses(*stops):
    with TemporaryDirectory() as folder:
        for place, steps in enumerate(stops):
            run = tiny_electra()
            torch.manual_seed(place)                                          # a resumed run ignores this and continues with the saved state
            history = fit(run, lambda step: texts, steps=steps, lr=1e-3, decay="none", show=False, save_to=Path(folder) / "run", resume="longer")
    return history.losses


seen = []
toy = Batch(torch.tensor([[4, 4, 12]]), torch.arange(3)[None, None], torch.zeros(1, 3, dtype=torch.long), AttentionMask(), torch.tensor([[10, 11, IGNORE]]))
toy_logits = torch.full((1, 3, 30), -1e4)
toy_logits[0, 0, 20], toy_logits[0, 1, 11] = 0, 0                             # the samples: 20 (replaced), 11 (original)
toy_loss = electra_loss(lambda batch: toy_logits, toy_discriminator, toy, weight=1.0) - F.cross_entropy(toy_logits[0, :2], toy.targets[0, :2])
print("equal to plmlab: loss", torch.allclose(loss, theirs), f"· gradients of all {len(equal)} weights", all(equal), "· embeddings shared", all(shared))
print(f"toy: input {seen[0][0]}, loss of the discriminator {toy_loss:.2f}; its three terms", [f"{F.softplus(torch.tensor(x)).item():.2f}" for x in (-1.0, 0.0, -2.0)])
print("probabilities of the correct labels", [f"{torch.tensor(x).sigmoid().item():.2f}" for x in (1.0, 0.0, 2.0)])
assert torch.allclose(loss, theirs) and all(equal) and all(shared) and seen == [[[20, 11, 12]]] and abs(toy_loss - 0.378) < 0.001
assert losses(2, 4) == losses(4)

# %% [markdown]
# Now we train both networks on the small world, whose 187 words include all special tokens. The generator has the same two layers, but a quarter of the width; the paper found ¼ to ½ best (§3.2). **Guess first:** how many of the generator's samples will happen to be correct?

# %%
from plmlab import world
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

torch.set_num_threads(1)
torch.manual_seed(0)
tokenizer = small_world_tokenizer()
config = ELECTRAPretrainingConfig(len(tokenizer), time=32, layers=2, model=64, heads=4, inner=256, dropout=0.0, attention_dropout=0.0)
electra = ELECTRAPretraining(config)                                          # generator and discriminator
batches = sentence_batches(world.small(), "train", tokenizer, rtd_input, batch=64, seed=0)
history = fit(electra, batches, steps=500, lr=3e-3, warmup=50)

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Measurement: both networks on 600 new sentences with 15 % of the tokens selected, beside their baselines
from plmlab.chapters.ch09.detection import detect, generator_floor, heldout_batch
from plmlab.plots import lines

batch = heldout_batch()
found, floor = detect(electra, batch), generator_floor()
accuracy, f1, area = found.scores()
constant = found.generator_loss + config.weight * found.constant_loss()
steps = list(range(20, 501, 20))
lines("The training loss falls far below that of a constant prediction", steps, {
    "L_MLM + 50 L_Disc": history.smoothed(20)[19::20], "the same generator, constant discriminator": [constant] * len(steps)},
    x_title="updates (of 64 sentences)", y_title="nats").show()
show_table(("discriminator, all tokens", "accuracy (%)", "F1 of “replaced” (%)", "AUC (%)", "loss (nats per token)"), {
    "trained discriminator": (f"{100 * accuracy:.1f}", f"{100 * f1:.0f}", f"{100 * area:.0f}", f"{found.loss:.2f}"),
    "majority class: always “original”": (f"{100 * (1 - found.replaced_share):.1f}", "0", "50", f"{found.constant_loss():.2f}")})
print(f"generator: {found.generator_loss:.2f} nats per masked token, floor {floor:.2f}; {100 * found.lucky_share:.0f} % of its samples are correct;",
      f"{100 * found.replaced_share:.1f} % of all tokens are replaced; {history.seconds:.0f} s of training")
assert floor < found.generator_loss < 3 and 0.15 < found.lucky_share < 0.6 and f1 > 0.6 and area > 0.85 and found.loss < 0.7 * found.constant_loss()

# %% [markdown]
# **What you see.** @@LIVE
#
# One new sentence, with four tokens selected:

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Measurement: the generator's samples in one sentence, and the discriminator's probability of “replaced” at every token
from plmlab.objectives.masked import always_mask

words = "the keys near the table are lost ."
one = Batch.of([masked(tokenizer.encode(words, plain=True), vocab=tokenizer.vocab, rng=Random(0), select=[1, 2, 4, 6], corrupt=always_mask)], pad=0)
shown = detect(electra, one, seed=3)
original, input_tokens = (tokenizer.tokens(row[0].tolist()) for row in (shown.original, shown.corrupted))
kind = ["replaced" if replaced else "original, lucky sample" if chosen else "original" for replaced, chosen in zip(shown.replaced[0], shown.selected[0], strict=True)]
show_table(("position and original token", "discriminator's input", "label", "p(replaced)"), {
    f"{position}: {token}": (sample, label, f"{p:.2f}") for position, (token, sample, label, p) in enumerate(zip(original, input_tokens, kind, shown.probability[0].tolist(), strict=True))})
assert shown.selected.sum() == 4

# %% [markdown]
# **What you see.** @@SENTENCE
#
# The two networks share their embeddings. In the paper this raises the GLUE score from 83.6 to 84.3; sharing all weights, which requires networks of equal size, adds only 0.1 (§3.2).

# %% [markdown]
# ## Is ELECTRA a GAN? *deeper*
#
# In a generative adversarial network (GAN, 生成对抗网络), the generator is trained to *deceive* the discriminator, and the gradient of the discriminator's loss flows back into it. ELECTRA's generator has only the MLM loss, and its input contains no noise vector (§2). **A toy**: the generator assigns *x* a probability of 0.6, and *x* is sampled. A token id is an integer. With a probability of 0.61 the sampled token is still *x*, so the discriminator's loss does not change, and the derivative is 0 wherever it exists. We compute the gradient of $L_{\mathrm{Disc}}$ alone:

# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: the discriminator's loss gives the generator's own weights no gradient; the shared embeddings receive one, and so does the discriminator
from plmlab.models.electra import replace_tokens, sample

model = tiny_electra()
logits = model.generator(texts)[texts.targets != IGNORE]
torch.manual_seed(0)
model.discriminator.replaced_token_loss(*replace_tokens(texts, sample(logits))).backward()
in_discriminator = {id(weight) for weight in model.discriminator.parameters()}
in_generator = {id(weight) for weight in model.generator.parameters()}
own, both, rest = ([weight for weight in model.parameters() if test(id(weight))] for test in (
    lambda key: key not in in_discriminator, lambda key: key in in_discriminator & in_generator, lambda key: key not in in_generator))
reached = {name: sum(weight.grad is not None and bool(weight.grad.any()) for weight in group) for name, group in (("own", own), ("shared", both), ("rest", rest))}
show_table(("gradient of the discriminator's loss", "weight tensors", "with a gradient"), {
    "the generator's own weights": (len(own), reached["own"]), "shared embeddings": (len(both), reached["shared"]),
    "the discriminator's other weights": (len(rest), reached["rest"])})
assert reached["own"] == 0 and reached["shared"] == len(both) == 5 and reached["rest"] > 0
assert all(weight.grad is None for weight in own)

# %% [markdown]
# **What you see.** No gradient reaches the generator's own weights. The shared embeddings receive gradients from both losses. (The discriminator's pooler is not used in pretraining, so its two tensors have no gradient.) The authors also tried adversarial training with reinforcement learning. That generator reached an MLM accuracy of only 58 %, compared with 65 % for maximum likelihood (§3.2), and the resulting discriminator was worse.

# %% [markdown]
# CLAIMS GO HERE

# %% [markdown]
# ## Often said *deeper*
#
# Five statements about this family are often repeated. For each we name a number that decides. Two are measured here, one was shown by the gradients above, and the others are decided by the papers' tables. A *probe of topic* is a logistic regression on the words of a pair, which does not know which sentence comes first.

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Measurement: time and parameters; masked entities; probes on sentence pairs
from itertools import islice

from plmlab.chapters.ch09.order_probe import ordered_features, probe_accuracy, topic_features
from plmlab.objectives import entities_masked, whole_words
from plmlab.timing import fastest
from plmlab.world.datasets.texts import sentence_texts

size = {"vocab": len(tokenizer), "time": 32, "layers": 4, "model": 64, "heads": 4, "inner": 256, "dropout": 0.0, "attention_dropout": 0.0}
encoders = {"BERT": BERT(BERTConfig(**size)), "ALBERT": ALBERT(ALBERTConfig(**size, embedding=16))}
times, numbers = {name: float("inf") for name in encoders}, {name: sum(p.numel() for p in encoder.parameters()) for name, encoder in encoders.items()}
for _ in range(5):                                                            # alternately, so that both are affected by the same load
    for name, encoder in encoders.items():
        times[name] = min(times[name], fastest(lambda encoder=encoder: encoder(batch).sum().backward(), 3))
ratio = times["ALBERT"] / times["BERT"]


def wholly_masked(objective):
    """Of the entities of several words with a masked word, the share (%) of those that are masked as a whole."""
    texts = sentence_texts(list(islice(world.small().sentences("train", seed=5), 1000)), tokenizer)
    examples = [(text, objective(text, vocab=tokenizer.vocab, rng=Random(seed)).targets != IGNORE) for seed, text in enumerate(texts)]
    parts = [targets[1 + start:1 + end] for text, targets in examples for start, end in text.entities if end - start > 1]
    return 100 * sum(bool(part.all()) for part in parts) / sum(bool(part.any()) for part in parts)


def probe(draw, features):
    train, test = ([tuple(pair) for pair in islice(draw("train", seed=seed), count)] for seed, count in ((1, 4000), (2, 1000)))
    return 100 * probe_accuracy(train, test, features)


full = world.full()
topic = {name: probe(draw, topic_features) for name, draw in (("NSP", full.next_sentences), ("SOP", full.sentence_orders))}
ordered, by_words, by_entities = probe(full.sentence_orders, ordered_features), wholly_masked(whole_words), wholly_masked(entities_masked)
show_table(("often said", "the number that decides"), {
    "“ALBERT is faster because it is smaller.”": (f"{numbers['ALBERT']:,} parameters instead of {numbers['BERT']:,}; time per update {ratio:.1f} times BERT's",),
    "“Whole-word masking and ERNIE mask the same.”": (f"masked as a whole: {by_words:.0f} % and {by_entities:.0f} % of the entities with a masked word",),
    "“Dynamic masking makes a big difference.”": ("SQuAD 2.0 78.3 → 78.7, MNLI-m 84.3 → 84.0, SST-2 92.5 → 92.9 (Liu et al. 2019, table 1)",),
    "“ELECTRA is a GAN.”": (f"{reached['own']} of the generator's {len(own)} own weight tensors have a gradient of the discriminator's loss",),
    "“Next-sentence prediction helps.”": (f"probe of topic: {topic['NSP']:.0f} % on NSP, {topic['SOP']:.0f} % on SOP; with the order of the sentences {ordered:.0f} % on SOP",)})
assert 0.6 < ratio < 1.5 and by_words < 10 and by_entities == 100 and topic["NSP"] > 60 and 45 < topic["SOP"] < 55 < 70 < ordered

# %% [markdown]
# **What you see.**
#
# 1. **Faster because smaller**: false here. Sharing saves memory, not computation. In the paper ALBERT-base trains 5.6 times as fast as BERT-large and BERT-base 4.7 times, but there the training is distributed, and fewer gradients have to be communicated (Lan et al. 2020, table 2, §4.3).
# 2. **Whole words and entities**: false. A whole word is rarely a whole name.
# 3. **Dynamic masking**: hardly any difference in the paper; on MNLI-m it is even slightly worse.
# 4. **GAN**: false.
# 5. **NSP helps**: doubtful. Without NSP and with full sentences, RoBERTa's SQuAD 2.0 score is 79.1 instead of 78.7 (Liu et al. 2019, table 2); chapter 08 cites a table in which NSP does help. NSP is partly a matter of topic. By construction, the topic reveals nothing about the order of two sentences. Other cues do: with word order known, the probe finds, for example, that a sentence that begins with *she* usually comes second.

# %% [markdown]
# ## Pretrained weights *deeper*
#
# `from_hf("roberta-base")`, `from_hf("albert/albert-base-v2")` and `from_hf("google/electra-small-discriminator")` download released weights. Nothing is downloaded here: we build a small random model of each class of `transformers`, save it, and load the folder.

# %%
from transformers import AlbertConfig, AlbertForPreTraining, ElectraConfig, ElectraForPreTraining, RobertaConfig, RobertaForMaskedLM

from plmlab.hf import from_hf

size = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 40}
originals = [RobertaForMaskedLM(RobertaConfig(**size, type_vocab_size=1)), AlbertForPreTraining(AlbertConfig(**size, embedding_size=16)),
             ElectraForPreTraining(ElectraConfig(**size, embedding_size=16))]
loaded = []
for original in originals:
    with TemporaryDirectory() as folder:
        original.save_pretrained(folder)
        loaded.append(from_hf(folder)[0].eval())                              # the tokenizer, the second result, was not saved

# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: each loaded model computes the logits of the original; RoBERTa's positions begin at 2 there and at 0 here
example = Batch.of([masked(range(40, 50), vocab=Vocabulary(60), rng=Random(0), select=[3])], pad=0)
rows = {}
for original, ours in zip(originals, loaded, strict=True):
    with torch.no_grad():
        theirs = original.eval()(input_ids=example.tokens)[0]                 # the logits of the pretraining task
        logits = ours(example)
    table = dict(original.named_parameters())[next(name for name, _ in original.named_parameters() if "position_embeddings" in name)]
    offset = len(table) - len(ours.encoder.embeddings.position.weight)
    assert torch.allclose(logits, theirs, atol=1e-5) and torch.equal(ours.encoder.embeddings.position.weight, table[offset:])
    rows[type(original).__name__] = (type(ours).__name__, tuple(logits.shape), original.config.pad_token_id, offset, "yes")
show_table(("class of transformers", "class of plmlab", "shape of the logits", "id of [PAD] there", "first position there", "equal logits"), rows)
assert [row[3] for row in rows.values()] == [2, 0, 0]

# %% [markdown]
# **What you see.** ELECTRA's discriminator has one logit per position, the two others one per position and token. RoBERTa's padding token has id 1, and its positions are counted from id + 1, so the first position is 2. Its position table therefore has two rows that are not used for text, and `from_hf` drops them. ALBERT's projection $E \times H$ is called `embedding_hidden_mapping_in` there and `embeddings.project` here; ELECTRA's is `embeddings_project`. `AlbertModel` projects even if $E = H$; the authors' code and ours do not, and such a model is refused with an explanation.

# %% [markdown]
# ## Exercises (练习)
#
# Replace the last line of each stub with your own code, and run the cell. If you are stuck, remove the `#` before a `hint` and run its cell; each run reveals more. A **solution** (参考答案) is folded below each exercise.

# %%
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.exercises import case, check, hint, solution

# %% [markdown]
# ### 2 · Replaced-token detection (替换词检测)
#
# Compute what ELECTRA's discriminator receives and learns from. If an input fails, `case("09.2", 1)` returns the first failing input.

# %%
def replaced_tokens(
    tokens: Int[Tensor, "batch time"], selected: Bool[Tensor, "batch time"], sampled: Int[Tensor, "batch time"],
    logits: Float[Tensor, "batch time"], real: Bool[Tensor, "batch time"],
) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"], Float[Tensor, ""]]:
    """ELECTRA's replaced-token detection: the discriminator's input, the labels and the discriminator's loss.

    ``tokens`` are the original texts. In the input, the generator's samples, ``sampled``, replace the
    tokens at the ``selected`` positions only. The label of a position is True if its input token differs
    from the original one: a sample that equals the original token is not a replacement. ``logits`` are
    the discriminator's outputs, the logit of "was replaced" at each position. The loss is the mean binary
    cross-entropy over all positions of the batch that are not padding, i.e. where ``real`` is True.
    """
    raise NotImplementedError


check("09.2", replaced_tokens)


# %%
# hint("09.2")

# %%
solution("09.2")

# %% [markdown]
# ### 5 · Sentence-order prediction (句序预测) *deeper*
#
# Build the input of ALBERT's second task.

# %%
def sentence_order(sentences: list[list[int]], first: int, draw: float) -> tuple[Tensor, Tensor, int]:
    """ALBERT's input for sentence-order prediction: token ids, segment ids and the label.

    The first ``first`` sentences of a text form one segment, the others the next; neither is empty. The two are
    swapped if ``draw``, a random number in [0, 1), is below 0.5. The input is [CLS], the segment that now comes
    first, [SEP], the other segment, [SEP]. The segment id is 0 up to and including the first [SEP], and 1 after it.
    The label is 1 if the segments were swapped, otherwise 0. [CLS] is token id 2, [SEP] is 3. Return two integer
    tensors and the label.
    """
    raise NotImplementedError


check("09.5", sentence_order)


# %%
# hint("09.5")

# %%
solution("09.5")

# %% [markdown]
# ### 6 · ALBERT's parameters (参数量) *deeper*
#
# Compute the totals of the table in section 2 by hand.

# %%
def parameters(vocab: int, embedding: int, model: int, inner: int, layers: int, groups: int) -> int:
    """The number of parameters of an ALBERT encoder; with E = H and no sharing, of a BERT encoder.

    E is ``embedding``, H is ``model``. Every linear layer has biases, and a layer norm has two parameters per
    dimension. The embeddings of ``vocab`` tokens, 512 positions and 2 segments have E dimensions, and so has the
    layer norm of their sum. If E ≠ H, a linear layer projects from E to H. Each of the ``layers`` layers has four
    linear layers from H to H (query, key, value, output), one from H to ``inner``, one back, and two layer norms. The
    layers form ``groups`` groups, whose layers share their parameters. The pooler is a linear layer from H to H.
    """
    raise NotImplementedError


check("09.6", parameters)


# %%
# hint("09.6")

# %%
solution("09.6")

# %% [markdown]
# ## Where it went next
#
# The models of this chapter appeared within a year of BERT, from 2019 to 2020. What remains in 2026:
#
# - **Masks drawn anew, and no NSP**, have become the usual choice for encoders. ModernBERT (2024) removes NSP and masks 30 % of the tokens (§2.2.2).
# - **Replaced-token detection** is the pretraining task of DeBERTaV3 (2021). Its authors found that the two losses pull shared embeddings in different directions. They therefore let the discriminator use the generator's embeddings without sending gradients back into them, and add a trained difference (*gradient-disentangled embedding sharing*).
# - **Span masking** became T5's objective (chapter 13), which corrupts 15 % of the tokens, in spans with a mean length of 3.
# - **Sharing layers** is rare in large models. MobiLlama (2024), a language model of 0.5 billion parameters for small devices, shares one feed-forward network among all layers.
#
# **References.** Liu et al. 2019, *RoBERTa*. Lan et al. 2020, *ALBERT*. Clark et al. 2020, *ELECTRA*. He et al. 2021, *DeBERTaV3*. Raffel et al. 2020, *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*. Thawakar et al. 2024, *MobiLlama*. Warner et al. 2024, *Smarter, Better, Faster, Longer*.
