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
# # UniLM: one network for understanding and generation (统一预训练)
#
# BERT understands text, with attention to both sides, but cannot generate. GPT generates text, with attention to the left context only. Translation usually requires a third network, an encoder–decoder.
#
# **Can one network do all three?** Dong et al. (2019) found that almost nothing has to change. The layers, the weights and the prediction task stay the same. Only the **attention mask** (注意力掩码) changes: a square of zeros and ones that determines which positions can attend to which. In this chapter you build UniLM's four masks, train one network under all of them, and generate text. We measure what a single model for everything costs, and find that learning to generate by filling masked positions is slow, which the paper does not report.
#
# Chapter 12 has two notebooks, because one would take more than two hours. This one, 12a, is about UniLM; [12b](12b_glm.ipynb) is about GLM, which fills the blanks in a text token by token. Exercises 12.1 to 12.4 are here, 12.5 and 12.6 there.
#
# UniLM has 24 layers and was trained on Wikipedia and books. Ours has 2 or 3 layers and is trained on synthetic English and Chinese, for which all probabilities are known exactly.
#
# **Core: 45 minutes. Whole: 105.** The core is everything outside the sections marked *deeper*, and does not depend on them. A folded cell (one grey line) proves or
# measures what the text beside it states. It has been run like the others; click on the line to open it.
#
# ## What you need (预备知识)
#
# - **Token** (词元): an entry of the vocabulary; here a word. **Position** (位置): the index of a token in the input. [CLS] begins a text, [SEP] ends it.
# - **Attention** (注意力): each position (the *query*, 查询) takes a weighted mean of the values at the positions that it can attend to (the *keys*, 键). A **mask** (掩码) determines which these are (chapter 06).
# - **Cloze** (完形填空): some tokens are replaced by [MASK], and the model predicts each of them at its own position (BERT, chapter 08).
# - **Language model** (语言模型): every position predicts the *next* token and attends to no later one (GPT, chapter 07).
# - **Encoder–decoder** (编码器–解码器): the encoder reads the source; the decoder generates the target and cross-attends to the encoder's output (chapter 06).
# - **Segment** (段): an id that each position carries. Its learned **segment embedding** (段嵌入) is added to that of the token. BERT has two segments.
# - **Nats** (奈特): the loss on a token is $-\log$ of the probability that the model assigned to it; 0 means that the model was certain. **Floor** (下界): the loss of the Bayes-optimal predictor, which is an entropy lower bound. **Seed** (随机种子): each gives different initial weights and batches.
# - **Small World**: the synthetic language of this course, whose floor is known exactly. Each sentence exists in English and in Chinese.

# %% [markdown]
# ## The picture: one sentence, four attention masks
#
# Each row is a query, the position that attends; each column is a key, the position attended to. The source is *she saw a crane*, the target *on the lake*. Press the four buttons at *try this*, and watch the square. **Guess first:** under which mask does the network know the length of the sentence, but not how it begins?

# %%
from plmlab.labs import MaskLab
from plmlab.labs.mask.lab import MaskPreset
from plmlab.text.words import word_tokenizer

FOUR = {"both directions": "both_directions", "sequence to sequence": "prefix",
        "left to right": "left_to_right", "right to left": "right_to_left"}
MaskLab(word_tokenizer(["she", "saw", "a", "crane", "on", "the", "lake"]), text="she saw a crane on the lake", objective="prefix",
        seed=3, presets=[MaskPreset(title, objective, {"rate": 0.2}) for title, objective in FOUR.items()])

# %% [markdown]
# **What you see.** Each masked word is predicted at its own position. Under *sequence to sequence* the source attends to the whole source and to no position of the target; the target attends to the whole source and to its own left context. *Left to right* is GPT's triangle, and *both directions* is BERT's full square. Under *right to left* a position attends only to itself and its right context. Its position embedding encodes its index, so the network knows how many words precede it, but not which ones. The row *segment* differs too: A to F are the segments 0 to 5 of the next section.
#
# ## 1 · One task, four masks (四种掩码)
#
# UniLM keeps BERT's cloze task: 15 % of the tokens are selected, and each is predicted at its own position. What changes is the attention mask $M$ in every layer. Do not confuse $M$ with the token [MASK], which hides a word.
#
# $$A = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d}} + M\right)V, \qquad M_{ij} = \begin{cases} 0 & \text{position } i \text{ can attend to position } j\\ -\infty & \text{it cannot}\end{cases}$$
#
# | mask | position $i$ attends to | as in | proportion of training texts |
# |---|---|---|---|
# | bidirectional (双向) | every position | BERT | ⅓ |
# | **sequence-to-sequence mask** (序列到序列) | the source; target positions $\le i$ | an encoder–decoder | ⅓ |
# | left-to-right (从左到右) | positions $\le i$ | GPT | ⅙ |
# | right-to-left (从右到左) | positions $\ge i$ | GPT on reversed text | ⅙ |
#
# **A toy.** *x₁ x₂* is the source and *x₃ x₄* the target. If one word is masked, its prediction can use:
#
# | masked | bidirectional | sequence to sequence | left to right | right to left |
# |---|---|---|---|---|
# | *x₄* | *x₁ x₂ x₃*, the final [SEP] | *x₁ x₂ x₃* | *x₁ x₂ x₃* | the final [SEP] |
# | *x₁* | *x₂ x₃ x₄*, the final [SEP] | *x₂* | no word | *x₂ x₃ x₄*, the final [SEP] |
#
# The corruption is BERT's: of the selected tokens 80 % are replaced by [MASK], 10 % by a random word, and 10 % stay unchanged. Two details are new. The first is **n-gram masking** (n 元组掩码): with probability 20 %, two or three adjacent words are masked instead of one. The second is that six **segments** indicate the mask: 0 and 1 bidirectional, 2 left-to-right, 3 right-to-left, 4 the source and 5 the target. So the segments determine the mask. In code:

# %%
from random import Random

import torch

from plmlab.text.vocabulary import Vocabulary

vocab = Vocabulary(60)                                   # ids of special tokens; words from 39 on
CLS, SEP, MASK = vocab.cls, vocab.sep, vocab.mask


def attn_mask(segments):
    """[query key] for one text, True where the query can attend to the key; from the segment of each position."""
    position = torch.arange(len(segments))
    query, key = position[:, None], position[None, :]
    kind = int(segments[0])
    if kind == 2:
        return key <= query                              # left to right
    if kind == 3:
        return key >= query                              # right to left
    if kind == 4:
        return (segments == 4)[None, :] | (key <= query)    # the source, and the target up to this position
    return torch.ones(len(position), len(position), dtype=torch.bool)


print(attn_mask(torch.tensor([4, 4, 5, 5])).int())       # the toy, x₁ x₂ and x₃ x₄


# %% jupyter={"source_hidden": true} tags=["proof"]
# Inputs, targets, segments and masks written by hand; then the proportions of the masks and of n-grams in 3,000 texts
from collections import Counter

from plmlab.objectives import always_mask, both_directions, causal, left_to_right, mask_mixture, prefix, right_to_left
from plmlab.objectives.prefix import MASKS

a, b, c, words = 40, 41, 42, list(range(40, 47))
one, two = ([CLS, MASK, b, MASK, SEP], [-100, a, -100, c, -100]), ([CLS, MASK, b, SEP, MASK, SEP], [-100, a, -100, -100, c, -100])
for make, text, pair, inputs, segments, mask in (
        (both_directions, [a, b, c], [], one, "00000", "11111 " * 5), (both_directions, [a, b], [c], two, "000011", "111111 " * 6),
        (left_to_right, [a, b, c], [], one, "22222", "10000 11000 11100 11110 11111"),
        (right_to_left, [a, b, c], [], one, "33333", "11111 01111 00111 00011 00001"),
        (prefix, [a, b], [c], two, "444455", "111100 111100 111100 111100 111110 111111")):
    made = make(text, pair=pair, vocab=vocab, rng=Random(0), select=[1, len(inputs[0]) - 2], corrupt=always_mask)
    assert (made.tokens.tolist(), made.targets.tolist(), "".join(map(str, made.segments.tolist()))) == (*inputs, segments), make
    for square in (attn_mask(made.segments), made.visible.dense()):
        assert ["".join(map(str, row)) for row in square.int().tolist()] == mask.split(), make
for make, n in ((make, n) for make in MASKS.values() for n in range(1, 8)):
    made = make(words[:n], vocab=vocab, rng=Random(n))
    assert torch.equal(attn_mask(made.segments), made.visible.dense())
assert torch.equal(attn_mask(torch.full((8,), 2)), causal(words, vocab=vocab, rng=Random(0)).visible.dense())      # GPT's
kinds, adjacent = Counter(), Counter()
for seed in range(3000):                                 # three of 400 words are masked
    made = mask_mixture([40] * 400, vocab=vocab, rng=Random(seed), rate=0.0075)
    positions = (made.targets >= 0).nonzero().flatten()
    kinds[int(made.segments[0])] += 1
    adjacent[len(positions), int((positions.diff() == 1).sum())] += 1
# Expected: two single words first in 0.8 · 0.8 = 64 % of the texts, a trigram first in 10 %, two adjacent words in the other 26 %
print("bidirectional, sequence to sequence, left to right, right to left:", *(kinds[kind] for kind in (0, 4, 2, 3)))
print("three single words, two adjacent, three adjacent:", *(adjacent[3, pairs] for pairs in (0, 1, 2)))
assert all(abs(kinds[kind] - expected) < 90 for kind, expected in {0: 1000, 4: 1000, 2: 500, 3: 500}.items())
assert all(abs(adjacent[3, pairs] - expected) < 90 for pairs, expected in {0: 1920, 1: 780, 2: 300}.items())

# %% [markdown]
# The rest of UniLM is the BERT of chapter 08, layer for layer, with six segments instead of two. With copied weights, its outputs equal those of the BERT in `transformers` under all four masks.
#
# **A common claim: "a causal model is a different network".** It is the same network under a different mask. Below, a network with random weights reads a text under the left-to-right mask, and then the same text cut after some position. The output at that position is the same:

# %% jupyter={"source_hidden": true} tags=["proof"]
# One network, two masks: under the left-to-right mask each position has the output that it has if the text ends there
from plmlab.example import Batch
from plmlab.models.unilm import UniLM, UniLMConfig
from plmlab.visibility import AttentionMask


def forward(network, tokens, segments, mask):
    positions = torch.arange(len(tokens))[None, None]
    return network(Batch(tokens[None], positions, segments[None], AttentionMask(pairs=mask[None]), tokens[None]))[0]


torch.manual_seed(0)
network = UniLM(UniLMConfig.tiny(60)).eval().requires_grad_(False)
tokens, segments = torch.tensor([CLS, *words, SEP]), torch.full((9,), 2)
last = torch.stack([forward(network, tokens[:n], segments[:n], attn_mask(segments[:n]))[-1] for n in range(3, 9)])
masked, unmasked = (forward(network, tokens, segments, mask)[2:8] for mask in (attn_mask(segments), torch.ones(9, 9, dtype=torch.bool)))
print("the same outputs as in the text cut there, with the mask:", torch.allclose(last, masked, atol=1e-5),
      "· without it:", torch.allclose(last, unmasked, atol=1e-2))
assert torch.allclose(last, masked, atol=1e-5) and not torch.allclose(last, unmasked, atol=1e-2)

# %% [markdown]
# ## 2 · Train one network under all four masks
#
# The network has two layers of width 64. It is trained on sentences and passages of the Small World, half of them in Chinese. For each text one of the four masks is sampled according to its proportion (the **mask mixture**), and 30 % of the tokens are masked. For *sequence to sequence*, a text is cut into source and target at a random position. No sentence is paired with its translation.
#
# Each mask leaves different words visible, so each has its own floor. **Guess first:** under which mask is a masked word easiest for the Bayes-optimal predictor, and under which is it hardest?

# %% tags=["nbval-ignore-output"]
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12 import passage_translation as passages
from plmlab.chapters.ch12.mask_mixture import floors_by_mask, held_out_batches, losses_by_mask
from plmlab.models.unilm import UniLMPretraining
from plmlab.objectives.prefix import SHARES
from plmlab.train import fit

torch.set_num_threads(1)                       # sentences are so short that a second thread would only wait
tokenizer = passages.tokenizer()
floors = floors_by_mask()                       # of each mask, in nats per masked word
floor = sum(share * floors[mask] for mask, share in SHARES.items())


def texts(rng):                                # 16 passages and 16 sentences; each in English or in Chinese
    pairs = [*passages.rows("train", rng, 16), *passages.rows("train", rng, 16, range(1, 2))]
    return [mask_mixture(pair[rng.random() < 0.5], vocab=tokenizer.vocab, rng=rng, rate=0.3) for pair in pairs]


torch.manual_seed(0)
model = UniLMPretraining(UniLMConfig(len(tokenizer), 64, 2, 64, 4, 256, dropout=0.0, attention_dropout=0.0))
history = fit(model, ExampleBatches(texts, 0, tokenizer.vocab.need("pad")), steps=1000, lr=1e-2, warmup=100,
              evaluate=held_out_batches("mixture"), evaluate_every=100, floor=floor)
history.figure(f"One network, four masks: {history.validation[-1][1] - floor:.2f} nats above its floor").show()

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# The loss on masked words under each mask, in English sentences of the test set, and the floor
from functools import partial

from plmlab import world
from plmlab.plots import lines
from plmlab.tables import show_table, spreads

losses = losses_by_mask(model)
show_table(("nats per masked word", "this model", "floor", "difference"), {
    mask: (losses[mask], floors[mask], losses[mask] - floors[mask]) for mask in floors})
length_known = world.small().floor(partial(left_to_right, rate=0.3), split="test", sentences=1000).mean
print(f"trained in {history.seconds:.0f} s\nleft to right, Bayes-optimal predictor that knows the number of words: {length_known:.2f} nats")
assert length_known < floors["left to right"] - 0.2
assert all(floors[mask] < losses[mask] < floors[mask] + 1.6 for mask in floors)

# %% [markdown]
# **What you see.** The floor is lowest with bidirectional attention and highest under the left-to-right mask. Much of the left-to-right floor is due to uncertainty about the length: a Bayes-optimal predictor that knows the number of words has a much lower loss (last line).
#
# The network has not converged. Its loss is 0.7 to 0.9 nats above the floor under three of the masks, and 1.2 nats above it under the right-to-left mask. Part of this gap is due to the language. The Bayes-optimal predictor knows that the text is English, whereas the network has to infer it. The held-out curve uses English sentences only, because their floor is known.
#
# ## 3 · The Four-mask Lab
#
# The network that you have just trained predicts a masked word, *Henry*, under all four masks. **Guess first:** under which masks can it be predicted? Then press *Show the answer*. Next, move the boundary between source and target three words to the right (slider or arrow keys), and watch the upper right panel. Click another word to mask it instead.

# %% tags=["nbval-ignore-output"]
from plmlab import world
from plmlab.labs import FourMasksLab

small = world.small()
FourMasksLab(model, tokenizer, "Henry Quinn plays the piano .", world=small, hide="Henry")

# %% [markdown]
# **What you see.** Under the left-to-right mask, no word is visible. One sentence in ten begins with *Henry*, so the Bayes-optimal predictor assigns it a probability of 10 %, and the network, which also considers Chinese words, less. Under *both directions* and *right to left*, *Quinn* is visible. The Bayes-optimal predictor is then certain, because only one Quinn of the Small World plays the piano; the network's probability is about one half. Under *sequence to sequence*, the result depends on the boundary. In the source, where attention is bidirectional, *Henry* can be predicted; in the target, it is as hard to predict as under the left-to-right mask.
#
# Also try *a verb far from its subject*. Wherever *cups* is visible, the Bayes-optimal predictor chooses *are*. This network has not learned the agreement and wavers between *is* and *are* under all four masks.
#
# ## 4 · Generation: append a [MASK], predict, repeat (生成)
#
# Generating text means predicting what comes after the current prefix. UniLM can only predict the token *at* a masked position, so it appends a [MASK]: it reads `[CLS] source [SEP] [MASK]`, predicts a token, replaces the mask with it, and appends a new [MASK]. Each token requires one **forward pass** (前向计算), and a predicted [SEP] ends the text.
#
# **Fine-tuning** (微调) teaches the network to translate. In each training pair, 70 % of the target tokens are masked at random; in some cases all tokens before a masked one are visible, as in generation. The [SEP] after the target can be masked too, which teaches the model to stop.

# %% tags=["nbval-ignore-output"]
from copy import deepcopy

from plmlab.objectives import masked_seq2seq_target


def translations(rng):                         # 32 passages, English → Chinese
    return [masked_seq2seq_target(*row, vocab=tokenizer.vocab, rng=rng, rate=0.7) for row in passages.rows("train", rng, 32)]


translator = deepcopy(model)
torch.manual_seed(0)
fit(translator, ExampleBatches(translations, "translate 0", tokenizer.vocab.need("pad")), steps=500, lr=2e-2, warmup=50)


@torch.no_grad()
def generate(source, longest=30):
    target = []
    while len(target) < longest:
        tokens = torch.tensor([CLS, *source, SEP, *target, MASK])
        segments = torch.tensor([4] * (len(source) + 2) + [5] * (len(target) + 1))
        logits = forward(translator, tokens, segments, attn_mask(segments))      # [position vocabulary]
        word = int(logits[-1].argmax())                                      # greedy, at the [MASK]
        if word == SEP:
            break
        target.append(word)
    return target


for source, target in passages.rows("test", Random(5), 4):
    english, reference, generated = (tokenizer.decode(text) for text in (source, target, generate(source)))
    print(english, "→", generated, "" if generated == reference else f"(reference: {reference})")

# %% jupyter={"source_hidden": true} tags=["proof", "nbval-ignore-output"]
# Fine-tuning inputs by hand and by count; plmlab's decoder, which caches keys and values, generates the same; accuracy
full = masked_seq2seq_target([a, b], [c, a], vocab=vocab, rng=Random(0), rate=1.0, corrupt=always_mask)
assert full.tokens.tolist() == [CLS, a, b, SEP, MASK, MASK, MASK] and full.targets.tolist() == [-100] * 4 + [c, a, SEP]
drawn = [made for seed in range(20) for made in translations(Random(seed))]
for made in drawn:
    target, predicted = made.segments == 5, made.targets >= 0
    assert predicted.sum() == round(0.7 * int(target.sum())) and not (predicted & ~target).any() and MASK not in made.tokens[~target]
ends = sum(int(made.targets[-1] == SEP) for made in drawn) / len(drawn)
some = passages.rows("test", Random(6), 40)
assert [tuple(generate(source)) for source, _ in some] == passages.in_place(translator, [source for source, _ in some])
accuracy = passages.translation_accuracy(translator, "test")
print(f"[SEP] is a target in {ends:.0%} of {len(drawn)} training rows · translations without a mistake: {accuracy:.0%} of 200")
assert abs(ends - 0.7) < 0.06 and accuracy > 0.2

# %% [markdown]
# ### A common claim: "UniLM is an encoder–decoder" (编码器–解码器) *deeper*
#
# Its mask reproduces the attention pattern of an encoder–decoder, but UniLM is one stack of layers without cross-attention (交叉注意力). In *every* layer, a target position attends to the source representations of that same layer; a decoder cross-attends in every layer to the output of the encoder's *last* layer. Moreover, the same weights encode the source and generate the target.

# %% jupyter={"source_hidden": true} tags=["proof"]
# In both, the source's outputs do not depend on the target; but UniLM has no cross-attention, and fewer weights
from plmlab.models.transformer import Transformer, TransformerConfig

sources = [network(Batch.of([masked_seq2seq_target(words[:3], words[3:end], vocab=vocab, rng=Random(0), select=())], pad=0))[0, :5] for end in (4, 7)]
print("the source's outputs do not depend on the target:", torch.allclose(*sources, atol=1e-5))
assert torch.allclose(*sources, atol=1e-5)
for name, one, expected in (("encoder–decoder with four layers each", Transformer(TransformerConfig(60, layers=4, model=128, inner=512)), True),
                            ("UniLM with four layers", network, False)):
    crosses = any("cross" in weight for weight, _ in one.named_parameters())
    print(f"{name}: {sum(weight.numel() for weight in one.parameters()):,} weights; cross-attention: {crosses}")
    assert crosses == expected

# %% [markdown]
# ## 5 · The claim: one model for understanding and generation
#
# The paper makes two claims. First, UniLM understands text as well as BERT: on GLUE, a set of classification tasks, it scores 80.8 and BERT 80.5 (table 11). Second, it generates text better than models built for generation. It achieves state-of-the-art results on five tasks, for example a ROUGE-L of 40.51 on news summaries (abstract); ROUGE-L measures the overlap with the reference. The reason given for the **mixture of objectives** (混合目标) is that what the network learns under one mask also helps under the others. However, UniLM was initialized with the weights of that BERT and trained further (§2.4), the models compared in generation differ in size and in training data, and there is no ablation of the mixture.
#
# We train one network in six configurations: with the mixture, with each mask alone (**single-mask models**), and *half and half*, with the bidirectional mask for half of the texts and the sequence-to-sequence mask for the other half. All are trained for 3,600 updates on the same texts, each with its own best learning rate and three seeds. Each model then predicts masked words in English test sentences under *every* mask. Nearly all of the 800 sentences occur in training, so this test does not measure generalization to new sentences.
#
# The results are precomputed. **Before running:** under a given mask the mixture *hurts* if each of its seeds has a loss at least 0.02 nats per word higher than every seed of the single-mask model. It *helps* if each has a loss at least 0.02 nats lower than every seed of that model. Otherwise it makes *no difference*. The mixture *helps generation* if, after 400 updates of fine-tuning, each of its seeds translates more passages without a mistake than every seed of every other configuration. **Guess first:** under which mask is the mixture furthest behind the single-mask model?

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed: the loss under each mask above its floor, for each configuration; and mixture minus single-mask model
from math import log

from plmlab.recipes import recorded

numbers = recorded("12")["numbers"]
ablation = numbers["mask mixture"]
updates, longer, losses = ablation["updates"], ablation["longer"], {name: one["paid"] for name, one in ablation["arms"].items()}


def above_floor(losses):
    return spreads([{key: losses[mask][key] - nats for key in ("mean", "low", "high")} for mask, nats in ablation["floors"].items()], 2)


show_table((f"nats per word above the floor, after {updates:,} updates", *ablation["floors"]), {
    **{name: above_floor(one) for name, one in losses.items()},
    f"mixture, {3 * updates:,} updates": above_floor(longer),
    "(uniform distribution)": [f"{log(len(tokenizer)) - nats:.2f}" for nats in ablation["floors"].values()],
    "(the floor itself)": [f"{nats:.2f}" for nats in ablation["floors"].values()]})


def difference(mixture, single):
    least, most = mixture["low"] - single["high"], mixture["high"] - single["low"]
    return f"{least:.3f} to {most:.3f}", "hurts" if least >= 0.02 else "helps" if most <= -0.02 else "no difference"


def budgets(mixture, single):
    return f"added: {mixture:,} updates of the mixture, {single:,} or {single // 2:,} of the model"


show_table(("loss of the mixture minus that of the single-mask model (nats)", f"{updates:,} updates each", "by the rule",
            budgets(updates, updates // 3), "by the rule", budgets(3 * updates, updates)), {
    mask: (*difference(losses["mixture"][mask], losses[mask][mask]), *difference(losses["mixture"][mask], early), difference(longer[mask], late)[0])
    for mask, (early, late) in ablation["equal"].items()})

# %% [markdown]
# **What you see.** A single-mask model performs poorly under other masks, in some cases worse than a uniform distribution. The mixture has no such weakness. But **by the rule written before the run, the mixture hurts under all four masks**. It was trained with each mask on only a third or a sixth of its texts. It is furthest behind under the right-to-left mask, perhaps because little of what is learned under the other masks transfers to this one. The sequence-to-sequence model, for example, is 0.58 nats above the floor under the left-to-right mask, but 3.72 under the right-to-left mask.
#
# We ran the comparisons marked *added* only after we had seen this result. In the first, the single-mask model was trained on the same number of texts *under that mask* as the mixture: 1,200 updates, or 600 for the triangular masks. Here the mixture, which was trained for more updates in total, helps under three of the four masks. In the second, the budgets are unequal: 10,800 updates of the mixture, and 3,600 or 1,800 of the single-mask model. An equal-budget comparison at 10,800 updates was not recorded.
#
# Next, all these networks, and one with random weights, are fine-tuned for translation, with 70 % of each target masked. None of them has seen a translation before:

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed: correct translations after fine-tuning
accuracy = {name: one["right"] for name, one in ablation["translation"].items()}
show_table(("fine-tuned from", "correct translations after 100 updates (%)", "after 400 updates (%)"), {
    **{name: spreads((one["100"], one["400"])) for name, one in accuracy.items()},
    "(lookup table of sentences)": spreads(ablation["table"].values())})
below = [name for name, one in accuracy.items() if accuracy["mixture"]["400"]["low"] > one["400"]["high"]]
print(f"after 400 updates every seed of the mixture is above every seed of: {', '.join(below)}; but not of:",
      ", ".join(name for name in accuracy if name not in (*below, "mixture")))

# %% [markdown]
# **What you see.** The network with random weights translates almost nothing correctly. Pretraining with bidirectional attention helps most, the left-to-right mask helps less, and the right-to-left mask hardly at all. But a lookup table of the sentences in the same number of training texts is correct far more often (last row), because a test passage is mostly a new combination of known sentences. A fine-tuning method in section 6 beats this table.
#
# **Verdict: one network for understanding and generation – partly supported; the mixture helps generation – not supported.** In the paper UniLM is as good as BERT (80.8 and 80.5, table 11), but it is that BERT after further training. Here one network does both. However, after the same 3,600 updates the mixture's loss is 0.070 to 0.127 nats higher than that of the bidirectional model, and by the rule the mixture hurts under the other three masks too. The paper's reason, that what is learned under one mask helps under the others, is supported by the comparison added afterwards. With the same number of texts under the left-to-right mask, the mixture is ahead by 0.301 to 0.395 nats, and it is ahead under two more masks. In generation, every seed of the mixture is above every seed of the sequence-to-sequence model, but not above every seed of *both directions* and *half and half*. The paper's results in generation (40.51, abstract) do not test the mixture.
#
# ## 6 · Masked tokens or next-token prediction: "masking wastes most of the target" *deeper*
#
# Critics of BERT's pretraining pointed out that only 15 % of the tokens are targets. UniLM's fine-tuning masks 70 % of the target, which sounds like little waste. But with the same attention mask we can also mask nothing, and let every position of the target predict the *next* token, as in GPT. Such a model is a **prefix language model** (前缀语言模型); T5's authors compared one with their own model. Which of the two methods learns to generate with fewer updates?
#
# **A toy.** The target is *y₁ y₂ y₃* [SEP].
#
# - *70 % masked*: three of the four positions are masked, as in [M] *y₂* [M] [M], and each predicts its own token. The prediction of *y₃* cannot use *y₁*.
# - *Next token, 100 % of positions* is **next-token prediction**: the target is unmasked. The position before the target predicts *y₁*, the position of *y₁* predicts *y₂*, and so on. All four tokens are targets, with complete context. With *15 %* and *70 % of positions*, the loss is computed at fewer of these positions, which measures the effect of having few targets.
# - *Appended masks* (Bao et al. 2020): the target is unmasked. Four [M] are appended, one for each position of the target and with the same index. Each attends to the source and to the target tokens before its own. So every token is predicted at a [MASK], as in UniLM, but its context is complete.
#
# **Before running:** a method *has learned to translate* after the smallest budget (200, 400, 800 or 3,200 updates) at which on average at least 90 % of the translations are correct. Each method uses its best learning rate. The claim that masking wastes most of the target is correct if every masking rate needs a larger budget than next-token prediction at every position. The small number of targets is not the reason if next-token prediction at 15 % or 70 % of the positions is also faster than masking the same fraction.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed: correct translations, by training method
targets = numbers["target masking"]
show_table(("training objective; correct translations (%) after", *(f"{int(updates):,} updates" for updates in targets["70% masked"]["right"]), "90 % correct after (updates)"), {
    name: (*spreads(one["right"].values()), f"{one['learned after']:,}" if one["learned after"] else "–") for name, one in targets.items()})

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# One of these points again, live: next-token prediction at every position, 200 updates, first seed of the recipe
from plmlab.chapters.ch12.mask_mixture import new_unilm
from plmlab.chapters.ch12.target_masking import OBJECTIVES

again, (make, decode), stored = new_unilm(0), OBJECTIVES["next token, 100% of positions"], targets["next token, 100% of positions"]
passages.tune(again, make, 200, stored["lr"]["200"], 0, show=False)
live, stored = passages.translation_accuracy(again, "test", decode), stored["right"]["200"]
print(f"live {live:.3f}; stored {stored['values'][0]:.3f}, three seeds {stored['low']:.3f} to {stored['high']:.3f}")
assert stored["low"] - 0.15 < live < stored["high"] + 0.15

# %% [markdown]
# **What you see.** With next-token prediction, the network has learned to translate after 400 updates. With 70 % masked, as in UniLM, 4 % of the translations are correct at that point, and the network needs between 800 and 3,200 updates; with 15 % masked, even 3,200 are too few. The small number of targets does matter: next-token prediction at 15 % of the positions learns much more slowly than at all positions. But it is faster than masking 15 %, and next-token prediction at 70 % of the positions is almost as fast as at all of them. Appended masks have all targets and complete context, and still take longer than next-token prediction. So two effects combine: a token is harder to predict at a [MASK] than at the token before it, and harder still if part of its context is masked.
#
# Before the runs we wrote that *100 % masked* must fail, because it never sees a token of the target during training. It does not fail, because in these sentences the source determines almost every target token. Starting from random weights, next-token prediction passes the lookup table of section 5 (91 %) after 800 updates. The pretrained networks of that section, fine-tuned with masked tokens, reached two thirds after 400. Much of the benefit of pretraining in section 5 is that it compensates for a slow fine-tuning method.
#
# **Verdict: masking wastes most of the target – supported, but not for the reason given.** Every masking rate needs more updates than next-token prediction at every position: 3,200 or more, compared with 400. The number of targets is not the reason. With 70 % of the tokens as targets, masking needs 3,200 updates and next-token prediction 800. The paper makes no such comparison. It generates with a beam of five and trains with label smoothing; we do neither.
#
# ## 7 · The bundled UniLM, and one attention head under four masks *deeper*
#
# `unilm-world` has three layers of four heads and was trained on 16 million tokens of the **full** world. This world has the grammar of the Small World, but many more words and names. Unlike the network of section 2, this one has learned that the verb agrees with a distant noun.

# %% tags=["nbval-ignore-output"]
from plmlab.checkpoints import load

bundled, tokenizer = load("unilm-world")
FourMasksLab(bundled, tokenizer, world=world.full())

# %% [markdown]
# **What you see.** Under the right-to-left mask, no visible word reveals whether the subject is singular or plural. The Bayes-optimal predictor assigns *is* a probability of one half, and the network comes close to this value. Under the other three masks *pillow* is visible, and the network is confident. Names and facts (try *a first name* or *determined by the facts*) must be memorized, which takes longer.
#
# Now look inside the network. Choose another mask at *mask*: the attention weights of the same head are recomputed over the positions that this mask allows. **Guess first:** what does this head do under *left to right*?

# %% tags=["nbval-ignore-output"]
from plmlab.labs import AttentionLab

AttentionLab(bundled, tokenizer, "the keys to the old cabinet are on the table .", layer=0, head=1)

# %% [markdown]
# **What you see.** This head attends to the next word. Under the left-to-right mask the next word is blocked, and almost all the attention goes to [CLS], which serves as an **attention sink** (注意力汇) for a head with nothing relevant to attend to. Under *sequence to sequence* it can attend to the next word only within the source. Head 1 of layer 2 is the mirror image and attends to the previous word; under the right-to-left mask its sink is [SEP]. So the network has heads for both directions, and the mask decides which of them can work.
#
# **The released weights** of UniLM are those of a BERT with six segments. `plmlab.hf.from_hf` reads a folder of that layout (config.json with `type_vocab_size: 6`, and safetensors) as a UniLM. The authors' own files are pickle files, which this course does not open; convert them elsewhere first.

# %% [markdown]
# ## 8 · Compared with BERT, GPT and an encoder–decoder *deeper*
#
# Here we compare UniLM with models that are built for one purpose. All have about a million weights and were pretrained once, for about 3,000 updates, on six million tokens of the full world, half of them Chinese, without translations.
#
# - **UniLM** and **BERT** predict masked words (30 % of the tokens), UniLM under its four masks and BERT bidirectionally. ***Sequence to sequence*** is UniLM's network under that mask alone.
# - **GPT** predicts every next word. The **encoder–decoder** of chapter 06 reads the first part of a text and generates the rest.
#
# Then each is fine-tuned for generation with three seeds, by the method of its own paper; BERT's paper has none, so BERT is fine-tuned by UniLM's method. The two tasks are **translation** of English sentences into Chinese (8,192 pairs, 2,000 updates) and **extractive summarization** (抽取式摘要) of articles (500 updates). A reference summary consists of those sentences of the article that state its topic, copied word for word. BLEU and ROUGE-L (0 to 100) measure the overlap between the generated text and the reference.
#
# UniLM, BERT and GPT are also fine-tuned with 1,024 labels for the tasks of chapter 08: acceptability, paraphrase, NER and extractive QA. GPT's input format yields one class per text, so GPT is fine-tuned only for the first two.

# %% [markdown]
# **Before running:** one of two models *generates better* on a task if each of its seeds generates more exactly correct texts than every seed of the other. The mixture *helps generation* if UniLM generates better than *sequence to sequence* on one task, and *sequence to sequence* is better on none. It is *useful in pretraining* if UniLM generates better than BERT. UniLM *understands as well as BERT* if there is no task on which every seed of BERT is above every seed of UniLM; 300 test texts cannot show a difference below three points. **Guess first:** on which task does one of the pretrained models score almost zero?

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed: generation and understanding, with baselines that need no network
from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.chapters.ch12.tuned import CLASSES
from plmlab.chapters.ch12.generation import GENERATORS, baselines
from plmlab.transfer import majority, test_set

pretrained, generation, reading, simple = numbers["pretrained"], numbers["generation"], numbers["reading"], baselines()
assert simple == generation["baselines"]
scores = (("translation", "exact", None), ("translation", "bleu", 1), ("summarization", "exact", None), ("summarization", "rouge-l", 1))
show_table(("generation", "translation: correct (%)", "translation: BLEU", "summarization: correct (%)", "summarization: ROUGE-L"), {
    **{name: [spreads([generation["tasks"][task][name][score]], digits)[0] for task, score, digits in scores] for name in GENERATORS},
    "(target of the nearest training source)": (f"{100 * simple['nearest']['exact']:.0f}", f"{simple['nearest']['bleu']:.1f}", "", ""),
    "(the first two sentences)": ("", "", f"{100 * simple['two']['exact']:.0f}", f"{simple['two']['rouge-l']:.1f}")})
label = {"one sentence": "acceptability", "a pair": "paraphrase", "names": "NER", "an answer": "extractive QA"}
same_names = [({word for word in row.first if word[0].isupper()} == {word for word in row.second if word[0].isupper()}) == row.same for row in test_set("a pair")]
show_table(("understanding: accuracy (%); NER: F1", *(label[task] for task in reading["tasks"])), {
    **{name: ["" if name not in runs else spreads([runs[name]["score"]])[0] for runs in reading["tasks"].values()] for name in ("UniLM", "BERT", "GPT", RANDOM_INIT)},
    "(majority class of the training rows)": [f"{100 * majority(task):.0f}" if task in CLASSES else "" for task in reading["tasks"]],
    "(rule: same capitalized words)": ["", f"{100 * sum(same_names) / len(same_names):.0f}", "", ""]})
for task, better in generation["better"].items():
    worse = {name: [other for other in others if other in pretrained] for name, others in better.items()}
    print(f"{task}:", "; ".join(f"{name} is better than {', '.join(others)}" for name, others in worse.items() if others))
for name, tasks in reading["above"].items():
    print(f"{name}, all seeds: {', '.join(label[task] for task in tasks) or 'on no task'}")

# %% [markdown]
# **What you see.** *Translation*: UniLM, *sequence to sequence* and the encoder–decoder are level, with 86 to 88 % of the sentences correct. BERT reaches 74 %, GPT 68 %, and UniLM's network without pretraining 21 %. No test sentence occurs in the training pairs, and copying the target of the nearest training source is never correct. *Summarization*: the two networks pretrained under the sequence-to-sequence mask reach about two thirds. Copying the first two sentences, without a network, does equally well, with a slightly lower ROUGE-L. BERT and GPT reach about a third, the encoder–decoder 2 %, and UniLM's network without pretraining 0 %; no run explains why the encoder–decoder fails. Summaries are not memorized: 67 of the 100 articles occurred in pretraining, without their summaries, and on the others UniLM reaches 75 %.
#
# Nearly all runs were best at their last evaluation, so more updates might narrow the gaps. GPT and the encoder–decoder were fine-tuned with next-token prediction, the faster method of section 6.
#
# *Understanding*: no task separates UniLM from BERT. The means differ by two points or less, a difference that 300 texts cannot resolve, and the tasks are easy. On NER, UniLM's network without pretraining reaches an F1 of 89. On paraphrase, no network has found the shortcut. Comparing the capitalized words of the two sentences is 98 % accurate; the best network reaches 73 %, and UniLM's network without pretraining 66 %. Pretraining helps most on acceptability (85 %, compared with 52 %) and on extractive QA (91 %, compared with 66 %). GPT attends only to the left context, but no disadvantage is visible. On acceptability its mean is 6 points above UniLM's. By the rule, neither of GPT's two tasks is decided, but one or two more correct texts would have decided either of them.
#
# Two things were changed after the first results. First, the row without pretraining was added. Second, each learning rate had been chosen with one seed only. UniLM then lost on paraphrase, because its other two seeds learned next to nothing at that rate. The learning rates of all models are now chosen by the mean over all seeds.
#
# **Verdict: in the full world, one model for understanding and generation – supported; the mixture helps generation – not supported.** UniLM generates better than BERT and GPT on both tasks (86 % correct translations, compared with 74 and 68 %), and no model generates better than UniLM. In understanding, UniLM and BERT cannot be distinguished on these easy tasks; the paper reports 80.8 and 80.5 (table 11). These results rest on one pretraining run per model and on six million tokens, and in summarization no model clearly beats copying two sentences. But *sequence to sequence*, the same network under one mask, generates as well as the mixture, which used that mask for a third of its training texts. Either the other masks make up for the rest, or both networks have been trained long enough; no run here decides between these explanations.

# %% [markdown]
# ## Exercises (练习)
#
# Put your own code in the place of each stub's last line, and run the cell. Stuck? Take the `#` away before a `hint` and run it; each run
# says a little more. A **solution** (参考答案) is folded away below it.

# %%
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.exercises import case, check, hint, solution

# %% [markdown]
# ### 1 · The sequence-to-sequence mask (序列到序列掩码)
#
# Build the mask of section 1's toy for any lengths. If your function fails on an input, `case("12.1", 1)` returns that input; 1 is the first failing input, 2 the second.

# %%
def source_to_target(source: int, target: int) -> Bool[Tensor, "query key"]:
    """UniLM's sequence-to-sequence attention mask for a source followed by a target.

    The first ``source`` positions are the source, the next ``target`` positions the target. A source
    position attends to the whole source, bidirectionally, and to nothing of the target. A target position
    attends to the whole source, to the target positions before it, and to itself. Row i is the
    query at position i (True = can attend).
    """
    raise NotImplementedError


check("12.1", source_to_target)


# %%
# hint("12.1")

# %%
solution("12.1")

# %% [markdown]
# ### 2 · Four masks from segments (四种掩码)
#
# Extend `attn_mask` of section 1 from one text to a batch with padding.

# %%
def four_masks(segments: Int[Tensor, "batch time"]) -> Bool[Tensor, "batch query key"]:
    """UniLM's attention masks for a batch of texts, determined by the segment ids alone.

    Segments 0 and 1 are the two sentences of a bidirectional text: each position attends to all
    positions of both. In a text of segment 2 (left-to-right), a position attends to itself and the positions before
    it; in a text of segment 3 (right-to-left), to itself and the positions after it. Segment 4 is a source
    and segment 5 the target after it: the source attends to itself, and a target position to the source,
    to itself and to the target positions before it. Every text is of one of these four kinds. Segment −1
    is padding, before or after a text: it attends to nothing, and no position attends to it (True = can attend).
    """
    raise NotImplementedError


check("12.2", four_masks)


# %%
# hint("12.2")

# %%
solution("12.2")

# %% [markdown]
# ### 3 · The log-probability of a text (对数概率) *deeper*
#
# Section 4 generates the most likely token at each step. The same network can also score a given text: how much log-probability does it assign to it?

# %%
def log_probability(
    logits: "Callable[[list[int], list[int]], Tensor]", source: list[int], target: list[int],
) -> float:
    """The log-probability, in nats, that a UniLM assigns to a target given a source.

    The model reads [CLS] source [SEP] target [SEP], with segment 4 up to the first [SEP] and segment
    5 after it. But it predicts a token only at a [MASK]. To predict the next token of the target, it
    reads [CLS] source [SEP], the target tokens before it, and one [MASK] at its position. The last
    prediction is the final [SEP]. Return the sum of log p over all predictions, the tokens of
    ``target`` and this [SEP].

    [CLS] is token id 2, [SEP] is 3, [MASK] is 4. ``logits(tokens, segments)`` takes one text, two lists of
    equal length, and applies the mask of its segments. It returns a tensor [time, vocab]: row t has
    the logits of the token *at* position t.
    """
    raise NotImplementedError


check("12.3", log_probability)


# %%
# hint("12.3")

# %%
solution("12.3")

# %% [markdown]
# ### 4 · Tokens that are never predicted (从未被预测的词元) *deeper*
#
# Fine-tuning masks 70 % of the target in each epoch. How many tokens of the target are never predicted?

# %%
def masked_and_never_masked(positions: int, rate: float, epochs: int) -> tuple[float, float]:
    """Coverage of the target tokens by masked fine-tuning: per epoch, and over all epochs.

    A target has ``positions`` positions, including its [SEP]. A causal loss would predict all of them in
    every epoch. Here only round(rate · positions) of them, at least one, are masked and predicted. They
    are drawn anew in each epoch, without replacement, all with the same probability. Return two
    numbers: the fraction of the positions that are predicted in one epoch; and the expected number of
    positions that are predicted in none of ``epochs`` epochs.
    """
    raise NotImplementedError


check("12.4", masked_and_never_masked)


# %%
# hint("12.4")

# %%
solution("12.4")

# %% [markdown]
# ## Where it went next
#
# UniLM's sequence-to-sequence mask outlived it. **T5** (chapter 13) compared a prefix language model, which has the same mask, with its encoder–decoder, and kept the encoder–decoder. Most language models of 2024–2026 are left-to-right and predict every next token; section 6 shows one reason. But PaliGemma (2024) attends bidirectionally within its input, an image and a prompt, and generates the answer left to right.
#
# Generation by filling masks also returned. **Masked diffusion language models** such as LLaDA (2025) mask a random proportion of the text and predict all masked tokens with bidirectional attention. To generate, they start from masks only and keep some of their predictions at each step. In fine-tuning, LLaDA masks only tokens of the answer, as UniLM does. **GLM** instead fills blanks token by token: [notebook 12b](12b_glm.ipynb).
#
# **References.** Dong et al. 2019, *Unified Language Model Pre-training for Natural Language Understanding and Generation*. Bao et al. 2020, *UniLMv2: Pseudo-Masked Language Models* (appended masks). Beyer et al. 2024, *PaliGemma: A versatile 3B VLM for transfer*. Devlin et al. 2019, *BERT*. Liu et al. 2018, *Generating Wikipedia by Summarizing Long Sequences*. Nie et al. 2025, *Large Language Diffusion Models* (LLaDA). Raffel et al. 2020, *Exploring the Limits of Transfer Learning*.
