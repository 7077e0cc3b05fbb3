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
# **Cross-layer parameter sharing** (跨层参数共享). All layers use the weights of *one* layer. **In numbers**: let a layer multiply its input by $w = 3$. Two such layers turn $x = 1$ into $w^2 x = 9$. The derivative with respect to $w$ is $2wx = 6$, of which the first layer contributes 3 and the second layer 3. A shared weight receives the sum of the gradients of all layers. In the code, the layer is PyTorch's own.

# %%
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F


class MiniALBERT(nn.Module):
    def __init__(self, vocab, E, H, heads, inner, layers):
        super().__init__()
        self.token, self.position, self.segment = (nn.Embedding(rows, E) for rows in (vocab, 512, 2))  # V × E
        self.norm, self.project, self.layers = nn.LayerNorm(E, 1e-12), nn.Linear(E, H), layers  # E × H
        gelu = partial(F.gelu, approximate="tanh")
        self.layer = nn.TransformerEncoderLayer(H, heads, inner, 0.0, gelu, 1e-12, batch_first=True)

    def forward(self, tokens, segments, padding):
        positions = torch.arange(tokens.shape[1])
        x = self.project(self.norm(self.token(tokens) + self.position(positions) + self.segment(segments)))
        for _ in range(self.layers):
            x = self.layer(x, src_key_padding_mask=padding)        # the same weights each time
        return x


# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: with copied weights, the code above equals plmlab's ALBERT. Refused: equal layers that are not one, no projection, positions of width H
from plmlab.chapters.ch09 import albert_electra_checks as checks

results = checks.albert(MiniALBERT)
print(" · ".join(f"{name}: {holds}" for name, holds in results.items()))
print(f"toy: V = 5: {5 * 3} and {5 * 2 + 2 * 3} weights; V = 50: {50 * 3} and {50 * 2 + 2 * 3}")
assert all(results.values())

# %% [markdown]
# How much do the two ideas save at the sizes of the paper? We build the encoders and count.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Parameters of the encoders in the paper's sizes (vocabulary of 30,000), computed, and the numbers printed in the paper
import plotly.graph_objects as go

from plmlab.chapters.ch09.parameter_counts import SIZES, millions
from plmlab.palette import ACCENT, KEY, QUERY, VALUE
from plmlab.plots import plain
from plmlab.tables import show_table

counts = {name: millions(name) for name in SIZES}
show_table(("million parameters", "layers × H", *counts["BERT-base"], "total", "without pooler", "paper, table 1"), {
    name: (f"{config.layers}\u00a0×\u00a0{config.model:,}", *(f"{part:.1f}" for part in counts[name].values()), f"{sum(counts[name].values()):.1f}",
           f"{sum(counts[name].values()) - counts[name]['pooler']:.1f}", str(paper)) for name, (_, config, paper) in SIZES.items()})
figure = go.Figure([go.Bar(y=list(counts), x=[parts[part] for parts in counts.values()], name=part, marker_color=colour, orientation="h")
                    for part, colour in zip(counts["BERT-base"], (QUERY, ACCENT, KEY, VALUE), strict=True)])
figure.update_layout(**plain("ALBERT's parameters: one layer and small embeddings"), barmode="stack", height=340, xaxis_title="million parameters",
                     yaxis={"autorange": "reversed", "automargin": True}, legend={"orientation": "h", "y": 1.12}).show()
assert abs(sum(counts["ALBERT-base"].values()) - 11.68) < 0.01 and abs(sum(counts["ALBERT-xxlarge"].values()) - 222.60) < 0.01

# %% [markdown]
# **What you see.** Nearly all of BERT-base's parameters are in its 12 layers and its embeddings, and ALBERT reduces both: 11.7 million instead of 109.1. ALBERT-xxlarge has 222.6 million parameters although it stores a single layer, because this layer is very wide. It is applied 12 times in each forward pass, so the number of parameters does not tell how long a pass takes.
#
# Rounded, our counts agree with the paper for BERT only without the pooler, and for ALBERT-base and -large only with it; the paper does not say what it counts. Its 60 and 235 million are not explained by any count that we tried.

# %% [markdown]
# ## Sentence order instead of next sentence *deeper*
#
# A random sentence usually has another topic, so next-sentence prediction (NSP) can be solved without knowing how sentences follow each other. ALBERT's second task is **sentence-order prediction** (SOP, 句序预测). Both segments come from the same document, and in half of the inputs they are swapped. **A toy**: the text is "Ann bakes bread. She sells it." In the original order the label is 0; in "She sells it. Ann bakes bread." it is 1.

# %%
from plmlab.labs import MaskLab
from plmlab.world.datasets.tokenizer import world_tokenizer

MaskLab(world_tokenizer(), text="she is married to David Lambert . her favourite food is omelettes .", objective="sentence_order", seed=1)

# %% jupyter={"source_hidden": true} tags=["measure"]
# Sentence order: half of the inputs are swapped, and the segment ids do not reveal which; the paper's ablation
from random import Random

from plmlab.objectives import sentence_order

first, second = (world_tokenizer().encode(text, plain=True) for text in ("she is married to David Lambert .", "her favourite food is omelettes ."))
examples = [sentence_order(first, second, vocab=world_tokenizer().vocab, rng=Random(seed), select=()) for seed in range(400)]
inputs = {label: {(*e.tokens.tolist(), *e.segments.tolist()) for e in examples if e.labels["sentence_order"] == label} for label in (0, 1)}
swapped = sum(int(e.labels["sentence_order"]) for e in examples)
print(f"{swapped} of {len(examples)} inputs are swapped; the first segment always has segment id 0")
assert 160 < swapped < 240 and inputs == {label: {(2, *a, 3, *b, 3, *[0] * (len(a) + 2), *[1] * (len(b) + 1))} for label, a, b in (
    (0, first, second), (1, second, first))}
show_table(("Lan et al. 2020, table 5 (%)", "NSP accuracy", "SOP accuracy", "average of five tasks"), {
    "trained with neither": ("52.4", "53.3", "79.0"), "trained with NSP": ("90.5", "52.0", "79.2"), "trained with SOP": ("78.9", "86.5", "80.1")})

# %% [markdown]
# **What you see.** In this draw the segments are in their original order; press *draw again* until they are swapped. The segment ids follow the place in the input, so they do not reveal the label. Only the order of the two sentences differs; their topic is the same. In the paper's table, the model trained with NSP is at chance on SOP (52.0 %), but the model trained with SOP reaches 78.9 % on NSP. The tasks gain 1.1 points on average.
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
# **In numbers**: the text is *a b c*, and the first two tokens are selected. The generator samples *x* and *b*. The discriminator receives *x b c*. The labels are *replaced*, *original*, *original*: the second sample happens to be correct, so it counts as original. Let the logits of "replaced" be 1, −1 and −2. The probabilities of the correct labels are 0.73, 0.73 and 0.88, and their losses 0.31, 0.31 and 0.13 nats. $L_{\mathrm{Disc}}$ is the mean over all *three* tokens, 0.25. $L_{\mathrm{MLM}}$ is the loss of the generator on the two selected tokens. The two are added with a weight:
#
# $$L = L_{\mathrm{MLM}} + \lambda\, L_{\mathrm{Disc}}, \qquad \lambda = 50$$
#
# The weight is large because a binary decision has a much smaller loss than a choice from the whole vocabulary. In the code, `real` is False at padding.

# %%
from dataclasses import replace

from plmlab.example import IGNORE, Batch


def electra_loss(generator, discriminator, batch, weight=50.0):
    selected, real = batch.targets != IGNORE, batch.padding_mask
    logits = generator(batch)[selected]                            # the generator's input has [MASK]
    with torch.no_grad():                                          # no gradient through a sample
        samples = torch.multinomial(logits.softmax(-1), 1)[:, 0]
    tokens = batch.tokens.masked_scatter(selected, samples)        # the discriminator's input has none
    replaced = selected.masked_scatter(selected, samples != batch.targets[selected])  # correct: original
    disc_logits = discriminator(replace(batch, tokens=tokens))
    disc_loss = F.binary_cross_entropy_with_logits(disc_logits[real], replaced[real].float())
    return F.cross_entropy(logits, batch.targets[selected]) + weight * disc_loss


# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: the code above equals plmlab's. Refused: correct samples labelled replaced, selected positions or padding in the mean, a gradient through
# the samples, [MASK] in the input, λ = 1, the most probable token instead of a sample, copied embeddings, random state not saved
results = checks.electra(electra_loss)
print(" · ".join(f"{name}: {holds}" for name, holds in results.items()))
correct = torch.tensor([1.0, 1.0, 2.0]).sigmoid()
print("toy: probabilities of the correct labels", [f"{p:.2f}" for p in correct], "losses", [f"{-p.log():.2f}" for p in correct], f"mean {-correct.log().mean():.2f}")
assert all(results.values())

# %% [markdown]
# Now we train both networks on the small world. The generator also has two layers, but a quarter of the discriminator's width; in the paper, ¼ to ½ works best (§3.2). As in the authors' code, 15 % of the selected tokens are not masked in the generator's input. **Guess first:** how many of the generator's samples will happen to be correct?

# %%
from plmlab import world
from plmlab.models.electra import ELECTRAPretraining, ELECTRAPretrainingConfig, rtd_input
from plmlab.train import fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

torch.set_num_threads(1)
torch.manual_seed(0)
small, tokenizer = world.small(), small_world_tokenizer()
config = ELECTRAPretrainingConfig(len(tokenizer), time=32, layers=2, model=64, heads=4, inner=256, dropout=0.0, attention_dropout=0.0)
electra = ELECTRAPretraining(config)                                          # generator and discriminator
batches = sentence_batches(small, "train", tokenizer, rtd_input, batch=64, seed=0)
history = fit(electra, batches, steps=500, lr=3e-3, warmup=50)

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Measurement: both networks on 600 newly sampled sentences, 15 % of the tokens selected and all of these masked, beside their baselines
from plmlab.chapters.ch09.detection import detect
from plmlab.objectives.masked import always_mask, masked
from plmlab.plots import lines

all_masked = partial(masked, corrupt=always_mask)
batch, floor = sentence_batches(small, "train", tokenizer, all_masked, batch=600, seed=99)(0), small.floor(all_masked, sentences=600).mean
found = detect(electra, batch)
(accuracy, f1, area), share = found.scores(), found.replaced_share
steps, constant = list(range(20, 501, 20)), found.generator_loss + config.weight * found.constant_loss()
lines("The loss falls far below that of a constant discriminator", steps, {
    "both networks, in training": history.smoothed(20)[19::20], "constant discriminator, with the trained generator": [constant] * len(steps)},
    x_title="updates (of 64 sentences)", y_title="L_MLM + 50 L_Disc (nats)").show()
show_table(("discriminator, all tokens", "accuracy (%)", "F1 of “replaced” (%)", "AUC (%)", "loss (nats per token)"), {
    "trained for 500 updates": (f"{100 * accuracy:.1f}", f"{100 * f1:.0f}", f"{100 * area:.0f}", f"{found.loss:.2f}"),
    "constant: “original” (loss: constant p)": (f"{100 * (1 - share):.1f}", "0", "50", f"{found.constant_loss():.2f}")})
print(f"generator: {found.generator_loss:.2f} nats per masked token, floor {floor:.2f}; {100 * found.lucky_share:.0f} % of its samples are correct;",
      f"{100 * share:.1f} % of all tokens are replaced; {history.seconds:.0f} s of training")
assert floor < found.generator_loss < 3 and 0.15 < found.lucky_share < 0.6 and f1 > 0.6 and area > 0.85 and found.loss < 0.7 * found.constant_loss()

# %% [markdown]
# **What you see.** The majority class is already correct for 88.6 % of the tokens, because only 11.4 % are replaced. F1 and AUC, the area under the ROC curve, show that the discriminator has learned much more: 86 % and 96 %. Its loss is 0.10 nats; a constant probability of 11.4 % has 0.36. The generator is small and has had few updates, so it is still far above its floor and makes many mistakes that the discriminator can find. Even so, 27 % of its samples happen to be correct (*lucky samples*), and these count as original. Most test sentences also occur in training, because the small world has only a few hundred different ones.
#
# The result depends on the learning rate. We chose it among three values on these same 600 sentences, so the scores are slightly optimistic. With the middle value the discriminator scored lower. With the highest, in both runs, the generator learned faster and the discriminator stayed at the majority class. The authors sometimes observed this failure when they trained the generator first (§3.2).
#
# One new sentence, with four tokens selected:

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Measurement: the generator's samples in one sentence, and the discriminator's probability of “replaced” at every token
original = tokenizer.encode("the keys near the table are lost .", plain=True)
one = Batch.of([all_masked(original, vocab=tokenizer.vocab, rng=Random(0), select=[1, 2, 4, 6])], pad=0)
shown = detect(electra, one, seed=3)
show_table(("position and original token", "discriminator's input", "label", "p(replaced)"), {
    f"{t}: {token}": (given, "replaced" if is_replaced else "original (lucky sample)" if is_selected else "original", f"{p:.2f}")
    for t, (token, given, is_replaced, is_selected, p) in enumerate(zip(
        ["[CLS]", *tokenizer.tokens(original), "[SEP]"], tokenizer.tokens(shown.corrupted[0].tolist()), shown.replaced[0], shown.selected[0],
        shown.probability[0].tolist(), strict=True))})
assert shown.selected.sum() == 4

# %% [markdown]
# **What you see.** Both samples of *the* are lucky ones: they are labelled original, and the discriminator assigns them a probability of at most 0.01. It detects the name *Kessler*, but not the verb *is* (0.06), which would be correct after *Kessler*.
#
# The two networks share their embeddings. In the paper, with networks of equal size, this raises the GLUE score from 83.6 to 84.3; sharing all weights gives 84.4 (§3.2). The authors' explanation is that the discriminator trains only the embeddings of tokens in its input, whereas the generator's softmax trains those of the whole vocabulary.

# %% [markdown]
# ## Is ELECTRA a GAN? *deeper*
#
# In a generative adversarial network (GAN, 生成对抗网络), the generator is trained to *deceive* the discriminator, and the gradient of the discriminator's loss flows back into it. ELECTRA's generator has only the MLM loss, and its input contains no noise vector (§2). **A toy**: the generator assigns *x* a probability of 0.6, and *x* is sampled. A token id is an integer. With a probability of 0.61 the sampled token is still *x*, so the discriminator's loss does not change, and the derivative is 0 wherever it exists. We compute the gradient of $L_{\mathrm{Disc}}$ alone:

# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: the discriminator's loss has a gradient for the shared embeddings and the discriminator, but not for the generator's own weights
reached = checks.reached_weights()
show_table(("gradient of the discriminator's loss", "weight tensors", "with a gradient"), reached)
assert [reached[name] for name in ("the generator's own weights", "shared embeddings")] == [(25, 0), (5, 5)]
assert reached["the discriminator's other weights"][1] > 0

# %% [markdown]
# **What you see.** No gradient reaches the generator's own weights. The shared embeddings have one, and in training they receive the gradients of both losses. (The discriminator's pooler is not used in pretraining, so its two tensors have none.) The authors also trained the generator adversarially, with reinforcement learning. It reached an MLM accuracy of only 58 %, compared with 65 % with maximum likelihood, and the results on downstream tasks were worse (§3.2).

# %% [markdown]
# CLAIMS GO HERE

# %% [markdown]
# ## Often said *deeper*
#
# Five statements about this family are often repeated. For each one, the table names a number that decides; the numbers on dynamic masking are from the paper (Liu et al. 2019, table 1). The *topic probe* is a logistic regression on the words of a pair and the words that its two sentences share. It does not know which sentence comes first.

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Measurement: time per update and parameters of two encoders of 4 layers; entities masked as a whole; probes on sentence pairs
from plmlab.chapters.ch09.masked_entities import wholly_masked
from plmlab.chapters.ch09.order_probe import ordered_features, probe_accuracy, topic_features
from plmlab.models.albert import ALBERT, ALBERTConfig
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives import entities_masked, whole_words
from plmlab.timing import fastest

size = {"vocab": len(tokenizer), "time": 32, "layers": 4, "model": 64, "heads": 4, "inner": 256, "dropout": 0.0, "attention_dropout": 0.0}
encoders = ALBERT(ALBERTConfig(**size, embedding=16)), BERT(BERTConfig(**size))
albert, bert = (sum(weight.numel() for weight in encoder.parameters()) for encoder in encoders)
rounds = [[fastest(lambda encoder=encoder: encoder(batch).sum().backward(), 2) for encoder in encoders] for _ in range(5)]   # alternately
ratio = min(times[0] for times in rounds) / min(times[1] for times in rounds)
by_words, by_entities = (100 * wholly_masked(objective) for objective in (whole_words, entities_masked))
full = world.full()
nsp, sop, ordered = (100 * probe_accuracy(*probe) for probe in (
    (full.next_sentences, topic_features), (full.sentence_orders, topic_features), (full.sentence_orders, ordered_features)))
own, with_gradient = reached["the generator's own weights"]
show_table(("often said", "the number that decides"), {
    "“ALBERT is faster because it is smaller.”": (f"{albert:,} parameters instead of {bert:,}; time per update {ratio:.1f} × BERT's",),
    "“Whole-word masking and ERNIE mask the same.”": (f"names masked as a whole: {by_words:.0f} % and {by_entities:.0f} %",),
    "“Dynamic masking makes a big difference.”": ("SQuAD 2.0 78.3 → 78.7, MNLI-m 84.3 → 84.0, SST-2 92.5 → 92.9",),
    "“ELECTRA is a GAN.”": (f"{with_gradient} of the generator's {own} own weight tensors have a gradient of the discriminator's loss",),
    "“Next-sentence prediction helps.”": (f"topic probe: {nsp:.0f} % on NSP, {sop:.0f} % on SOP; with the order of the sentences {ordered:.0f} % on SOP",)})
assert 0.6 < ratio < 1.5 and by_words < 10 and by_entities == 100 and nsp > 60 and 45 < sop < 55 < 70 < ordered

# %% [markdown]
# **What you see.**
#
# 1. **Faster because smaller**: no. Sharing saves memory, not computation: each layer is still applied. In the paper ALBERT-base trains 5.6 times as fast as BERT-large, and BERT-base 4.7 times, but there the training is distributed. The authors explain the difference by less communication and fewer computations (Lan et al. 2020, table 2, §4.3). ALBERT-xxlarge is slower than BERT-large (0.3 times).
# 2. **Whole words and entities**: no. The table counts names of several words of which at least one word is selected. Whole-word masking rarely selects the whole name, ERNIE always.
# 3. **Dynamic masking**: the differences are small, and on MNLI-m static masking is better.
# 4. **GAN**: no, as the gradients above show.
# 5. **NSP helps**: doubtful. NSP is partly a matter of topic, and RoBERTa, with full sentences and without NSP, reaches 79.1 instead of 78.7 on SQuAD 2.0 (Liu et al. 2019, table 2). In BERT's own ablation NSP does help on QNLI (chapter 08); Liu et al. suspect that the input format was kept when NSP was removed. Our topic probe reaches 70 % on NSP. On SOP it is at 50 %, as it must be, because it does not know the order of the sentences. A probe that knows which words are in which sentence reaches 81 % on SOP, so this task does not require much understanding here either.

# %% [markdown]
# ## Pretrained weights *deeper*
#
# `from_hf` loads the released weights of RoBERTa, ALBERT and ELECTRA, given their name on the hub, a folder, or a model of `transformers`. Nothing is downloaded here: we build a small random model of each family in `transformers` and convert it.

# %%
import warnings

from transformers import AlbertConfig, AlbertForPreTraining, ElectraConfig, ElectraForPreTraining
from transformers import RobertaConfig, RobertaForMaskedLM

from plmlab.hf import from_hf

size = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 64, "max_position_embeddings": 40}
originals = [RobertaForMaskedLM(RobertaConfig(**size, type_vocab_size=1)),
             AlbertForPreTraining(AlbertConfig(**size, embedding_size=16)),
             ElectraForPreTraining(ElectraConfig(**size, embedding_size=16))]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")                     # from_hf reports that RobertaForMaskedLM has no pooler
    loaded = [from_hf(original.eval())[0] for original in originals]     # [1] would be the tokenizer

# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: each loaded model computes the logits of the original; RoBERTa's positions begin at 2 there and at 0 here
from plmlab.text.vocabulary import Vocabulary

example, rows = Batch.of([masked(range(40, 50), vocab=Vocabulary(60), rng=Random(0), select=[3])], pad=0), {}
for original, ours in zip(originals, loaded, strict=True):
    with torch.no_grad():
        equal = torch.allclose(logits := ours(example), original(input_ids=example.tokens)[0], atol=1e-5)
    positions = next(weight for name, weight in original.named_parameters() if "position_embeddings" in name)
    offset = len(positions) - len(ours.encoder.embeddings.position.weight)
    assert equal and torch.equal(ours.encoder.embeddings.position.weight, positions[offset:])
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
# What do models of 2026 still use of this chapter?
#
# - **No NSP.** ModernBERT (2024) removes it as overhead without a gain, and masks 30 % of the tokens (§2.2.2).
# - **Replaced-token detection** is the pretraining task of DeBERTaV3 (2021). Its authors found that the two losses pull the shared embeddings in different directions. In their *gradient-disentangled embedding sharing*, the discriminator uses the generator's embeddings without sending a gradient back, and adds a trained difference to them.
# - **Span masking** became T5's objective (chapter 13). It corrupts 15 % of the tokens; spans with a mean length of 3 worked slightly better than single tokens (§3.3.4).
# - **Sharing** is used where memory is scarce. MobiLlama (2024), a language model of 0.5 billion parameters for small devices, shares one feed-forward network among all its layers.
#
# **References.** Liu et al. 2019, *RoBERTa*. Lan et al. 2020, *ALBERT*. Clark et al. 2020, *ELECTRA*. He et al. 2021, *DeBERTaV3*. Raffel et al. 2020, *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*. Thawakar et al. 2024, *MobiLlama*. Warner et al. 2024, *Smarter, Better, Faster, Longer*.
