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
# # GLM: filling blanks of unknown length (自回归填空)
#
# BERT predicts each masked word at its own [MASK], so its input reveals how many words are missing. A language model such as GPT generates text of any length, but attends only to the words before it, not to those after a gap.
#
# **How can one model fill a gap of unknown length, given the text on both sides?** Du et al. (2022) replace a whole span of words by a *single* [MASK]. Their model, **GLM**, generates the span token by token, until it predicts that the blank ends. In this notebook you build its input with its two position ids, derive its attention mask, train a small GLM, and fill blanks in any order. We test the claim that BERT cannot do this as well, take the objective apart, and classify texts by predicting a word in a blank.
#
# The paper's networks are as large as BERT's, or larger. Ours have 2 or 3 layers and are trained on synthetic English, for which all probabilities are known exactly.
#
# Chapter 12 has two notebooks, because one would take more than two hours. [12a](12a_unilm.ipynb) is about UniLM, and this one, 12b, is about GLM; it can be read alone. Exercises 12.1 to 12.4 are there, 12.5 and 12.6 here.
#
# **Core: 45 minutes. Whole: 90.** The core is everything outside the sections marked *deeper*, and does not depend on them. A folded cell (one grey line) proves or
# measures what the text beside it states. It has been run like the others; click on the line to open it.
#
# ## What you need (预备知识)
#
# - **Token** (词元): an entry of the vocabulary; here a word. **Position id** (位置编号): an index whose learned embedding is added to that of the token. A **span** (片段) is a sequence of adjacent words.
# - **Attention** (注意力): each position (the *query*, 查询) takes a weighted mean of the values at the positions that it can attend to (the *keys*, 键). A **mask** (掩码) determines which these are (chapter 06).
# - **Cloze** (完形填空): some tokens are replaced by [MASK], and the model predicts each of them at its own position (BERT, chapter 08).
# - **Language model** (语言模型): every position predicts the *next* token and attends to no later one (GPT, chapter 07). In a **prefix language model** (前缀语言模型), the first part of the text is encoded bidirectionally, and the rest is predicted in this way.
# - **Nats** (奈特): the loss on a token is $-\log$ of the probability that the model assigned to it; 0 means that the model was certain. **Floor** (下界): the loss of the Bayes-optimal predictor, which is an entropy lower bound. **Seed** (随机种子): each gives different initial weights and batches.
# - **Small World**: the synthetic language of this course, whose floor is known exactly.

# %% [markdown]
# ## The picture: one sentence with two blanks
#
# The sentence is *she saw a crane on the lake*, with two spans masked. Each row is a query, each column a key. Press the buttons at *try this*, which show the inputs of BERT, UniLM and GLM. **Guess first:** which of these inputs reveals how many words are missing?

# %%
from plmlab.labs import MaskLab
from plmlab.labs.mask.lab import MaskPreset
from plmlab.text.words import word_tokenizer

INPUTS = {"BERT": "masked", "UniLM, sequence to sequence": "prefix", "GLM": "blank_infilling", "GLM, one long blank": "document_infilling"}
MaskLab(word_tokenizer(["she", "saw", "a", "crane", "on", "the", "lake"]), text="she saw a crane on the lake", objective="blank_infilling",
        choices={"rate": 0.4}, seed=13, presets=[MaskPreset(title, name, {"rate": 0.4}) for title, name in INPUTS.items()])

# %% [markdown]
# **What you see.** BERT and UniLM have one [MASK] per missing word, so the input reveals their number. GLM has one [MASK] per blank, whatever its length. The missing words follow after the text: first *the lake*, the second blank, then *saw a crane*. The text with the blanks is visible everywhere and attends to itself only; a generated word attends to this text and to all words generated before it.

# %% [markdown]
# ## 1 · The input: autoregressive blank infilling (自回归填空)
#
# GLM masks whole spans and replaces each by a single [MASK], a **blank** (空白). The network fills a blank token by token and closes it with [END], so it has to determine the length itself.
#
# **Part A** of the input is the text with its blanks. Its positions attend to all of Part A, bidirectionally, and to no position of Part B. **Part B** holds the masked spans, each preceded by [START]. It attends to Part A and to its own earlier positions, as in GPT, and each position predicts the *next* token. The [MASK] itself predicts nothing, unlike in BERT. The spans are put into a random order (a **permutation**, 排列) for each text, so that the network learns to fill each blank given any of the others. Each token has **2D positions** (二维位置编码), two position ids: its position in Part A, and its position within its blank, the **intra-span position** (片段内位置). The embeddings of both are added.
#
# **A toy,** which is figure 2 of the paper. The spans *x₃* and *x₅ x₆* are masked, and the second is filled first. [M], [S] and [E] are [MASK], [START] and [END].
#
# | | Part A | | | | | Part B, first | | | then | |
# |---|---|---|---|---|---|---|---|---|---|---|
# | input | *x₁* | *x₂* | [M] | *x₄* | [M] | [S] | *x₅* | *x₆* | [S] | *x₃* |
# | position 1 | 1 | 2 | 3 | 4 | 5 | 5 | 5 | 5 | 3 | 3 |
# | position 2 | 0 | 0 | 0 | 0 | 0 | 1 | 2 | 3 | 1 | 2 |
# | target | | | | | | *x₅* | *x₆* | [E] | *x₃* | [E] |
#
# All positions of a blank share the first position id of its [MASK]. So nothing in Part A reveals that the first blank holds one word and the second two. The model factorizes the probability of the spans, each from left to right:
#
# $$\log p(s_{z_1}, \dots, s_{z_m} \mid x_{\text{corrupt}}) = \sum_{i=1}^{m} \sum_{j=1}^{l_i + 1} \log p\,(s_{z_i, j} \mid x_{\text{corrupt}},\; s_{z_{<i}},\; s_{z_i, <j})$$
#
# $x_{\text{corrupt}}$ is Part A, and $z$ is the order of filling. The $i$-th span to be filled, $s_{z_i}$, has $l_i$ words, and its last token, $j = l_i + 1$, is [END]. Each factor is conditioned on Part A, on the spans filled before, and on the earlier words of the same span. In the toy, where $z$ is 2, 1, the factors are $p(x_5 \mid A)$, $p(x_6 \mid A, x_5)$, $p([\mathrm{E}] \mid A, x_5 x_6)$, $p(x_3 \mid A, x_5 x_6)$ and $p([\mathrm{E}] \mid A, x_5 x_6, x_3)$.
#
# The attention mask follows from the second position id alone. It is the mask of a prefix language model, and UniLM's sequence-to-sequence mask, with Part A as the source:

# %%
import torch


def blank_attn_mask(second):
    """The attention mask [query key] of one text, from its second position ids (0: Part A)."""
    position = torch.arange(len(second))
    return (second == 0) | (position <= position[:, None])


print(blank_attn_mask(torch.tensor([0, 0, 0, 0, 0, 1, 2, 3, 1, 2])).int())

# %% jupyter={"source_hidden": true} tags=["proof"]
# Golden values of the toy, written by hand from the paper's figure; and our mask equals plmlab's for any text, and UniLM's
from random import Random

from plmlab.objectives import blank_infilling, document_infilling, masked_seq2seq_target, sentence_infilling
from plmlab.text.vocabulary import Vocabulary

vocab = Vocabulary(60)                                   # ids of special tokens; words from 39 on
MASK, START, END, x = vocab.mask, vocab.need("start"), vocab.need("end"), list(range(40, 46))
toy = blank_infilling(x, vocab=vocab, rng=Random(0), spans=[(2, 3), (4, 6)], order=[1, 0])
assert toy.tokens.tolist() == [x[0], x[1], MASK, x[3], MASK, START, x[4], x[5], START, x[2]]
assert toy.targets.tolist() == [-100] * 5 + [x[4], x[5], END, x[2], END]
assert toy.position_ids.tolist() == [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]]
by_hand = ["1111100000"] * 5 + ["1111110000", "1111111000", "1111111100", "1111111110", "1111111111"]
assert ["".join(str(int(cell)) for cell in row) for row in blank_attn_mask(toy.position_ids[1])] == by_hand
examples = [objective(range(40, 40 + n), vocab=vocab, rng=Random(n)) for n in range(1, 20) for objective in (blank_infilling, document_infilling, sentence_infilling)]
for one in examples:
    assert torch.equal(blank_attn_mask(one.position_ids[1]), one.visible.dense())
    a, b = ((one.position_ids[1] == 0) == part for part in (True, False))
    if a.sum() > 1:                                      # UniLM's source has [CLS] and [SEP], its target [SEP]
        unilm = masked_seq2seq_target(x[:1] * (int(a.sum()) - 2), x[:1] * (int(b.sum()) - 1), vocab=vocab, rng=Random(0), select=())
        assert torch.equal(unilm.visible.dense(), one.visible.dense())
print(f"the toy equals the figure; the masks of {len(examples)} texts under three objectives are equal")

# %% [markdown]
# If the only blank extends to the end of the text, GLM is a prefix language model. The text before the blank is encoded bidirectionally, and the rest is generated. Spans are short: their lengths follow a **zero-truncated Poisson distribution**, Poisson(3) without the value 0. A second objective can be mixed in, with one blank of half the text or more (**document level**) or with whole sentences masked (**sentence level**).
#
# Three common claims about GLM are wrong. **"It shuffles the words of a span"** (打乱片段内部的顺序): it shuffles the spans, never the words within a span. **"The second position id is a segment id"** for Part A and Part B: it counts the positions within a blank. **"The words of a span are predicted independently"**: a product without the condition $s_{z_i,<j}$ would mix first and last names. For *[MASK] is a baker* it would assign 62 % of the probability to names that no baker has, such as *Helen Kessler*.

# %% jupyter={"source_hidden": true} tags=["proof"]
# Span lengths follow Poisson(3) without 0; spans are shuffled, their words are not; and what a product without the earlier words loses
from scipy.stats import poisson

from plmlab import world
from plmlab.world.probability.blanks import BLANK, Blanks

long_texts = [blank_infilling(range(40, 1040), vocab=vocab, rng=Random(i)) for i in range(200)]
counts = torch.bincount(torch.cat([one.position_ids[1] for one in long_texts]))      # how often each second position id occurs
at_least, expected = (counts[2:12] / counts[1]).tolist(), (poisson.sf(range(10), 3) / poisson.sf(0, 3)).tolist()
print(f"{counts[1]} spans · of at least 1, 2, … words:", *(f"{p:.2f}" for p in at_least), "· Poisson:", *(f"{p:.2f}" for p in expected))
next_word = torch.cat([one.tokens.diff()[one.position_ids[1][1:] > 2] for one in long_texts]).unique().tolist()
backward = torch.cat([one.position_ids[0][one.position_ids[1] == 1].diff() < 0 for one in long_texts]).float().mean()
print(f"steps within a span: {next_word} · next span to the left of the last: {backward:.0%}")
names = {name: p for name, p in Blanks(world.small().automaton("train"), [BLANK, "is", "a", "baker", "."]).likeliest(0, 10_000) if len(name) == 2}
first, last = ({name[i]: sum(p for other, p in names.items() if other[i] == name[i]) for name in names} for i in (0, 1))
lost = 1 - sum(first[a] * last[b] for a, b in names) / sum(names.values()) ** 2
print(f"[MASK] is a baker: {', '.join(' '.join(name) for name in sorted(names))}; independent words give {lost:.0%} to other names")
assert max(abs(ours - exact) for ours, exact in zip(at_least, expected)) < 0.01 and next_word == [1] and abs(backward - 0.5) < 0.02 and lost > 0.5

# %% [markdown]
# ## 2 · The network: BERT with pre-norm and two position embeddings (前置归一化)
#
# The network is BERT's, with three changes. First, there are two position embeddings and no segments. Second, the layers are **pre-norm** (前置归一化): LayerNorm is applied before each sublayer and once more at the end. BERT is post-norm and also normalizes the embeddings. Third, the output layer is the tied embedding matrix, without BERT's extra layer and bias. In terms of `torch.nn`:

# %%
from functools import partial

from torch import nn
from torch.nn import functional as F


class TorchGLM(nn.Module):
    def __init__(self, words, positions, layers, model, heads):
        super().__init__()
        self.token, self.in_text, self.in_blank = (nn.Embedding(n, model) for n in (words, positions, positions))
        layer = nn.TransformerEncoderLayer(model, heads, 4 * model, dropout=0.0, batch_first=True, norm_first=True,
                                           activation=partial(F.gelu, approximate="tanh"))
        self.layers = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(model), enable_nested_tensor=False)

    def forward(self, tokens, position_ids):             # of one text, [time] and [2 time]
        x = self.token(tokens) + self.in_text(position_ids[0]) + self.in_blank(position_ids[1])
        x = self.layers(x[None], mask=~blank_attn_mask(position_ids[1]))[0]
        return x @ self.token.weight.T                   # tied output layer: logits [time words]

# %% jupyter={"source_hidden": true} tags=["proof"]
# With copied weights, plmlab's GLM has the logits of these layers of torch.nn, in one forward pass and token by token
from plmlab.example import Batch
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.models.infilling import BlankInfiller

def modules_of(model):
    return [part for name, part in model.named_modules() if isinstance(part, (nn.Embedding, nn.Linear, nn.LayerNorm)) and not name.endswith((".q", ".k", ".v"))]

torch.manual_seed(0)
theirs, ours = TorchGLM(60, 21, 2, 16, 4).eval(), GLMPretraining(GLMConfig(60, 20, 2, 16, 4, 64)).eval()
for weight in theirs.parameters():
    nn.init.normal_(weight, std=0.5)                     # norms and biases too, so that no difference is hidden
for a, b in zip(modules_of(ours), modules_of(theirs), strict=True):
    a.load_state_dict(b.state_dict())
for a, b in zip((layer.attention for layer in ours.encoder.layers), (layer.self_attn for layer in theirs.layers.layers)):
    for projection, weight, bias in zip((a.q, a.k, a.v), b.in_proj_weight.chunk(3), b.in_proj_bias.chunk(3)):
        projection.load_state_dict({"weight": weight, "bias": bias})
infiller = BlankInfiller(ours, [toy.tokens[:5].tolist()], vocab, orders=[[1, 0]])
with torch.no_grad():
    for one in examples:
        assert torch.allclose(ours(Batch.of([one], pad=0))[0], theirs(one.tokens, one.position_ids), atol=1e-4)
    state = infiller.start()
    stepwise = torch.stack([infiller.step(token.view(1, 1), state)[0, 40:60] for token in toy.tokens[5:]])
    assert torch.allclose(stepwise, theirs(toy.tokens, toy.position_ids)[5:, 40:], atol=1e-4)
print(f"equal on {len(examples)} texts in one forward pass, and on the toy token by token")

# %% [markdown]
# ## 3 · Train it on blanks, beside the floor
#
# We train plmlab's module on sentences of the Small World in which spans are masked until they cover three words in ten. The floor (the entropy lower bound) is known exactly. It is the loss of the Bayes-optimal predictor, which knows the grammar and how spans are drawn, but not the length of a blank. **Guess:** where is this predictor's loss higher, on the words of a blank or on where the blank ends?

# %% jupyter={"source_hidden": true} tags=["measure"]
# The floor: the loss of the Bayes-optimal predictor, which knows the grammar and how spans are drawn
from plmlab.world.probability.drawn_spans import blank_spans
from plmlab.world.probability.infilling import drawn_blanks

small = world.small()
floor = small.floor(partial(blank_infilling, rate=0.3), split="test", reader=partial(drawn_blanks, drawing=partial(blank_spans, rate=0.3))).mean
print(f"floor: {floor:.3f} nats per word or [END]")

# %% tags=["nbval-ignore-output"]
from plmlab.train import fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

torch.set_num_threads(1)                       # sentences are so short that a second thread would only wait
corrupt = partial(blank_infilling, rate=0.3)   # mask spans until they cover 30 % of the words
train, held_out = (sentence_batches(small, split, small_world_tokenizer(), corrupt, 32, seed)
                   for split, seed in (("train", 0), ("test", 77)))
torch.manual_seed(0)
glm = GLMPretraining(GLMConfig(len(small_world_tokenizer()), time=64, layers=2, model=64, heads=4, inner=256,
                               dropout=0.0, attention_dropout=0.0))
history = fit(glm, train, steps=600, lr=1e-2, warmup=60, evaluate=[held_out(i) for i in range(8)],
              evaluate_every=100, floor=floor)
history.figure(f"A GLM fills blanks: {history.validation[-1][1] - floor:.2f} nats above its floor").show()

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Loss and accuracy on the blanks of 300 test sentences (not those of the curve): this GLM and the Bayes-optimal predictor
from plmlab.chapters.ch12 import blank_arms, blank_test_set, blanks_ablated
from plmlab.tables import show_table, spreads
from plmlab.world.probability.blanks import DrawnBlanks

rows, paper = blank_test_set.rows("test_set"), blank_arms.ARMS[blank_arms.PAPER]
posteriors = [DrawnBlanks(small.automaton("test"), row.text, drawing=blank_test_set.how_drawn(row)) for row in rows]
best = [blank_test_set.likeliest_fillings(posterior, range(posterior.count))[0] for posterior in posteriors]
results = {"this GLM": (blanks_ablated.losses_of(glm, paper, rows, ordered=False), blank_arms.fillings(glm, paper.shown, rows)),
           "Bayes-optimal predictor": (blanks_ablated.floor(rows, ordered=False, length_known=False), best)}
show_table(("300 test sentences", "loss (nats per word or [END])", "loss on where blanks end (nats per blank)", "exact match (%)", "correct lengths (%)"), {
    name: (f"{loss['nats']:.2f}", f"{loss['ends']:.4f}", *(f"{100 * blank_test_set.scores_of(rows, fillings)[key]:.0f}" for key in ("right", "length"))) for name, (loss, fillings) in results.items()})
assert 0 < results["this GLM"][0]["nats"] - results["Bayes-optimal predictor"][0]["nats"] < 0.5

# %% [markdown]
# **What you see.** The Bayes-optimal predictor has almost no loss on where a blank ends, because the words inside and around a blank nearly always show whether it is complete. Its loss comes from the words, mostly from the first one, which often decides the length: in *the [MASK] .* a blank that begins with *capital* has five words, and one that begins with *bat* has seven. So a low loss on the ends does not mean that the length is known in advance. The network still has a loss on the ends. It fills all blanks of a sentence correctly less often than a lookup in the training sentences, which contain nearly all test sentences (section 5). Even the Bayes-optimal predictor is correct for only about half of the sentences, because several fillings are often equally likely.
#
# ## 4 · The Blank Lab
#
# Your GLM fills the blanks of a sentence token by token. To mask words, drag over them, or hold Shift with an arrow key and press Enter. Drag the blanks at *order of filling (Part B)* and watch the attention mask change. Before you press *Show the answer*, **guess**: what does the blank that is filled last attend to, and what does the model know about its length? Its probabilities are shown next to those of an exact posterior, which knows the grammar but, unlike the predictor above, not how spans are drawn. Choose a word other than the most likely one and see how the next bars change. Under *fill it in yourself* you enter both position ids.

# %% tags=["nbval-ignore-output"]
from plmlab.labs import BlankLab

BlankLab(glm, small_world_tokenizer(), world=small, split="test")

# %% [markdown]
# **What you see.** The blank that is filled last also attends to the one that is filled first. Once *are* has been generated, the noun before it in the text must be plural, so the exact posterior gives *cup* probability 0. The network has not learned this yet: it generates *cup*, and then words that do not form a sentence. Now press *subject first*. Four nouns are equally likely, and the network chooses *cup*; the exact posterior then gives the original verb, *are*, probability 0. Press *cups* instead, and *are* is certain.
#
# In both orders the exact posterior has a total loss of 3.28 nats. If its loss on the first blank is higher, its loss on the second is lower by the same amount. No position id encodes the length, but the grammar often determines it. After *cups*, the grammar allows two continuations: the blank ends, with probability 60 %, or *under* follows.
#
# The last table of the lab compares BERT, T5 and GLM. T5 (chapter 13) marks each blank with its own **sentinel** token (哨兵词元).

# %% [markdown]
# ## 5 · The claim: blanks of unknown length
#
# According to GLM's authors, BERT cannot fill a blank of several words well, because it predicts the words independently and has to try all lengths. We test GLM and BERT on 300 sentences of the Small World. All models are trained on the same number of tokens, each at its own best learning rate, with three seeds.
#
# - **GLM** fills each blank token by token until it predicts [END].
# - **BERT, lengths given** receives one [MASK] per word. It has more information than GLM.
# - **BERT, all lengths** tries every combination of lengths and keeps the filling with the best score. The score, the order of filling and the pretraining (single words or whole spans masked) are chosen on a development set (开发集) of other sentences. **With a length prior**, this BERT also knows how often each length occurs in training for the given number of visible words.
# - **The exact posterior** knows the grammar and how spans are drawn. No model can have a higher expected accuracy.
#
# The chosen score is the **pseudo-log-likelihood** (伪对数似然) of the completed text: mask each word in turn and add up the log-probabilities. If one [MASK] filled with *the* scores −4 and two filled with *the old* score −6, BERT keeps the first. With the prior, twice the log-probability of the length is added to this score.
#
# Often several fillings are equally likely, and which one is correct is a matter of luck. We therefore compare the **expected accuracy** (期望准确率): the probability of a filling under the exact posterior, averaged over sentences. **Before running:** the claim is *supported* if every seed of GLM has a higher expected accuracy than every seed of BERT with all lengths, with and without the prior, by more than 0.01. It is *not supported* if one of these BERTs leads GLM by the same margin. **Guess:** is GLM closer to the exact posterior or to BERT?

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed results: how well GLM, BERT, the exact posterior and two simple baselines fill blanks of unknown length
from plmlab.recipes import recorded

numbers = recorded("12")["numbers"]
filling = numbers["unknown length"]
models = {"GLM": "GLM, 2500", **{name: name for name in ("BERT, lengths given", "BERT, all lengths", "BERT, with a length prior")}}
others = {"exact posterior": ("exact", "likeliest"), "exact posterior, lengths given": ("exact", "lengths given"),
          "(lookup in the training sentences)": ("baselines", "table"), "(most frequent words between the neighbours)": ("baselines", "between neighbours")}
for part, title in (("test_set", "300 test sentences"), ("unread", "9 unseen sentences, 90 rows")):
    scores = {name: filling["filled"][part][key] for name, key in models.items()}
    show_table((title, "expected accuracy", "exact match (%)", "correct lengths (%)", "sentences of the world (%)"), {
        **{name: ("–" if "given" in name else spreads([score["chance"]], 3)[0], *spreads([score[key] for key in ("right", "length", "sentence")])) for name, score in scores.items()},
        **{name: ("–" if "given" in name else f"{filling[kind][part][key]['chance']:.3f}", *(f"{100 * filling[kind][part][key][measure]:.0f}" for measure in ("right", "length", "sentence"))) for name, (kind, key) in others.items()}})
    assert all((scores["GLM"]["chance"]["low"] > scores[name]["chance"]["high"]) == (part == "test_set") for name in ("BERT, all lengths", "BERT, with a length prior"))
print("the claim:", filling["verdict"], f"· test sentences that occur in the training text: {filling['baselines']['test_set']['read']:.0%}")
print(f"forward passes per sentence: GLM {filling['filled']['test_set']['GLM, 2500']['readings']['mean']:.0f}, BERT, all lengths {filling['readings']['all lengths']:.0f}")

# %% [markdown]
# **What you see.** The main difference is the amount of computation: GLM needs 5 forward passes per sentence, one for each token it generates ([END] included); BERT with all lengths needs 284. The accuracy is nearly the same. Every seed of GLM has a higher expected accuracy than every seed of BERT with all lengths, with and without the prior, but its lead over the better of the two is smaller than the margin. There is hardly any room for improvement: a lookup in the training sentences, without any network, reaches 0.512, and the exact posterior 0.523. In so small a world everything can be memorized.
#
# On unseen sentences the order is reversed: every seed of both BERTs is above every seed of GLM, again by less than the margin. There are 90 such rows, but they come from only 9 sentences; 95 % of the test sentences occur in the training text.
#
# Exact match depends partly on luck: it is lower for the lookup than for GLM, and for one seed of BERT with lengths given it is higher than for the exact posterior. With the lengths given, exact match rises from 53 % to 57 % for the exact posterior. BERT then reaches 55 % on average, but its worst seed leads the best BERT without lengths by less than the margin.
#
# **Verdict: GLM fills blanks of unknown length better than BERT – no effect at this size.** The expected accuracy is 0.510 for GLM and 0.499 for BERT with a length prior; on unseen sentences BERT is slightly better. The paper's argument that such a BERT has to enumerate the lengths is correct: it takes 284 forward passes, compared with 5. Testing whether GLM's fillings are *better* requires a world in which the context determines less.
#
# ## 6 · What each part contributes: ablations (消融) *deeper*
#
# The paper ablates its objective, and so do we. We change one thing at a time in the same network, each variant at its own best learning rate, with three seeds. Below is the toy of section 1 as the input of each variant; the bar separates Part A from Part B:

# %% jupyter={"source_hidden": true} tags=["measure"]
# The toy of section 1 under each change: input and both position ids, as plmlab builds them
from plmlab.chapters.ch12.blank_arms import ARMS, IN_ORDER, LENGTH_KNOWN, PAPER

symbols = dict(zip((*x, MASK, START, *vocab.sentinels[:2]), ("x₁", "x₂", "x₃", "x₄", "x₅", "x₆", "[M]", "[S]", "[X0]", "[X1]")))

def as_presented(name):
    example = ARMS[name].shown(blank_infilling(x, vocab=vocab, rng=Random(0), spans=[(2, 3), (4, 6)], order=[0, 1] if ARMS[name].ordered else [1, 0]), None)
    return [" ".join([*map(str, row[:5]), "¦", *map(str, row[5:])]) for row in ([symbols[token] for token in example.tokens.tolist()], *example.position_ids.tolist())]

show_table(("variant", "input", "position 1", "position 2"), {name: as_presented(name) for name in list(ARMS)[:7]})

# %% [markdown]
# - **Sentinels**: each blank has its own sentinel, as in T5, but numbered in the order of filling. In *sentinels, no position*, Part B does not encode the position of a blank.
# - **No intra-span positions**: the second position id only distinguishes Part B from Part A.
# - **Whole-text positions**: every word has its position in the complete text, as in XLNet. Here *x₄*, at position 4, reveals that the blank before it has one word. A blank at the end has no word after it, so its length stays unknown.
# - **Consecutive positions**: the positions of Part B continue where those of Part A end.
# - **With document blanks, with sentence blanks**: half of the texts are masked at the document level or at the sentence level, respectively.
#
# **Before running:** losses are measured above each variant's *own* floor. A variant is *worse* than its reference if the loss of each of its seeds is at least 0.02 nats higher than that of each of the reference's seeds, and *better* in the opposite case. The reference is the paper's variant; for *consecutive positions* it is *left-to-right order*, and for *sentinels, no position* it is *one sentinel per span*, a comparison that was added after a first result. Order and sentinels are judged on sentences with several blanks, because a single blank has no order. *Whole-text positions* reveal the length if each seed has a lower loss on the lengths than every seed of the paper's variant, and if this reduction is at least half of the reduction that these positions allow the exact posterior. **Guess:** which of these changes hurts?

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed results: the loss of each variant above its own floor, and the decision of the rule
ablations = numbers["ablations"]
final = {name: result["2500"] for name, result in ablations["told"].items()}
rule = {name: [ablations["compared"].get(name, {}).get(part, "")for part in ("test_set", "several")] for name in final}
show_table(("loss above the floor (nats per word or [END])", "test set", "rule", "several blanks", "rule", "exact match (%)"), {
    name: (*spreads([result["above"]["test_set"]], 3), rule[name][0], *spreads([result["above"]["several"]], 3), rule[name][1], *spreads([result["right"]])) for name, result in final.items()})
assert {name for name in final if "worse" in rule[name]} == {"sentinels, no position", "with document blanks", "with sentence blanks"}
print("loss on the lengths (nats per sentence):", "; ".join(f"{name} {spreads([final[name]['lengths']], 2)[0]}, floor {ablations['floors'][order]['test_set']['lengths']:.2f}" for name, order in ((PAPER, "a random order"), (LENGTH_KNOWN, LENGTH_KNOWN))),
      "· of the possible saving, by seed:", ", ".join(f"{share:.0%}" for share in ablations["read off"]["shares"]))
print("several blanks, nats in the order of training → in the other order:", "; ".join(f"{name} {' → '.join(spreads([final[name]['several']['nats'], final[name]['other order']], 3))}" for name in (PAPER, IN_ORDER)))

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed results: what second objectives change in generated texts, and what they cost
from itertools import islice

grammar = sum(len({sentence.words for sentence in islice(small.sentences("test", seed), 200)}) / 6 for seed in range(3))
show_table(("variant, 200 generated texts", "unconditional: sentences of the world (%)", "unconditional: in the training text (%)", "unconditional: distinct (%)", "continuing half a sentence: sentences of the world (%)"), {
    **{name: spreads([*(final[name]["nothing"][key] for key in ("sentences", "read", "different")), final[name]["half"]["sentences"]])
       for name in (PAPER, "with document blanks", "with sentence blanks")}, "(sampled from the grammar)": ("100", "–", f"{grammar:.0f}", "–")})
print("loss above the floor with several blanks, paper, after half of its training:", *spreads([ablations["told"][PAPER]["1250"]["above"]["several"]], 3))

# %% [markdown]
# **What you see.** One variant is clearly worse: *sentinels, no position*. It was run first, on its own, as a test of the sentinels. *One sentinel per span* was then added to separate the effect of the sentinels from that of the missing positions, and is as good as a single [MASK]. So the higher loss is due to the missing position id, which links a token to its blank. The *order* matters only when blanks are filled in a different order from that in training: the loss of *left-to-right order* then rises from 0.235 to 0.561 nats. Without the intra-span positions, a token can still attend to the earlier words of its blank. *Consecutive positions* are slightly worse than *left-to-right order*, but within the margin.
#
# *Whole-text positions* lower the loss on the lengths from 0.32 to 0.11 nats. Both values are close to their floors, 0.31 and 0.10, so the paper's variant predicts lengths well, too. A lower loss is not an advantage here, because such positions cannot be used where the length is unknown. The loss on the lengths counts only fillings that form a sentence of the world.
#
# *Second objectives* raise the loss by less than 0.02 nats on the whole test set, although each seed with document blanks is worse than each seed of the paper's variant. With several blanks both are worse, but they were trained on only half as many blanks of this kind. After half of its training, the paper's variant was 0.093 nats above its floor, compared with 0.076 and 0.070 for these two. Second objectives do not help the model to continue half a sentence. Nearly all generated sentences occur in the training text, because the world is small.
#
# **Whole-text positions reveal the length – supported.** They achieve 98 % or more of the possible reduction of the loss on the lengths.
#
# **One [MASK] is better than sentinels – no effect at this size.** With several blanks, the paper's variant is 0.042 nats above its floor and *one sentinel per span* 0.041. What helps, after 2,500 updates, is to give Part B the position of the blank; without it the loss is 0.106 nats above the floor. In the paper (table 6, SuperGLUE after fine-tuning) sentinels lower the score from 77.0 to 76.0.
#
# **A random order helps – no effect at this size.** With several blanks, *left-to-right order* is 0.039 nats above its floor, compared with 0.042 for the paper's variant. In the paper the random order makes a large difference: 77.0, compared with 68.5 without it. **2D positions help – no effect at this size:** with and without intra-span positions, the loss is 0.023 nats above the floor on the test set.
#
# **Second objectives increase diversity – supported, by a comparison made after the runs.** In unconditional generation, 62 % and 63 % of the generated texts are distinct, compared with 43 % for the paper's variant and 60 % for the grammar. By the rule these two variants are not worse on the whole test set. The paper's networks are far larger and its texts far longer, and it evaluates downstream tasks, which we do not.
#
# ## 7 · The bundled GLM, and classification as a cloze (完形填空式分类) *deeper*
#
# `glm-world` was trained on 8 million tokens of the full world's English, with the same kind of blanks. **Guess:** in *the dolls beside the drawer are missing* one blank hides *dolls* and another *drawer are*; the second is filled first. If the model generates *are* there, what does it predict in the other?

# %% tags=["nbval-ignore-output"]
from plmlab.checkpoints import load
from plmlab.labs import BlankLab

glm_world, tokenizer = load("glm-world")
BlankLab(glm_world, tokenizer, world=world.full(), step=3)

# %% [markdown]
# **What you see.** The model has generated *boxes are* in the blank that is filled first. In the other blank it assigns nearly equal probability to the four toys that fit, all of them plurals; the network of section 3 had not learned this yet. Unlike the exact posterior, the model also knows that spans are short, so its loss is lower.
#
# GLM can also classify. With BERT, we add a **classification head** (分类头), a new linear layer. GLM's authors instead predict the class as a word in a blank. For acceptability, the input is, for example, *The mirrors near the desk is expensive ? [MASK] .*, and the model predicts *yes* or *no*. The text around the blank is the **pattern** (模板), and the word that represents a class is its **verbalizer** (标签词); both terms are from PET (Schick and Schütze 2021). The probability of a class is that of its verbalizer, renormalized over all verbalizers. If the model assigns 0.02 to *no* and 0.06 to *yes*, the class *no* has probability 0.02/0.08 = 0.25:
#
# $$p(y \mid x) = \frac{p(v(y) \mid c(x))}{\sum_{y'} p(v(y') \mid c(x))}$$
#
# $c(x)$ is the text in its pattern, and $v(y)$ the verbalizer of class $y$. **Guess:** which of these tasks does the model solve **zero-shot** (零样本), without any labels: number agreement (*is* or *are*), acceptability, paraphrase (*in A Gentle Night, Karl Barnes plays the leading role ? [MASK] , Judith Cole plays a part in The Golden Kingdom .*)?

# %%
from plmlab.objectives.blanks import infilled


def class_probs(model, text, verbalizers):
    """The probability of each class of a text with one blank: that of its verbalizer, renormalized."""
    example = infilled(tokenizer.encode(text, plain=True), [[]], [0], tokenizer.vocab)     # Part B: only [START]
    with torch.no_grad():
        logits = model(Batch.of([example], pad=tokenizer.vocab.need("pad")))[0, -1]        # its next token
    return logits[[tokenizer.id(word) for word in verbalizers]].softmax(-1).tolist()


for text, verbalizers in (("the keys to the old cabinet [MASK] on the table .", ("is", "are")),
                          ("the mirrors near the desk are expensive ? [MASK] .", ("no", "yes")),
                          ("the mirrors near the desk is expensive ? [MASK] .", ("no", "yes"))):
    print(f"{text:52}", " ".join(f"{word} {p:.2f}" for word, p in zip(verbalizers, class_probs(glm_world, text, verbalizers))))

# %% [markdown]
# The model predicts the verb correctly, because blanks of this kind occurred in pretraining. For *the mirrors* it prefers *yes* in both sentences. Here is the zero-shot accuracy on 300 rows of each task:

# %% jupyter={"source_hidden": true} tags=["measure"]
# Zero-shot accuracy of the cloze on 300 rows of three tasks, and on questions of the world's own text
from plmlab.chapters.ch12 import cloze_tasks
from plmlab.chapters.ch12.cloze_classifiers import at_position
from plmlab.transfer import batch_of

task_names, table = {"number": "number agreement", "one sentence": "acceptability", "a pair": "paraphrase"}, {}
for name, task in cloze_tasks.TASKS.items():
    batch, words = batch_of(partial(cloze_tasks.read_by_glm, task), task.test_set()["score"]), [tokenizer.id(word) for word in task.verbalizers]
    with torch.no_grad():
        probs = glm_world.token_logits(at_position(glm_world.encoder(batch), batch)).softmax(-1)[:, words]
    accuracy = sum(int(prediction == task.kind(row)) for prediction, row in zip(probs.argmax(-1), task.test_set()["score"])) / len(probs)
    table[task_names[name]] = f"{100 * accuracy:.0f}", f"{100 * cloze_tasks.majority(name):.0f}", f"{probs.sum(-1).median():.3f}"
    assert accuracy > 0.95 if name == "number" else abs(accuracy - 0.5) < 0.1
show_table(("without labels", "accuracy (%)", "majority class (%)", "probability of both verbalizers, median"), table)
asked = [(one.words[:at], one.words[at], one.words[at + 1:]) for one in islice(world.full().sentences("test", 77), 4000) for at in range(1, len(one.words)) if one.words[at - 1] == "?" and one.words[at] in ("yes", "no")]
correct = sum((answer == "yes") == (class_probs(glm_world, " ".join([*before, "[MASK]", *after]), ("no", "yes"))[1] > 0.5) for before, answer, after in asked) / len(asked)
print(f"number agreement with an attractor: {100 * numbers['as cloze']['zero']['number']['GLM, cloze']['attracted']:.0f} % · {len(asked)} questions of the world with their answer masked: {correct:.0%}")
assert correct > 0.95

# %% [markdown]
# **What you see.** On number agreement the accuracy is nearly perfect, even with an **attractor**, a noun of the other number between subject and verb, because pretraining poses exactly this task. The same is true of *yes* and *no* after the world's own questions. On acceptability and paraphrase the model is at chance. A statement followed by a question mark is not a question of this world, and the two verbalizers together have little probability (last column). So with these patterns a cloze works zero-shot only where pretraining poses the task. Does it at least need fewer labels than a head? In the paper's table 6, GLM scores 77.0 on SuperGLUE as a cloze and 70.0 with a classifier. We compare the two with 32, 128 and 1,024 labels:
#
# - **Cloze**: the model above, with all weights fine-tuned. **Head**: a new layer on the same vector for the same text, with all weights fine-tuned.
# - The same for a **BERT** of the same size, pretrained on the same number of tokens. For acceptability and paraphrase, its head reads the plain text, at [CLS], so cloze and head differ in two respects there.
# - **Linear probe** (线性探针): a ridge regression on the pretrained vectors, whose weights stay frozen. It was added after the runs, at the request of a sceptical reader.
# - **Verbalizers exchanged**: GLM's cloze with *yes* and *no* swapped. This keeps the format but not the meaning.
#
# Each variant uses its best learning rate for each number of labels. Each run keeps the checkpoint that is best on a development set of 200 other rows; the pretrained weights are one of the candidates. All three seeds are evaluated on the same 300 test rows.
#
# **Before running:** one variant is *above* another if the accuracy of each of its seeds exceeds that of each of the other's seeds by more than 2 points. *A cloze beats a head with few labels* is supported if the cloze is above the head with 32 labels, and not supported if the head is above the cloze. *The advantage disappears with more labels* is supported if neither is above the other with 1,024. *The meaning of the words matters* is supported if the cloze, with 32 labels, is above the one with exchanged verbalizers. Each task is judged separately. Two rules were changed after the first runs on number agreement, but before any comparison. The pretrained weights became a candidate checkpoint, because 50 updates on 32 labels made the cloze worse than without labels. And learning rates are now chosen over all seeds. **Guess:** for which tasks is the claim supported?

# %% jupyter={"source_hidden": true} tags=["measure"]
# Precomputed results: accuracy of cloze and head by the number of labels, beside baselines without a network; and the decisions of the rules
from plmlab.plots import lines

as_cloze, compared = numbers["as cloze"], ("GLM, cloze", "GLM, head", "BERT, cloze", "BERT, head")
rules = {"number": ("second word ends in -s", lambda row: (*row.before, *row.behind)[1].endswith("s")), "one sentence": ("always yes", lambda row: True),
         "a pair": ("same capitalized words", lambda row: {word for word in row.first if word[0].isupper()} == {word for word in row.second if word[0].isupper()})}
for name, by_labels in as_cloze["tasks"].items():
    zero, frozen, task, test_rows = as_cloze["zero"][name], as_cloze["frozen"][name], cloze_tasks.TASKS[name], cloze_tasks.TASKS[name].test_set()["score"]
    show_table((f"{task_names[name]}: accuracy (%) by labels", "none", *by_labels), {
        **{variant: [f"{100 * zero[variant]['score']:.0f}" if variant in zero else "–", *(spreads([result[variant]["score"]])[0] if variant in result else "–" for result in by_labels.values())]
           for variant in (*compared, "GLM, cloze, verbalizers exchanged")},
        **{variant.replace("head", "linear probe"): ["–", *(spreads([result[variant]["score"]])[0] for result in frozen.values())] for variant in ("GLM, head", "BERT, head")},
        "(majority class)": [f"{100 * as_cloze['majority'][name]:.0f}", "", "", ""],
        f"(rule: {rules[name][0]})": [f"{100 * sum(rules[name][1](row) == bool(task.kind(row)) for row in test_rows) / len(test_rows):.0f}", "", "", ""]})
show_table(("by the rules", "GLM: cloze beats head, 32 labels", "advantage disappears", "BERT: cloze beats head, 32 labels", "advantage disappears", "meaning of the words"), {
    task_names[name]: [*decisions["GLM"].values(), *decisions["BERT"].values(), decisions["meaning"]] for name, decisions in as_cloze["verdicts"].items()})
number, zero = as_cloze["tasks"]["number"], as_cloze["zero"]["number"]
assert [number["32"][f"{model}, cloze"]["score"]["low"] > as_cloze["frozen"]["number"]["32"][f"{model}, head"]["score"]["high"] + 0.02 for model in ("GLM", "BERT")] == [True, False]
print("number agreement, GLM, cloze: updates of the best checkpoints:", *(int(updates) for result in number.values() for updates in result["GLM, cloze"]["updates"]["values"]))
means = {variant: [100 * zero[variant]["score"] if variant in zero else None, *(100 * result[variant]["score"]["mean"] for result in number.values())] for variant in compared}
lines("On number agreement the cloze needs no labels", ["none", *number], means, x_title="labels", y_title="accuracy (%)").update_xaxes(type="category").show()

# %% [markdown]
# **What you see.** *Number agreement*: GLM's cloze does not improve with labels. In all nine runs the pretrained weights were best (0 updates), so its row shows a single model, which was never fine-tuned. The heads need 128 labels to reach 98 % or 99 %. With exchanged verbalizers, 32 labels only raise GLM's accuracy from 0 to chance (51 %). With 32 labels, BERT's linear probe reaches 96 %, more than its head with all weights fine-tuned. The task is easy: a rule that only checks whether the second word ends in *-s* also reaches 96 %.
#
# *Acceptability* and *paraphrase*: with 32 labels every variant is at chance, so no difference could appear. With 128, acceptability is only partly learned, and the seeds differ widely; with 1,024, all fine-tuned models reach 98 % or 99 %. On paraphrase they reach 70–75 %, while comparing the capitalized words is 98 % accurate. The task tests whether these networks can compare names, and they hardly can.
#
# The 200 development rows, which select learning rates and checkpoints, outnumber the 32 labels. So the results show what each variant *can* reach with 32 labels, not what it would reach without any further labels.
#
# **Verdict: a cloze beats a head when labels are few – partly supported.** On number agreement, a task that pretraining poses, GLM's cloze reaches 100 % with 32 labels, compared with 94 % for its linear probe. BERT's cloze meets the rule as written, but is not above its own linear probe (98 %, compared with 96 %). The advantage disappears with more labels, because there is no room left for improvement. On the other two tasks, no variant learns anything from so few labels, and with 1,024 labels cloze and head are level. The paper finds 77.0 and 70.0 (table 6).
#
# The result on number agreement holds almost by construction, because blanks of the same kind were filled many times in pretraining. The paper's tasks do not occur in its pretraining either. But there the verbalizers occur in far more contexts than here, where they follow the questions of a small world. Its patterns are those tried out for PET, whereas we have one per task. So our experiment shows where the advantage can come from, not how large it is.
#
# ## Exercises (练习)
#
# Put your own code in the place of each stub's last line, and run the cell. Stuck? Take the `#` away before a `hint` and run it; each run
# says a little more. A **solution** (参考答案) is folded away below it.

# %%
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.exercises import case, check, hint, solution

# %% [markdown]
# ### 5 · GLM's input (A 部分与 B 部分)
#
# Build the input for a text with blanks: Part A with one [MASK] per blank, Part B with the spans to predict, and both position ids. Input 2 is the paper's figure 2.

# %%
def parts_a_and_b(
    tokens: list[int], spans: list[list[int]], order: list[int],
) -> tuple[Int[Tensor, "time"], Int[Tensor, "axis time"], Int[Tensor, "time"]]:
    """GLM's input for a text with blanks: token ids, two-dimensional position ids, and targets.

    Part A is the text with each span replaced by one [MASK], whatever the length of the span. Part B
    follows it and holds the spans in the order in which they are filled: each as [START] and its words.
    A position of Part B predicts the next word of its span, and the last one of a span predicts [END],
    which is not part of the input. Positions of Part A predict nothing.

    ``spans`` gives [begin, end] of each span, as in a slice, in the order of the text; none is empty,
    and two may be adjacent. ``order`` lists the indices of the spans, counted from 0, in the order in
    which they are filled.

    Return three integer tensors: the tokens; the position ids, two rows; the targets. The first position
    id is the position in Part A, counted from 1; in Part B all positions of a span have that of its
    [MASK]. The second position id is 0 in Part A; in Part B it is 1 at each [START], then 2, 3, …
    over the words of the span. The target is −100 where nothing is predicted. [MASK] is 4, [START] is
    5, [END] is 6.
    """
    raise NotImplementedError


check("12.5", parts_a_and_b)


# %%
# hint("12.5")


# %%
solution("12.5")


# %% [markdown]
# ### 6 · Filling blanks of unknown length (逐个填空)
#
# Now the model generates Part B. The length of a blank is unknown until [END] is predicted, and each blank attends to those filled before it.

# %%
def fill_in_order(
    logits: "Callable[[list[int], list[list[int]]], Tensor]", text: list[int], order: list[int],
) -> Int[Tensor, "time"]:
    """Fill the blanks of a text with a GLM, one after the other, by greedy decoding.

    ``text`` has one [MASK] per blank. ``order`` lists the indices of the blanks, counted from 0 in the
    order of the text, in the order in which they are filled. The input is the text as it is given,
    followed by what has been generated so far: the blanks started, each as [START] and its
    words. The last position predicts the next token, a word or [END]. [END] ends the blank, and is not
    added to the input. It may be the first prediction; then the blank is empty. It always comes eventually.
    Return the text with each [MASK] replaced by the words of its blank, as a tensor.

    [MASK] is 4, [START] is 5, [END] is 6. ``logits(tokens, position_ids)`` takes a list of tokens and two
    lists of position ids. The first is the position in the text, counted from 1; [START] and the words of
    a blank have that of its [MASK]. The second is 0 in the text; in each blank it is 1 at [START], then
    2, 3, … It returns a tensor [time, vocab]: row t has the logits of position t's prediction.
    """
    raise NotImplementedError


check("12.6", fill_in_order)


# %%
# hint("12.6")


# %%
solution("12.6")

# %% [markdown]
# ## Where it went next
#
# **GLM-130B** (2022) scaled autoregressive blank infilling to 130 billion weights. Its successor GLM-4 (2024) is a left-to-right model. The `glm` of `transformers` is GLM-4, and `plmlab.hf.from_hf` rejects it with a message.
#
# One idea remained in use: a left-to-right model can use the text on both sides of a gap if the gap's words come last. InCoder (2022) moves masked spans to the end of the text, as GLM does, but with a causal mask. Code models such as StarCoder (2023) and DeepSeek-Coder (2024) are trained with **fill-in-the-middle** (Bavarian et al. 2022): prefix and suffix are marked by special tokens, and the middle, whose end the model predicts itself, is generated after them. Predicting the class as a word has become the usual way to classify with a language model; an instruction takes the place of the pattern.
#
# **References.** Du et al. 2022, *GLM: General Language Model Pretraining with Autoregressive Blank Infilling*. Bavarian et al. 2022, *Efficient Training of Language Models to Fill in the Middle*. Devlin et al. 2019, *BERT*. Fried et al. 2022, *InCoder*. Guo et al. 2024, *DeepSeek-Coder*. Li et al. 2023, *StarCoder*. Raffel et al. 2020, *Exploring the Limits of Transfer Learning* (T5). Schick and Schütze 2021, *Exploiting Cloze Questions for Few Shot Text Classification and Natural Language Inference* (PET). Yang et al. 2019, *XLNet*. Zeng et al. 2022, *GLM-130B*.
