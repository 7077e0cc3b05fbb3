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
# # Word vectors (词向量)
#
# To a computer, a word is an index in a list: *tea* is word 812, *coffee* word 77. Such an index carries no meaning. Written as **one-hot** vectors (独热向量), with a 1 at the word's own index and 0 everywhere else, all words are equally far apart: *tea* is as far from *coffee* as from *quickly*.
# In 2013 **word2vec** gave each word a short vector, learned from plain text alone, and similar words got similar vectors. Every model of this course starts with a matrix of such vectors.
#
# **How does a word get its place in this space?** "You shall know a word by the company it keeps", wrote Firth in 1957. In this chapter you build a model that learns from this company alone, the **context** (上下文) of each word. You watch the vectors take shape, and then derive what the model learns. For this model, unlike for most others, the optimum is known exactly.
# Then we ask how much is left of its most famous result, *king − man + woman = queen*.
#
# **Core: 45 minutes. Whole: 127.** The core is everything outside the sections marked *deeper*; nothing in it depends on them. A folded cell (one grey line) proves or
# measures a claim of the text beside it; click on the line to open it.
#
# ## What you need (预备知识)
#
# - **Dot product** (点积) of two vectors: the sum of their element-wise products. It is large if both are long and point in a similar direction. **Cosine** (余弦): the dot product of the two vectors after scaling them to length 1. It is 1 for the same direction and 0 for a right angle.
# - **Sigmoid** $\sigma(x) = 1 / (1 + e^{-x})$: turns a score into a probability, with σ(0) = ½, σ(2) = 0.88, σ(−2) = 0.12. **Softmax** turns several scores into probabilities, $e^{s_i} / \sum_j e^{s_j}$.
# - **Loss** (损失): $-\log$ of the probability assigned to the correct answer, in nats (奈特). It is 0 nats for probability 1, and 0.69 nats for probability ½.
# - **Gradient** (梯度): the derivatives of the loss with respect to the weights. Training takes small steps in the opposite direction; the **learning rate** (学习率) sets their size.
# - **Token** (词元): one occurrence of a word in a text. **Vocabulary** (词表): the set of distinct words. **Seed** (随机种子): the number that determines all random draws.
# - **Small World**: the artificial language of this course, with about 1,300 words. Its rules are known, so we can compute exactly the lowest possible loss, the **floor** (下界).

# %% [markdown]
# ## The picture: a word and its context
#
# Each word of a sentence is predicted from the words around it, at most five on each side: the **context window** (上下文窗口). **Guess first:** the maximum size is 5, but many words have a smaller window. Why? Point at a cell to read why it is allowed or blocked.

# %%
import torch

from plmlab.labs import MaskLab
from plmlab.world.datasets.tokenizer import world_tokenizer

torch.set_num_threads(1)  # models as small as these are fastest on one thread
MaskLab(world_tokenizer(), "at night a black bat flew over the old library .", "window", choices={"window": 5})

# %% [markdown]
# Each row is a target word, and each column is a word that may be used to predict it. A word is never in its own context, because it is the target. Each word draws its own window size at random, from 1 to 5, so near words are used more often than distant ones. The position of a word *within* the window is not encoded: the context is a **bag of words** (词袋).
#
# ## 1 · Skip-gram (跳字模型)
#
# Each word has two vectors: $w$ for its role as the centre word (中心词), and $c$ for its role as a **context word** (上下文词) of another. From $w$ we want to predict whether $c$ is in the context. **Skip-gram** (Mikolov et al. 2013a) uses the dot product as the score,
#
# $$p(\text{positive} \mid w, c) = \sigma(w \cdot c),$$
#
# and is trained on **pairs** (词对). A **positive pair** occurs in a window of the text. For each positive pair, $k$ **negative pairs** are sampled: each combines the same centre word with a random word $n$, a **negative sample**. This method is **negative sampling** (负采样, Mikolov et al. 2013b). The loss of one positive pair and its $k$ negative samples is
#
# $$\ell = -\log \sigma(w \cdot c) \;-\; \sum_{i=1}^{k} \log \sigma(-\,w \cdot n_i).$$
#
# **In numbers.** Take two-dimensional vectors and one negative sample. Let $w$ of *green* be (1, 1), $c$ of *tea* (2, 0), and $c$ of *runs* (0, −1). The positive pair *green tea* has the score 2, σ(2) = 0.88, and the loss 0.13. The negative pair *green runs* has the score −1. The model rejects it with probability σ(1) = 0.73, so its loss is 0.31. The total is 0.44 nats.
#
# The gradient has an equally simple form. An update moves the two vectors towards each other if their score is too low, and away from each other if it is too high. Its size is proportional to the error of the predicted probability:

# %%
import random


def sgd_step(w, c, label, lr):
    """One update of a pair: label 1 for a positive pair, 0 for a negative one."""
    error = label - torch.sigmoid(w @ c)              # 1 − σ, or 0 − σ
    w_step, c_step = lr * error * c, lr * error * w
    w += w_step
    c += c_step


def skip_gram(sentences, W, C, noise, rng, window=5, k=5, lr=0.025):
    """One epoch over sentences of word ids, which updates the vectors W and C in place."""
    for words in sentences:
        for i, word in enumerate(words):
            size = rng.randint(1, window)
            for j in range(max(0, i - size), min(len(words), i + size + 1)):
                if j != i:
                    sgd_step(W[word], C[words[j]], 1.0, lr)                   # the positive pair
                    for negative in rng.choices(range(len(C)), noise, k=k):   # k negative samples
                        sgd_step(W[word], C[negative], 0.0, lr)


# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# The same loop on 200 sentences of the small world (147 words): its probabilities for a frequent pair and for one that never occurs
from itertools import islice

from plmlab import world
from plmlab.world.datasets.word_kinds import free_sentences

id = {word: i for i, word in enumerate(world.small().vocabulary)}
corpus = [[id[word] for word in words] for words in islice(free_sentences(world.small()), 200)]
noise = [sum(words.count(i) for words in corpus) ** 0.75 for i in range(len(id))]
torch.manual_seed(0)
W, C = torch.randn(len(id), 10) / 10, torch.zeros(len(id), 10)
skip_gram(corpus, W, C, noise, random.Random(0), lr=0.1)
frequent, absent = (torch.sigmoid(W[id[word]] @ C[id["born"]]).item() for word in ("was", "Garden"))
print(f"probability of a positive pair: was · born {frequent:.2f}; Garden · born, which never co-occur, {absent:.2f}")
assert frequent > 0.45 > 0.3 > absent

# %% jupyter={"source_hidden": true} tags=["proof"]
# The updates of sgd_step for one positive pair and its negative samples are a step against the gradient of ℓ
from torch.nn import functional as F

torch.manual_seed(0)
W, C, word, context, negatives = torch.randn(7, 3), torch.randn(7, 3), 2, 4, [1, 4, 6, 1]
before = [matrix.clone().requires_grad_() for matrix in (W, C)]
w, c, n = before[0][word], before[1][context], before[1][negatives]
(-F.logsigmoid(w @ c) - F.logsigmoid(-(n @ w)).sum()).backward()
with torch.no_grad():
    for other, label in ((context, 1.0), *((other, 0.0) for other in negatives)):
        new_w, new_c = before[0][word].clone(), before[1][other].clone()
        sgd_step(new_w, new_c, label, 1e-3)
        W[word] += new_w - before[0][word]
        C[other] += new_c - before[1][other]
    against_gradient = all(torch.allclose(matrix, old - 1e-3 * old.grad, atol=1e-7) for matrix, old in zip((W, C), before))
print("sgd_step is a step against the gradient of ℓ:", against_gradient)
assert against_gradient

# %% [markdown]
# This loop is the core of word2vec. The authors' C code differs in two details: it updates $w$ once, after the context word and all its negative samples, and skips a negative sample that equals the context word. `plmlab` minimizes the same loss, but processes 128 sentences at a time with the optimizer Adam, which is hundreds of times faster. Three more details:
#
# - The negative samples are drawn from the **noise distribution** (噪声分布): the probability of each word is proportional to its count to the power ¾. Rare words are therefore drawn a little more often than they occur in the text (exercise 3).
# - Very frequent words can be thinned out before training (**subsampling**, 下采样). We leave it out here, so that everything stays exact.
# - After training, $w$ is kept and $c$ is discarded.
#
# **CBOW** (连续词袋), the other model of the same paper, differs in one line: the *mean* of the context vectors predicts the centre word, instead of each context word separately (exercise 2).
#
# **Often said: "CBOW concatenates the context."** Then the order of the words would matter, and a wider window would need more weights. We check both:

# %% jupyter={"source_hidden": true} tags=["measure"]
# CBOW's scores for the centre word after its context words are reordered or changed; and its number of weights
from plmlab.example import Batch
from plmlab.models.word2vec import CBOW, SkipGram, Word2VecConfig
from plmlab.objectives import window

torch.manual_seed(0)
cbow, vocab = CBOW(Word2VecConfig(50, model=8)), world_tokenizer().vocab
torch.nn.init.normal_(cbow.output.weight)
sentences = ([7, 8, 9, 10, 11], [11, 8, 9, 7, 10], [7, 8, 9, 10, 12])
original, reordered, changed = cbow(Batch.of([window(words, vocab=vocab, rng=random.Random(0), window=10, reach=[10] * 5) for words in sentences], pad=0))[:, 2]
same = torch.allclose(original, reordered, atol=1e-6)
print(f"same scores in another order: {same}; weights for any window size: {sum(p.numel() for p in cbow.parameters())} = 2 matrices × 50 words × 8 dimensions")
assert same and not torch.allclose(original, changed, atol=1e-6)

# %% [markdown]
# **Verdict: not supported.** CBOW takes the mean of the context vectors. Its scores do not depend on word order, and it has 800 weights for any window. The position of a word in the window is lost.
#
# ## 2 · Why negative samples? (为什么需要负样本)
#
# Positive pairs alone could be classified perfectly by making every score large. All vectors would then point in one direction, and the loss would fall to 0. We try this on the small version of the world, which has 147 words, by gradient descent on the exact loss, which section 6 explains:

# %% jupyter={"source_hidden": true} tags=["measure"]
# The same training with and without negative pairs: the loss, the mean cosine between words, and the scores of pairs that never occur
from plmlab.chapters.ch02.factorisation import minimise_with_negatives, pair_loss, scores
from plmlab.tables import show_table

small = pair_loss("small")
runs = {name: minimise_with_negatives(small, share, 20, steps=300, lr=0.03, seed=0) for name, share in (("without negative pairs", 0.0), ("with 5 negative pairs per positive pair", 1.0))}
show_table(("300 updates, 20 dimensions", "loss (nats per positive pair)", "mean cosine of two words", "never-occurring pairs with a score above 0"), {name: (f"{run['loss']:.3f}", f"{run['cosine']:.2f}", f"{run['accepted']:.0%}") for name, run in runs.items()})
assert runs["without negative pairs"]["loss"] < 1e-3 and runs["without negative pairs"]["accepted"] == 1

# %% [markdown]
# **What you see.** Without negative pairs the loss is almost 0, but nothing has been learned: nearly all vectors point in one direction, and every pair that never occurs has a score above 0, just like the positive pairs. Only the negative pairs make the scores *informative*.
#
# **Often said: "the negative samples are wrong words."** They are random words. How many of the negative pairs also occur as positive pairs?

# %% jupyter={"source_hidden": true} tags=["measure"]
# The fraction of the negative pairs that also occur in the world's sentences
full = pair_loss("full")
occur = (full.negative[full.occurs].sum() / full.negative.sum()).item()
print(f"{len(full.words):,} words; {full.occurs.double().mean().item():.1%} of all pairs of words occur in some window; {occur:.1%} of the sampled negative pairs do")
assert 0.3 < occur < 0.7

# %% [markdown]
# **Verdict: not supported.** Half of the "negative" pairs also occur as positive pairs: frequent words are sampled often and co-occur with nearly everything. The question behind negative sampling is not "correct or wrong?" but "more often than by chance?" The next section builds on this.
#
# ## 3 · What is learned, exactly: shifted PMI (到底学到了什么)
#
# Consider one pair of words. It occurs $a$ times as a positive pair and is drawn $b$ times as a negative pair. Its part of the loss is $-a \log \sigma(x) - b \log \sigma(-x)$, where $x = w \cdot c$. The derivative, $-a\,(1 - \sigma(x)) + b\,\sigma(x)$, is 0 where $\sigma(x) = a / (a + b)$, the fraction of positive pairs. Among $N$ positive pairs, $a = N\,P(w, c)$ and $b = N\,k\,P(w)\,q(c)$. So the optimal score is
#
# $$x = \log \frac{a}{b} = \log \frac{P(w, c)}{k\,P(w)\,q(c)} = \underbrace{\log \frac{P(w, c)}{P(w)\,q(c)}}_{\text{pointwise mutual information}} - \log k .$$
#
# Here $P(w, c)$ is the fraction of all positive pairs that are this pair, $P(w)$ the fraction that have $w$ as the centre word, and $q$ the noise distribution. The **pointwise mutual information** (点互信息, PMI) is the logarithm of how much more often two words co-occur than by chance; the usual definition has $P(c)$ instead of $q(c)$. Skip-gram therefore approximates the matrix of **shifted PMI**, the PMI minus $\log k$, by the product of two smaller matrices: it **factorizes** (矩阵分解) this matrix (Levy and Goldberg 2014).
#
# **In numbers.** *green* and *tea* co-occur four times as often as by chance, so PMI $= \log 4 = 1.39$. With $k = 5$ the optimal score is $1.39 - 1.61 = -0.22$, and σ = 0.44. This is the correct probability: of nine occurrences of the pair in training, four are positive and five negative.
#
# For real text, all these probabilities have to be estimated. In the Small World, the grammar gives the exact probability of every sentence, and therefore of every pair. So we know the matrix that skip-gram approximates, *and the minimum of its loss*.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Some entries of the matrix of the full world: the PMI, the optimal score with k = 5, and its sigmoid
row = {word: i for i, word in enumerate(full.words)}
entries = {}
for word, context in (("Café", "the"), ("borrowed", "money"), ("bank", "money"), ("bank", "water"), ("baker", "the"), ("baker", "reeds")):
    score = full.optimum[row[word], row[context]].item()
    entries[f"{word} · {context}"] = [f"{value:.2f}".replace("-inf", "−∞").replace("-", "−") for value in (score + torch.tensor(5.0).log().item(), score, torch.sigmoid(torch.tensor(score)).item())]
show_table(("word · context word", "PMI (nats)", "optimal score w·c", "σ: fraction of positive pairs"), entries)
print(f"minimum loss: {full.floor:.4f} nats per positive pair; with all scores 0: {full(torch.zeros_like(full.joint)):.4f} = 6 log 2")
assert abs(full(torch.zeros_like(full.joint)) - 6 * torch.tensor(2.0).log().item()) < 1e-4

# %% [markdown]
# **What you see.** *borrowed* and *money* are strongly associated, and *bank* is associated with both money and water. *the* co-occurs with *baker* hardly more often than with any other word; the PMI of this pair is above 0 because the noise distribution draws *the* less often than it occurs in the text. And 85 % of all pairs, such as *baker* and *reeds*, never occur. Their optimal score is −∞: the lower the score, the lower the loss, without a limit.
#
# ## 4 · Train it, live (现场训练)
#
# We train 50-dimensional vectors with five negative samples per positive pair, on 120,000 new sentences, each read once. This takes a second or two per 300,000 words. The dotted line is the floor, the minimum loss of section 3. On new text, no model has a lower expected loss.

# %% tags=["nbval-ignore-output"]
from plmlab.train import fit
from plmlab.vectors.learning import EncodedText, SnapshotBatches, vectors_of
from plmlab.vectors.windows import WindowBatches

text = EncodedText.of(islice(free_sentences(world.full(), seed=0), 120_000))
batches = WindowBatches(text.rows, len(text.tokenizer), batch=128, window=5, seed=0)
torch.manual_seed(0)
model = SkipGram(Word2VecConfig(len(text.tokenizer), model=50, negatives=5))
model.word_loss.set_noise(batches.counts)                     # the noise distribution: counts to the power ¾
steps = batches.batches_per_epoch
recorder = SnapshotBatches(batches, model, text.tokenizer, steps=steps, count=16)    # for the lab below
fit(model, recorder, steps=steps, lr=0.02, weight_decay=0.0, clip=None, betas=(0.9, 0.999), floor=full.floor)
snapshots = recorder.finish(steps)
vectors = snapshots[steps]

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# The exact loss of these vectors over all pairs of words, relative to the floor, after and before training
from plmlab.chapters.ch02.factorisation import factors_of

above = full.above(scores(factors_of(full, vectors, vectors_of(model, text.tokenizer, output=True))))
print(f"{sum(text.counts):,} words read; exact loss {above:.1%} above the floor; before training {full.above(torch.zeros_like(full.joint)):.0%} above it")
assert 0 < above < 0.15

# %% [markdown]
# After about ten seconds, the loss is less than 10 % above the floor. More text brings it closer (section 6). These are the nearest neighbours of some words, by cosine:

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# The five nearest neighbours of some words, by cosine
for word in ("baker", "dogs", "Millford", "1971", "slept", "bank"):
    print(f"{word:>9}:", ", ".join(found.word for found in vectors.neighbours(word, 5)))
assert {found.word for found in vectors.neighbours("1971", 5)} <= {str(year) for year in range(1900, 2030)}

# %% [markdown]
# The model is given no information about plurals, towns or crafts. Words that occur in the same contexts get similar scores with all context words, so their vectors are similar. Two rows are unusual. The neighbours of *slept* include *cave* and *ceiling*: a verb that occurs with few nouns has few context words, and its vector is close to theirs. And the neighbours of *bank* include both *lent* and the rivers *Orva*, *Arno* and *Tamar* (section 8).
#
# ## 5 · The Vector Lab (词向量实验)
#
# The lab shows the same training from the first update to the last. **Drag the scrubber** and watch crafts, towns and years form clusters. The axes are two fixed directions, computed from the final vectors, so a point moves on the screen only if its vector has changed. The lab also shows how much of the variance the axes explain. Neighbours are found in all 50 dimensions, not in the picture.
# Then type any word, and define an axis by two words (*girl* to *girls*). Below the picture is an analogy, *Saltmarsh* : *Cordonia* = *Tolmin* : ? (a town and its country, and another town). **Guess** which word is nearest to b − a + c if the three words of the question are also allowed as answers. Is it the same for the other question, on the button *towns and rivers*?

# %%
from plmlab.chapters.ch02.lab_presets import GROUPS, presets
from plmlab.labs import VectorLab
from plmlab.vectors.learning import learn_text
from plmlab.world.datasets.word_kinds import kind_groups

VectorLab(snapshots, word="baker", analogy=("Saltmarsh", "Cordonia", "Tolmin", "Norland"), groups=kind_groups(world.full(), GROUPS), counts=text.counts, train=learn_text, presets=presets(snapshots))

# %% [markdown]
# **What you see.** At first all words point in one direction: at the third snapshot (button *collapse at the start*), the ten nearest neighbours of *baker* all have a cosine near 1. This is the collapse of section 2, which lasts only until the negative pairs take effect. Then the groups separate, because years and crafts never occur in the same contexts. The crafts themselves remain close together, because in this world bakers and tailors do much the same things. Below the picture you can train on a file of your own. Use a whole book, because in a few pages nearly every word is rare.
#
# ## 6 · The claim: word2vec is a matrix factorization (隐式矩阵分解)
#
# Levy and Goldberg (2014) show that skip-gram with negative sampling factorizes the shifted PMI matrix. Section 3 derives this under the assumption that every score can take any value. With low-dimensional vectors this is not the case. How much does a low dimension add to the loss? And would the classical method do equally well? It builds the matrix by counting, and reduces its rank by **truncated SVD** (截断奇异值分解), the best low-rank approximation in squared error.
#
# Levy and Goldberg tested this on English Wikipedia. SVD cannot be applied to a matrix that contains −∞, so they set the pairs that never occur to 0, and all negative scores as well. The result is the shifted *positive* PMI matrix (SPPMI). They then truncated its SVD, and estimated how far the loss of the result is above the minimum. Their values are shown next to ours. We also truncate a second matrix, in which only the pairs that never occur are 0 and *negative scores are kept*.
#
# Here nothing is estimated. *Gradient descent* minimizes the exact loss over all pairs, without sampling. It runs Adam for 1,500 updates, with the best of several learning rates, chosen on two further seeds. This is equivalent to skip-gram on unlimited text. We also measure how many *neighbours are of the same category*: for each noun, verb, name or year, the fraction of its ten nearest neighbours that belong to its category (crafts in the singular, towns …).
#
# **Before running.** *Skip-gram comes near the minimum loss*: supported if, with at most 200 dimensions (a row of the full matrix has 1,336 entries), gradient descent ends within 1 % of the minimum for all three seeds. *SVD of the positive matrix is a substitute*: supported if it comes equally near the minimum with the same dimension; not supported if it stays 10 % or more above.

# %% jupyter={"source_hidden": true} tags=["measure"]
# The exact loss relative to its minimum, by dimension: gradient descent (three seeds), and truncated SVD of the SPPMI matrix
from plmlab import recipes
from plmlab.chapters.ch02.factorisation import filled_svd_above
from plmlab.chapters.ch02.judging import same_category_rate

numbers = recipes.recorded("02")["numbers"]
sizes = numbers["sizes"]


def percent(share):
    """As a percentage with a sensible number of digits."""
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" if share >= 0.01 else f"{share:.2%}"


def spread(figure):
    """The mean of the seeds as a percentage, with their range."""
    return f"{percent(figure['mean'])} ({percent(figure['low'])}–{percent(figure['high'])})"


show_table(("dimensions", "gradient descent: loss above the minimum", "gradient descent: RMS distance to the optimal scores (nats)", "SVD of SPPMI: loss above the minimum", "gradient descent: neighbours of the same category", "SVD of SPPMI: neighbours of the same category"), {
    size: (spread(run["above"]), f"{run['distance']['mean']:.2f}", percent(sizes["svd"]["positive"][size]["above"]), percent(run["kin"]["mean"]), percent(sizes["svd"]["positive"][size]["kin"]))
    for size, run in sizes["descent"].items()})
print(f"neighbours of the same category: rows of the SPPMI matrix, {sizes['words']:,} dimensions: {percent(sizes['rows']['positive']['kin'])}; a random word: {percent(same_category_rate(vectors)[1])}")
theirs = {"1": "26.1%", "5": "95.8%", "15": "266%"}
show_table(("loss above the minimum", "SVD of SPPMI, 100 dimensions", "Levy and Goldberg: SVD of SPPMI", "full SPPMI matrix", "Levy and Goldberg: full SPPMI matrix"), {
    f"k = {k}": (percent(sizes["svd above"][k]["100"]), theirs[k], percent(sizes["svd above"][k]["0"]), "0.0001% or less") for k in theirs})
baselines = {"all scores 0, as before training": lambda loss: torch.zeros_like(loss.joint), "all scores −log k": lambda loss: -(loss.negative.sum() / loss.joint.sum()).log() * torch.ones_like(loss.joint)}
show_table(("baseline without vectors: loss above the minimum", "k = 1", "k = 5", "k = 15"), {name: [percent(loss.above(constant(loss))) for loss in (pair_loss("full", k) for k in (1, 5, 15))] for name, constant in baselines.items()})
print("SVD with −2 instead of −∞, k = 5: loss above the minimum " + ", ".join(f"{percent(above)} with {size} dimensions" for size, above in filled_svd_above(full, -2.0, (20, 50, 100, 200)).items()))
print(f"gradient descent with three times the number of updates, {sizes['longer']['size']} dimensions: {percent(sizes['longer']['above'])} instead of {percent(sizes['descent'][str(sizes['longer']['size'])]['above']['values'][0])}")

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# The same as a plot
from plmlab.plots import lines

lines("Skip-gram reaches the floor with 100 dimensions; truncated SVD hardly improves on a model without vectors", [int(size) for size in sizes["descent"]], {
    "skip-gram: gradient descent on the exact loss": [100 * run["above"]["mean"] for run in sizes["descent"].values()],
    "truncated SVD of the SPPMI matrix": [100 * sizes["svd"]["positive"][size]["above"] for size in sizes["descent"]],
    "truncated SVD, negative scores kept": [100 * sizes["svd"]["zeros"][size]["above"] for size in sizes["descent"]],
}, x_title="dimensions", y_title="loss above the minimum (%)", log_x=True, log_y=True).show()

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# One recorded run repeated live: skip-gram with sampling on 10,000 sentences, seed 0
from plmlab.chapters.ch02 import sampling

recorded = numbers["sampling"]["ours"]["10000"]
live = sampling.sampled("ours", 10_000, recorded["lr"], 0)["above"]
print(f"loss above the minimum: {live:.1%}; recorded: {recorded['above']['low']:.1%} to {recorded['above']['high']:.1%}")
assert recorded["above"]["low"] * 0.97 <= live <= recorded["above"]["high"] * 1.03

# %% [markdown]
# **Verdict: word2vec as a factorization – supported.** Gradient descent ends 0.12 % above the minimum loss with 100 dimensions, and 0.01 % above it with 200. The scores then *are* the shifted PMI: the root-mean-square differences, weighted by pair frequency, are 0.07 and 0.01 nats. Even 20 dimensions come within 6.5 % (5.9 % with three times as many updates). This low dimension suffices for 1,336 words because the pairs that never occur need no exact score, only a low one.
#
# **Verdict: SVD of the positive matrix as a substitute – not supported.** With 100 dimensions its loss stays 59 %, 150 % and 346 % above the minimum for $k$ = 1, 5 and 15. Levy and Goldberg's values of 26.1 %, 95.8 % and 266 % grow with $k$, too. We cannot reproduce their value for the full matrix.
#
# **Why it fails.** For $k$ = 5 and 15, this SVD is no better than no vectors at all: with all scores 0 the loss is 152 % and 347 % above the minimum, and with a single constant, $-\log k$, only 64 % and 51 %. For nearly every pair the SPPMI matrix contains 0, which means "positive as often as negative", and for nearly every pair this is wrong. Truncation is not the cause, because the full matrix is about equally far from the minimum. If −∞ is replaced by −2 instead, the SVD with 100 dimensions is within 34 % of the minimum, which is far better but still hundreds of times as far from the minimum as gradient descent.
#
# The loss is not the only criterion. By its neighbours, SVD is not much worse: with 50 dimensions 68 % of them are of the same category, compared with 81 % for gradient descent and 3.2 % for random words.
#
# ### How much text does it take? (需要多少语料) *deeper*
#
# We now train with sampling, as in practice: each sentence is read once, with five negative samples per positive pair and 50 dimensions. We compare our implementation with **gensim**, the most widely used library, on the same sentences and with the same settings. For each library and each amount of text, the learning rate is the best of a grid on two further seeds.

# %% jupyter={"source_hidden": true} tags=["measure"]
# The exact loss after different amounts of text (three seeds, with their range), and neighbours of the same category
rows = {}
for count in numbers["sampling"]["ours"]:
    runs = [numbers["sampling"][library][count] for library in ("ours", "gensim")]
    rows[f"{int(count):,}"] = [spread(run["above"]) for run in runs] + [percent(run["kin"]["mean"]) for run in runs]
show_table(("sentences read", "plmlab: loss above the minimum", "gensim: loss above the minimum", "plmlab: neighbours of the same category", "gensim: neighbours of the same category"), rows)
print(f"gradient descent on the exact loss, 50 dimensions: {percent(sizes['descent']['50']['above']['mean'])}")

# %% [markdown]
# **What you see.** Each time the amount of text is quadrupled, the loss comes closer to the minimum for 50 dimensions. With the best learning rate for each library, gensim has the lower loss on the smallest amount of text (23 % above the minimum, compared with 26 %), and clearly better neighbours. On the largest amount `plmlab`, which makes fewer and larger updates, has the lower loss (2.5 %, compared with 3.1 %). Convergence is slow: the last few percent take most of the text.
#
# ## 7 · King − man + woman: analogies (类比)
#
# "*man* is to *king* as *woman* is to what?" Scale the vectors to length 1, compute *king − man + woman*, and find the nearest word: *queen* (Mikolov, Yih and Zweig 2013). This result made word vectors famous, and is often taken as evidence that they *understand* the relation. But the usual evaluation excludes the three words of the question from the answers. And few papers report how often a simpler method finds the answer, such as the word nearest to *woman* alone (Linzen 2016 did).
#
# In our world, every instance of a relation is known. For each relation we ask up to 500 questions, which combine each pair with every other pair that has a different answer. The vectors come from gradient descent on the exact loss with 50 dimensions and three seeds, so more text would not improve them.
#
# **Before running.** *Vectors understand analogies*: supported for a relation if b − a + c answers at least half of its questions correctly, and its accuracy is at least 0.2 higher than that of every method that ignores $a$ (*b + c*, *only b*, *only c*); partly supported if it is higher by 0.1 or more; otherwise not supported. One more baseline was added after a first look at the results: b − a + c must also beat a random answer of the relation.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Accuracy on the questions: b − a + c, methods that ignore a, b − a + c without excluding the question's words, and chance (mean of three seeds)
from plmlab.chapters.ch02.judging import chance
from plmlab.world.datasets.analogies import asked, related

questions = asked(related(world.full()))
methods = {"b − a + c": "b − a + c", "b + c": "b + c", "b alone": "only b", "c alone": "only c", "left in": "b − a + c, no word excluded", "it is b": "then answers b", "it is c": "then answers c"}
found = sizes["descent"]["50"]["answers"]
show_table(("a is to b as c is to …", "questions", *methods.values(), "random answer of the relation"), {
    relation: (len(questions[relation]), *(f"{accuracy[method]['mean']:.2f}" for method in methods), f"{chance(questions[relation]):.2f}") for relation, accuracy in found.items()})
facts, pair = ("town: its country", "town: its river"), ("b − a + c", "b + c")
others = {f"gradient descent, {size} dimensions": [sizes["descent"][size]["answers"][relation][method]["mean"] for relation in facts for method in pair] for size in ("50", "100", "200")}
for title, kind in (("SVD of SPPMI", "positive"), ("SVD, negative scores kept", "zeros")):
    others |= {f"{title}, {size} dimensions": [sizes["svd"][kind][size]["answers"][relation][method] for relation in facts for method in pair] for size in ("50", "100", "200")}
others["rows of the SPPMI matrix"] = [sizes["rows"]["positive"]["answers"][relation][method] for relation in facts for method in pair]
others["random answer of the relation"] = [chance(questions[relation]) for relation in facts for _ in pair]
show_table(("accuracy with other vectors", *(f"{relation}, {method}" for relation in facts for method in pair)), {title: [f"{accuracy:.2f}" for accuracy in row] for title, row in others.items()})

# %% jupyter={"source_hidden": true} tags=["measure"]
# The bundled vectors, trained with sampling on 640,000 sentences: the same accuracies, and two other methods
from plmlab import checkpoints
from plmlab.chapters.ch02.judging import answers, by_score, mean_offset_accuracy

bundled, context = (vectors_of(*checkpoints.load("skipgram-world"), output=output) for output in (False, True))
accuracies = {relation: answers(bundled, questions[relation]) for relation in facts}
show_table(("bundled vectors: accuracy", *methods.values()), {relation: [f"{accuracy[method]:.2f}" for method in methods] for relation, accuracy in accuracies.items()})
unit, offsets = {word: bundled.unit[bundled.place(word)] for word in bundled.words}, questions["town: its country"]
print(f"countries, vectors of length 1: mean length of b − a {sum(float((unit[q.b] - unit[q.a]).norm()) for q in offsets) / len(offsets):.2f}, of c − a {sum(float((unit[q.c] - unit[q.a]).norm()) for q in offsets) / len(offsets):.2f}")
show_table(("bundled vectors: accuracy", "c + mean offset of all pairs", "highest w·c among the relation's answers", "highest w·c among all words"), {relation: (f"{mean_offset_accuracy(bundled, questions[relation]):.2f}", *(f"{by_score(bundled, context, questions[relation], among=among):.2f}" for among in (sorted({q.d for q in questions[relation]}), bundled.words))) for relation in facts})

# %% [markdown]
# **Verdict: analogies, with 50 dimensions – partly supported for facts, not supported for grammar.** The accuracy of b − a + c is 0.32 for towns and their countries and 0.24 for towns and their rivers; a random answer of the relation has 0.14 and 0.11. More dimensions, which bring the vectors nearer to the optimum, do not increase the advantage: with 200, *b + c* is nearly as good for countries and better for rivers. For plurals and past forms the accuracy is 0.03. This is expected: in this world bakers and tailors, or dogs and cats, do the same things. Nothing in the contexts of *dog* indicates that its plural is *dogs* and not *cats*.
#
# **How much of the effect is left?** If the words of the question are allowed as answers, hardly any of it: with these fully trained vectors, the accuracy is 0.02 for countries and 0.00 for rivers. With the bundled vectors, which are further from convergence, it is 0.12 and 0.20. In most cases the nearest word is $b$ itself, the country that the question named. The reason is simple: $b - a + c$ is $b + (c - a)$. Both $a$ and $c$ are towns, so the offset $c - a$ is short (0.78, compared with 1.19 for $b - a$), and the result stays near $b$. Excluding the three words makes another country, a neighbour of $b$, the answer.
#
# **Do the vectors encode the fact at all?** Yes. Among the countries, the correct one has the highest score w·c with the town in 0.70 of the questions; among the rivers in 0.91. This score is what training optimizes. Among *all* words it is not the highest, because a town co-occurs more strongly with other words. The mean offset of many pairs also has a higher accuracy than the offset of one, so an analogy from a single pair is noisy.
#
# ### Is skip-gram better than SVD at analogies? (与奇异值分解比较) *deeper*
#
# Levy and Goldberg found that it is. The second table above shows our results. On countries, with 50 dimensions, it is better than SVD of the positive matrix: 0.32, compared with 0.13. If negative scores are kept, SVD is better than gradient descent: its accuracy on rivers is 0.61, compared with 0.40 for *b + c*. With 100 dimensions the two accuracies are 0.76 and 0.81, so this is not evidence for analogies.
#
# ## 8 · One word, one vector: polysemy (一词多义)
#
# *bank* can be a financial institution or the side of a river, but it has only one vector. Where does this vector lie? Its row of the matrix mixes the contexts of both senses. We therefore compute a vector for each sense: the one that skip-gram would find for *bank* if the other sense did not exist, with the context vectors held fixed. The exact contexts of each sense are known from the grammar.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Cosines of an ambiguous word's vector with the vectors of its two senses, and with their best linear combination
from plmlab.chapters.ch02.senses import best_vector, contexts_of, halves, mixture, sense_vectors, senses

contexts = context.only(full.words).matrix
words = ("bank", "crane", "spring", "palm", "letter")
compared = {word: senses(word, contexts) for word in words}
found = {word: list(sense_vectors(word, contexts).values()) for word in words}
unrelated = {word: max(mixture(found[word][0], *found[other][1:]) for other in words if other != word) for word in words}
compared["baker"], unrelated["baker"] = halves("baker", contexts), max(mixture(best_vector(full.joint[row["baker"]], contexts, full), *found[other][1:]) for other in words)
show_table(("word (its two senses): cosine", "word and first sense", "word and second sense", "first and second sense", "word and best combination of its senses", "word and best combination of another word's senses"), {
    f"{word} ({', '.join(sense.split('.')[-1] for sense in one.senses)})": (*(f"{cosine:.2f}" for cosine in one.alike), f"{one.between:.2f}", f"{one.mixture:.2f}", f"{unrelated[word]:.2f}")
    for word, one in compared.items()})
for sense, counts in sorted(contexts_of("bank").items()):
    print(f"nearest to the sense {sense}:", ", ".join(near.word for near in bundled.near(best_vector(counts, contexts, full), 6, without=("bank",))))
print("nearest to bank:", ", ".join(near.word for near in bundled.neighbours("bank", 6)))
assert all(one.mixture > max(one.alike) > one.between for one in compared.values())

# %% [markdown]
# **What you see.** The single vector of *bank* lies between the vectors that its two senses would have. Its cosine with them is 0.88 and 0.87, whereas their cosine with each other is 0.63. The nearest linear combination of the two has a cosine of 0.97; with two senses of another word it is much lower. So vectors add up as contexts do (Arora et al. 2018). This is not specific to senses: if the contexts of *baker* are split at random into two halves, the vectors of the halves add up as well (last row).
#
# The vector of *bank* reveals neither that it has two parts nor which of them is meant in a sentence. A word has one vector, whatever its context. This limitation is the starting point of ELMo (chapter 05).
#
# ## 9 · Cosine or dot product? (余弦与点积) *deeper*
#
# **Often said: "cosine and dot product are the same choice."** And: **"the vectors of frequent words are the important ones."** A dot product is the cosine times the two lengths. So the difference depends on how long the vectors are, and on which words have long ones.

# %% jupyter={"source_hidden": true} tags=["measure"]
# The ten nearest neighbours by cosine and by dot product, and the mean length of a vector by the frequency of its word
from plmlab.chapters.ch02.judging import by_cosine_and_dot_product, mean_lengths

counts = dict(zip(vectors.words, text.counts))
by_measure, shared = by_cosine_and_dot_product(bundled, counts)
show_table(("ten nearest neighbours by", "of the same category", "median count of a neighbour in the text"), {measure: (f"{same:.2f}", median) for measure, (same, median) in by_measure.items()})
print(f"neighbours that both measures find: {shared:.0%}")
ranked = [word for word in vectors.words if word in bundled.row]
bands = ((0, 20), (20, 200), (200, 600), (600, len(ranked)))
lengths = {name: mean_lengths(trained, ranked, bands) for name, trained in (("live vectors (120,000 sentences)", vectors), ("bundled vectors (640,000 sentences)", bundled))}
show_table(("mean length of a vector, by frequency rank", *(f"{low + 1}–{high}" for low, high in bands)), {name: [f"{length:.1f}" for length in row] for name, row in lengths.items()})
assert lengths["bundled vectors (640,000 sentences)"][3] > 1.2 * lengths["bundled vectors (640,000 sentences)"][0]

# %% [markdown]
# **Verdict: the first claim is not supported.** On average, three of the ten neighbours differ, and the neighbours by dot product are less often of the same category: 0.68, compared with 0.81.
#
# **What you see.** The second claim fails too, but not as one might expect. The length of a vector reflects two things at once: how much it has been updated, and how specific the contexts of the word are. After little text, rare words still have short vectors, because they have been read only a few times. After much text, rare words have the longest vectors, because their context words are few and specific, and the most frequent words have the shortest. Length does not measure importance.
#
# ## 10 · NCE: when a score should be a probability (噪声对比估计) *deeper*
#
# As first published, skip-gram was a softmax over the vocabulary: $p(c \mid w) = u / Z$, with $u = e^{w \cdot c}$ and $Z$ the sum over all words. This sum is expensive. **Noise-contrastive estimation** (NCE; Gutmann and Hyvärinen 2010) avoids it in the same way as negative sampling, by drawing $k$ words from the noise distribution $q$. But it compares $u$ with the probability of the word under the noise distribution,
#
# $$p(\text{positive} \mid w, c) = \frac{u}{u + k\,q(c)},$$
#
# so that $u$ itself becomes the probability. Negative sampling is the special case $k\,q = 1$: its scores converge to the shifted PMI, not to $\log p$. Why does NCE work? If $P$ are the true probabilities, the two gradients are
#
# $$\text{softmax: } \sum_c \left(P - \frac{u}{Z}\right) \nabla \log u, \qquad \text{NCE: } \sum_c \frac{k q}{k q + u}\,\bigl(P - u\bigr)\, \nabla \log u .$$
#
# As $k$ grows, the first factor approaches 1, and the two gradients agree *if* $Z$ is 1. We compute the exact angle between them, in a randomly initialized model of the small version of the world.

# %% jupyter={"source_hidden": true} tags=["measure"]
# The angle in degrees between the gradients of NCE and of the softmax, by the number k of noise samples
from plmlab.chapters.ch02.nce import angle, softmax_summary

samples = (1, 5, 25, 125, 625, 3125)
variants = {"Z = 1": {}, "Z = 5": {"mass": 5.0}, "Z = 0.2": {"mass": 0.2}, "Z = 1, factor moved out of the sum": {"factor": "mean over words"}}
angles = {name: [angle(small, 20, k, **variant) for k in samples] for name, variant in variants.items()}
show_table(("angle between the gradients (degrees)", *(f"k = {k:,}" for k in samples)), {name: [f"{value:.1f}" for value in row] for name, row in angles.items()})
assert angles["Z = 1"] == sorted(angles["Z = 1"], reverse=True) and angles["Z = 1"][-1] < 1 < 20 < angles["Z = 1"][0] and min(angles["Z = 5"]) > 20

# %% [markdown]
# **What you see.** With $Z = 1$ the angle falls from 30.9 degrees to 0.1. With another $Z$ it stays large, however many words are drawn. So the model must *learn* to be normalized. Does it? We compare three losses, each trained on the same 20,000 sentences of the small version of the world, read once:

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# The median Z over words after training, and the loss of the scores read as a softmax
from plmlab.models.word2vec import NCESkipGram, SoftmaxSkipGram
from plmlab.vectors.learning import learn_vectors

little = list(islice(free_sentences(world.small(), seed=0), 20_000))
frequencies = small.joint.sum(0).log().expand_as(small.joint)
summaries = {"baseline: word frequencies only": softmax_summary(small, frequencies)}
for name, kind in (("negative sampling", SkipGram), ("NCE", NCESkipGram), ("softmax over all words", SoftmaxSkipGram)):
    run = learn_vectors(little, kind=kind, size=50, lr=0.1, seed=0, show=False)
    summaries[name] = softmax_summary(small, scores(factors_of(small, run.vectors, vectors_of(run.model, run.tokenizer, output=True))))
show_table(("trained with", "median Z", "softmax loss (nats)"), {name: (f"{z:,.2f}", f"{loss:.2f}") for name, (z, loss) in summaries.items()})
conditional = small.joint / small.joint.sum(1, keepdim=True)
print(f"minimum softmax loss: {softmax_summary(small, conditional.clamp(min=1e-300).log())[1]:.2f} nats")
assert [name for name, (z, _) in summaries.items() if 0.8 < z < 1.2] == ["baseline: word frequencies only", "NCE"] and summaries["NCE"][1] < summaries["baseline: word frequencies only"][1] - 1

# %% [markdown]
# NCE comes nearly as close to the minimum loss as the full softmax. It has learned to be normalized without ever computing a sum over the vocabulary: its $Z$ is near 1. With the other two losses, nothing drives $Z$ towards 1. Negative sampling has a higher loss when its scores are read as a softmax, because they converge to the shifted PMI and were never meant to be probabilities. A model that knows only the word frequencies also has $Z = 1$, so the table shows the loss as well.
#
# **A mistake in some notes.** Some notes move the factor $kq/(kq + u)$ out of the sum. This is not allowed, because the factor depends on the word $c$. The last row of the table of angles shows the consequence: with a single noise sample, the gradient would already be correct to within 1.8 degrees, and there would be nothing left to prove.
#
# ## 11 · Real text, and gensim (真实语料) *deeper*
#
# We repeat the experiment on real English: the sample of Wikipedia that ships with gensim, 106 articles. We keep the words that occur at least five times, subsample frequent words, and train for five epochs with 50 dimensions and three seeds. gensim also includes Mikolov's 19,544 analogy questions; we use those whose words all have a vector.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Mikolov's analogy questions with vectors of the Wikipedia sample, all sections together (mean of three seeds), and shared neighbours
real = numbers["wikipedia"]
print(f"{real['tokens']:,} words in {real['sentences']:,} sentences; {real['ours']['words']['values'][0]:,} words have a vector; {real['ours']['questions']['values'][0]:,} questions")
libraries = {"ours": "plmlab", "gensim": "gensim"}
show_table(("accuracy", *methods.values()), {title: [f"{real[library][method]['mean']:.3f}" for method in methods] for library, title in libraries.items()})
show_table(("shared among the ten nearest neighbours", "two seeds of plmlab", "two seeds of gensim", "plmlab and gensim"), {"2,000 most frequent words": [percent(real["agreement"][pair]) for pair in ("ours", "gensim", "both")]})

# %% jupyter={"source_hidden": true} tags=["measure", "nbval-ignore-output"]
# Nearest neighbours in the bundled vectors of the sample
wikipedia = vectors_of(*checkpoints.load("skipgram-wikipedia"))
for word in ("language", "water", "france", "two", "war", "king"):
    print(f"{word:>9}:", ", ".join(near.word for near in wikipedia.neighbours(word, 6)))

# %% [markdown]
# **Verdict: analogies on so little text – no effect at this size.** The accuracy of b − a + c is 0.022 with our vectors and 0.017 with gensim's. *b + c*, which ignores $a$, has 0.017 and 0.008. If the words of the question are allowed as answers, the accuracy of b − a + c falls to 0.003 for both.
#
# **What you see.** Still, numbers are near other numbers, and countries near other countries. Two seeds agree on fewer than a third of the neighbours. Therefore, most of the apparent structure in the vectors of a single run on so little text is due to chance. Mikolov's vectors were trained on about a billion words or more; with 300 dimensions, they answer far more of the questions.
#
# **Speed.** In interleaved runs on one thread, `plmlab` trains at 0.35 to 0.71 of the speed of gensim, whose inner loop is written in C (measurements: `benchmarks/README.md`). Two techniques make up for part of the difference: all pairs of a sentence share one set of negative samples (Ji et al. 2016), and 128 sentences are processed in one matrix product.
#
# ## 12 · Reading and writing vector files (读写词向量) *deeper*
#
# Published vectors come in three formats: word2vec's text and binary files, and GloVe's text files. `read_vectors` detects the format from the content of the file, compressed with gzip or not. `from_keyed_vectors` and `to_keyed_vectors` convert from and to gensim's vectors.

# %%
import tempfile
from pathlib import Path

from plmlab.vectors import read_vectors, write_glove, write_word2vec, write_word2vec_binary

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "vectors"
    for write in (write_word2vec, write_word2vec_binary, write_glove):
        write(bundled, path)
        print(f"{write.__name__:<22} {path.stat().st_size / 1e6:.1f} MB, read back unchanged: {torch.equal(read_vectors(path).matrix, bundled.matrix)}")

# %% [markdown]
# ## Check the notes (核对笔记) *deeper*
#
# These statements are from students' notes:
#
# - *"A word $y$ has the probability $\prod_i p(w_y \mid c_{x_i})$ in its context"* does not describe CBOW. CBOW averages the vectors first and makes a single prediction. Nor is the product a probability: summed over all $y$ it is not 1.
# - The same notes swap $w$ and $c$: the vector that is kept is that of the *given* word.
# - *"Find the largest among a hundred cards; now it is among only five"* is a misleading picture of negative sampling. Each of the $1 + k$ words is classified separately, as positive or negative. None is selected among them.
# - *"Negative sampling was used in BERT, only on sentences"*: next-sentence prediction uses one negative sentence and two classes (chapter 08). The similarity is loose.
# - CBOW and skip-gram are called *linear*. They are, up to the softmax or the sigmoid at the end: there is no hidden layer with an activation function.
#
# ## Exercises (练习)
#
# Replace the last line of each stub with your own code, and run the cell. If you are stuck, remove the `#` before a `hint` and run it; each run
# reveals a little more. A **solution** (参考答案) is folded away below.

# %%
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.exercises import case, check, hint, solution

# %% [markdown]
# ### 1 · Pairs from a window (词对) *deeper*
#
# Which positive pairs does a sentence contain?

# %%
def window_pairs(words: list[int], reach: list[int]) -> Int[Tensor, "pair 2"]:
    """The (word, context word) pairs that skip-gram is trained on, for one sentence.

    ``words`` are the ids of the sentence's words, two or more. The window at position i has its own size,
    reach[i], at least 1. It contains all other positions at a distance of at most reach[i], to the left and
    to the right, up to the ends of the sentence. Each row of the result is the word at position i, then the
    word at a position j in its window. Rows are sorted by i, and for the same i by j.
    """
    raise NotImplementedError


check("02.1", window_pairs)

# %%
# hint("02.1")

# %%
solution("02.1")

# %% [markdown]
# ### 2 · The mean of the context (上下文的平均) *deeper*
#
# The hidden vector from which CBOW predicts. Short contexts are padded.

# %%
def cbow_hidden(
    contexts: Int[Tensor, "batch positions"], vectors: Float[Tensor, "vocab model"], pad: int,
) -> Float[Tensor, "batch model"]:
    """The hidden vector of CBOW: the mean of the vectors of the context words.

    Each row of ``contexts`` holds the ids of the context words of one word. Row i of ``vectors`` is the
    vector of the word with id i. At the ends of a sentence there are fewer context words, and the remaining
    positions hold the id ``pad``. Padding may occur in any position and is ignored. A row that is all padding
    gives zeros.
    """
    raise NotImplementedError


check("02.2", cbow_hidden)

# %%
# hint("02.2")

# %%
solution("02.2")

# %% [markdown]
# ### 3 · The noise distribution (噪声分布)
#
# The distribution from which negative samples are drawn.

# %%
def noise_distribution(counts: Float[Tensor, "vocab"], power: float = 0.75) -> Float[Tensor, "vocab"]:
    """The noise distribution from which negative samples are drawn (Mikolov et al. 2013b).

    ``counts`` is how often each word occurs in the text. A word's probability is proportional to its count
    raised to ``power``, which is above 0. The probabilities sum to 1. A word with a count of 0 has
    probability 0.
    """
    raise NotImplementedError


check("02.3", noise_distribution)

# %%
# hint("02.3")

# %%
solution("02.3")

# %% [markdown]
# ### 4 · Negative sampling (负采样损失)
#
# The loss of section 1, for many pairs at once.

# %%
def negative_sampling_loss(
    word: Float[Tensor, "batch model"], context: Float[Tensor, "batch model"],
    negatives: Float[Tensor, "batch negative model"],
) -> Float[Tensor, ""]:
    """The loss of skip-gram with negative sampling, in nats (Mikolov et al. 2013b).

    Row i of ``word`` is a word's vector w, row i of ``context`` is the vector c of one of its context words.
    negatives[i] are the vectors n of the k negatives drawn for this pair. A score is a dot product. The loss
    of a pair is −log σ(w·c), plus −log σ(−w·n) for each of its negatives, where σ(x) = 1 / (1 + e^−x). Return
    the mean over the batch. It must be finite for scores of 300 and −300.
    """
    raise NotImplementedError


check("02.4", negative_sampling_loss)

# %%
# hint("02.4")

# %%
solution("02.4")

# %% [markdown]
# ### 5 · An analogy (类比) *deeper*
#
# The usual computation of b − a + c.

# %%
def analogy(vectors: Float[Tensor, "vocab model"], a: int, b: int, c: int) -> int:
    """Solve the analogy "a is to b as c is to …": return the row of the fourth word.

    ``a``, ``b`` and ``c`` are the rows of three words in ``vectors``. First normalize every vector to length
    1. Then the answer is the row with the highest cosine with b − a + c, excluding the three words
    themselves.
    """
    raise NotImplementedError


check("02.5", analogy)

# %%
# hint("02.5")

# %%
solution("02.5")

# %% [markdown]
# ### 6 · The shifted PMI (平移点互信息) *deeper*
#
# From counts to the matrix that skip-gram factorizes.

# %%
def shifted_pmi(
    counts: Float[Tensor, "word context"], k: int, power: float = 0.75,
) -> Float[Tensor, "word context"]:
    """The optimum of skip-gram with k negative samples: shifted PMI (Levy and Goldberg 2014).

    ``counts`` is how often each word co-occurs with each context. The result for each pair is log(P(w, c) /
    (P(w) · Q(c))) − log k, with the natural logarithm. P(w, c) is the pair's fraction of all counts, P(w)
    that of its whole row. Q(c) is the noise distribution: the column sums raised to ``power``, normalized to
    sum to 1. The result for a pair with a count of 0 is −∞, even if all counts of its word or of its context
    are 0.
    """
    raise NotImplementedError


check("02.6", shifted_pmi)

# %%
# hint("02.6")

# %%
solution("02.6")

# %% [markdown]
# ## Where it went next
#
# **GloVe** (Pennington et al. 2014) factorizes the logarithm of the co-occurrence counts, with weights of its own. **fastText** (Bojanowski et al. 2017) assigns vectors to subwords, so that an unseen word has a vector, too. The embedding matrix has remained: it is the first layer of every model in this course and of today's language models, trained together with all layers above it.
# But a word has one vector, whatever it means in a sentence. ELMo (chapter 05) made the vector depend on the sentence, and BERT (chapter 08) built the whole model on this idea. The loss has remained as well: **contrastive learning** (对比学习), which distinguishes positive examples from sampled negative ones, trains the retrievers of chapters 16 and 17. It also trains today's text embedding models, such as Qwen3 Embedding (Zhang et al. 2025), which map a whole passage to one vector.
#
# **References.** Firth 1957, *A Synopsis of Linguistic Theory*. Mikolov, Chen, Corrado and Dean 2013a, *Efficient Estimation of Word Representations in Vector Space*. Mikolov, Sutskever, Chen, Corrado and Dean 2013b, *Distributed Representations of Words and Phrases and their Compositionality*. Mikolov, Yih and Zweig 2013, *Linguistic Regularities in Continuous Space Word Representations*. Gutmann and Hyvärinen 2010, *Noise-Contrastive Estimation*. Mnih and Teh 2012, *A Fast and Simple Algorithm for Training Neural Probabilistic Language Models*.
# Levy and Goldberg 2014, *Neural Word Embedding as Implicit Matrix Factorization*. Levy, Goldberg and Dagan 2015, *Improving Distributional Similarity with Lessons Learned from Word Embeddings*. Linzen 2016, *Issues in Evaluating Semantic Spaces Using Word Analogies*. Ji et al. 2016, *Parallelizing Word2Vec in Shared and Distributed Memory*. Arora et al. 2018, *Linear Algebraic Structure of Word Senses*. Pennington, Socher and Manning 2014, *GloVe*. Bojanowski et al. 2017, *Enriching Word Vectors with Subword Information*. Zhang et al. 2025, *Qwen3 Embedding*.
