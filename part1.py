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
# # BERT's family: what to mask, what to share, what to predict (BERT 的变体)
#
# BERT (chapter 08) made many choices at once. It selects single tokens, masks each text in ten ways before training, predicts only the selected tokens, adds next-sentence prediction, and gives every layer weights of its own. Its paper tests few of these choices.
#
# **Which of BERT's choices mattered?** In 2019 and 2020 several groups changed one or two of them each. Whole-word masking, ERNIE, NEZHA and SpanBERT change **what is masked**. RoBERTa removes next-sentence prediction and trains longer on more text. ALBERT **shares** the weights of all layers. ELECTRA replaces tokens by plausible ones and learns from **every position**. In this chapter you compare their masks on one sentence, build the parts that differ from BERT, train an ELECTRA live, and test two claims of their papers.
#
# The papers' models have up to 24 layers and read up to 160 GB of text (Liu et al. 2019, table 4). Our models have a few layers and read artificial sentences, so effects that need size or variety of text will not appear here.
#
# **Core: 45 minutes. Whole: 120.** The core is everything outside the sections marked *deeper*; nothing in it depends on them. A folded cell (one grey line) proves or measures a claim of the text beside it; click on the line to open it.
#
# ## What you need (预备知识)
#
# - **Masked language model** (MLM, 掩码语言模型): some tokens of the input are selected, corrupted and predicted. In BERT, 80 % of the selected tokens are replaced by [MASK], 10 % by a random token, and 10 % are left unchanged (the 80/10/10 rule, chapter 08).
# - **WordPiece token** (子词): a frequent word is one token; a rare word consists of several subwords. A token that begins with ## continues the word before it.
# - **Whole-word masking** (全词掩码): all tokens of a word are selected together, or none. **Span** (片段): adjacent words; here they are selected together.
# - **Next-sentence prediction** (NSP, 下一句预测): does B follow A in the text? **Sentence-order prediction** (SOP, 句序预测): are two consecutive segments in their original order?
# - **Parameter sharing** (参数共享): several layers use the same weights. **Factorized embedding** (嵌入分解): narrow token embeddings, followed by a linear layer to the width of the model.
# - **Generator and discriminator** (生成器与判别器): a small MLM that replaces tokens, and a network that classifies each token as original or replaced. The discriminator's task is **replaced-token detection** (替换词检测).
# - **Ablation** (消融): a comparison of models that differ in one component only.
# - **Small World**: the artificial language of this course. Its rules are known, so that exact probabilities can be computed.

# %% [markdown]
# ## The picture: one sentence, seven successors of BERT
#
# A text in this course is a sequence of token ids that knows its **words** and its **entities** (实体), the names of persons, places, films and so on. The tokenizer below splits one word of the sentence into three tokens:

# %%
from plmlab.chapters.ch09.masking import world_wordpieces

tokenizer = world_wordpieces()  # 1,000 WordPiece tokens, learned from sentences of the Small World
sentence = "Nora Holt opened the Blue Station Café in Ostrava ."
text = tokenizer.text(sentence)
for units in ("words", "entities"):
    print(f"{units}:", " | ".join(" ".join(tokenizer.tokens(text[start:end])) for start, end in getattr(text, units)))

# %% jupyter={"source_hidden": true} tags=["measure"]
# The picture: BERT and its successors on this sentence; selected positions and ELECTRA's samples are set by hand
from plmlab.chapters.ch09.picture import HEADER, picture
from plmlab.tables import show_table

show_table(HEADER, picture(text))

# %% [markdown]
# **What you see.** All rows but the last predict masked tokens and differ in which ones. Whole-word masking masks *Holt* and leaves *Nora* visible; ERNIE masks the complete name. SpanBERT's span ends inside the name of the café, because it is chosen without regard to entities. ELECTRA's discriminator is the only network whose input contains no [MASK], and the only one with a prediction at every position. In its input, *##ar* replaces *##ol*. The other sample, *in*, happens to be correct, so it counts as original.
#
# In this table every selected token is masked. In training BERT's 80/10/10 rule applies per token, but per span in SpanBERT. ELECTRA's generator never sees random tokens; in the authors' code, 85 % of the selected tokens become [MASK] and the others stay. ALBERT's n-grams and ERNIE's phrases are those of the papers; our ALBERT selects tokens, and our ERNIE has no phrases.
#
# The code of a successor is its difference from BERT. `plmlab show MODEL --diff bert` prints this difference for `roberta`, `bert-wwm`, `ernie`, `nezha`, `spanbert`, `albert` and `electra`:

# %%
from plmlab.show import difference, find
from plmlab.tracing import Trace

print(difference(*(Trace.of(find(name)) for name in ("roberta", "bert"))))

# %% [markdown]
# **What you see.** RoBERTa's network has one segment embedding instead of two. Nothing else differs; its other changes concern the training.
#
# ## 1 · What is masked: tokens, words, spans, entities (掩码单位)
#
# **In numbers.** The name *philammon* consists of three WordPiece tokens, and the text is "phil ##am ##mon ' s head", with six tokens. BERT selects two of the six, so there are 15 possible selections. In 12 of them one or two tokens of the name are masked and the rest of the name is visible. A model that sees "phil [MASK] ##mon" can complete the name from its spelling alone and needs no other word of the text. **Whole-word masking** selects words in random order. If the name comes first, its three tokens exceed the budget of two; it is skipped, and the next words are selected.
#
# BERT's authors released models with whole-word masking in May 2019. Nothing else changed: the network, the number of selected tokens and the 80/10/10 rule per token are the same. On SQuAD 1.1 the F1 of BERT-Large (uncased) rose from 91.0 to 92.8, and its accuracy on MultiNLI from 86.05 to 87.07 (README of google-research/bert, May 2019).
#
# **Guess first.** The three tokens of *Holt* are masked together. Does the model predict them as one word, with a single softmax? Decide, then open the answer below the mask. The buttons apply the other kinds of masking to the same sentence.

# %%
from plmlab.labs import MaskLab
from plmlab.labs.mask.lab import MaskPreset

kinds = {"tokens": "masked", "whole words": "whole_words", "entities": "entities_masked", "spans": "spans_masked"}
MaskLab(tokenizer, text=sentence, objective="whole_words", choices={"rate": 0.2}, seed=17,
        presets=[MaskPreset(title, objective, {"rate": 0.2}) for title, objective in kinds.items()])

# %% [markdown]
# **What you see.** There are three [MASK] tokens and three targets, *H*, *##ol* and *##t*. Each has its own softmax, and each is predicted independently of the other two (chapter 11). All positions attend to all others, as in BERT. Whole-word masking changes the selection and nothing else.
#
# How much of a word or a name remains visible? We mask 100 texts of ten sentences with each objective. A word of several tokens, or an entity of several words, is **split** if some but not all of its tokens are selected.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Measurement: split words and entities, as a percentage of those with a selected token
from plmlab import objectives
from plmlab.chapters.ch09.masking import evaluation_texts, exposure

texts = evaluation_texts()
counts = {title: exposure(objective, texts) for title, objective in (
    ("tokens (BERT)", objectives.masked), ("whole words (BERT of May 2019, NEZHA)", objectives.whole_words), ("entities (ERNIE)", objectives.entities_masked), ("spans (SpanBERT)", objectives.spans_masked))}
show_table(("what is selected together", "selected tokens (%)", "split words (%)", "split entities (%)"), {
    title: [f"{100 * part / whole:.1f}" for part, whole in ((one.selected, one.tokens), (one.split_words, one.touched_words), (one.split_entities, one.touched_entities))]
    for title, one in counts.items()})

# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: in 2,000 samples each, words and entities marked by hand are never split, and 80/10/10 is per token
# It refuses single tokens; a word cut at the budget or beyond it; stopping at a word that does not fit; special tokens or padding as targets;
# 80/10/10 per word; entities instead of words
from plmlab.chapters.ch09 import equivalence

for title, objective, units in (("whole words", objectives.whole_words, equivalence.WORDS), ("entities", objectives.entities_masked, equivalence.ENTITIES)):
    print(title)
    equivalence.report(equivalence.whole_units(objective, units, budget=title == "whole words"))

# %% [markdown]
# **What you see.** All four kinds select 15 to 16 % of the tokens. The zeros hold by construction. Token masking splits nearly every word and every name of which it selects a token. Whole-word masking never splits a word, but it splits nearly as many names as token masking does: *Nora* stays visible when *Holt* is masked. Spans split about half of the names and cover the others completely, without knowing where a name begins. Only ERNIE never splits a name.
#
# **Often said: "whole-word masking and ERNIE mask the same."** They do so only outside names. Of the names of several words with a selected token, whole-word masking leaves 93.8 % partly visible, and ERNIE none.
#
# ### Dynamic masking and no NSP: RoBERTa (动态掩码) *deeper*
#
# RoBERTa has BERT's network. Its paper asks how much better BERT becomes if only its training changes, and names four changes (Liu et al. 2019, §5): dynamic masking (§4.1), inputs of full sentences without NSP (§4.2), larger batches (§4.3), and byte-level BPE with a larger vocabulary (§4.4). In addition, RoBERTa is trained on more text and for more updates.
#
# BERT's authors copied each text ten times, masked each copy once, and trained for 40 epochs, so each mask was used in four epochs (§4.1). This is **static masking** (静态掩码). **Dynamic masking** (动态掩码) samples a new mask every time a text is used, as we do for all models, BERT included (chapter 08). **In numbers.** If half of the tokens are selected and there are two masks, a token is selected in neither with probability $\tfrac12 \cdot \tfrac12 = \tfrac14$; with four masks the probability is $\tfrac1{16}$. At 15 % it is $0.85^{10} = 0.197$ with ten masks and $0.85^{40} = 0.0015$ with 40.

# %%
from random import Random

from plmlab.chapters.ch09.masking import selected


def mask_of(text, seed):
    return frozenset(selected(objectives.masked(text, vocab=tokenizer.vocab, rng=Random(seed))))


static = [[mask_of(text, seed) for seed in range(10)] * 4 for text in texts]  # ten masks, each used in four epochs
dynamic = [[mask_of(text, seed) for seed in range(40)] for text in texts]     # a new mask in each of the 40 epochs

# %% jupyter={"source_hidden": true} tags=["measure"]
# Measurement: the masks of 40 epochs over the 100 texts
from collections import Counter


def row(epochs):
    never = sum(len(text) - len(set().union(*masks)) for text, masks in zip(texts, epochs))
    return [f"{sum(len(set(masks)) for masks in epochs) / len(texts):.0f}", f"{max(max(Counter(masks).values()) for masks in epochs)}",
            f"{100 * never / sum(map(len, texts)):.2f}"]


show_table(("masking of one text in 40 epochs", "different masks (mean)", "epochs with the same mask (maximum)", "tokens that are never selected (%)"),
           {"static, ten copies": row(static), "dynamic": row(dynamic)})

# %% [markdown]
# **What you see.** With static masking about a fifth of the tokens are never a target, in any epoch; with dynamic masking nearly every token is. One would expect a clear gain. The paper's own comparison shows almost none:
#
# | Liu et al. 2019, models of BERT-base's size | SQuAD 2.0 (F1) | MNLI-m (accuracy, %) | SST-2 (accuracy, %) | RACE (accuracy, %) |
# |:--|--:|--:|--:|--:|
# | static masking (table 1) | 78.3 | 84.3 | 92.5 | |
# | dynamic masking (table 1) | 78.7 | 84.0 | 92.9 | |
# | two segments with NSP, BERT's input (table 2) | 78.7 | 84.0 | 92.9 | 64.2 |
# | full sentences of several documents, without NSP (table 2) | 79.1 | 84.7 | 92.5 | 64.8 |
# | full sentences of one document, without NSP (table 2) | 79.7 | 84.7 | 92.7 | 65.6 |
#
# **What you see.** Dynamic masking is 0.4 points better on two tasks and 0.3 points worse on MNLI. Without NSP three of the four scores rise and the accuracy on SST-2 falls slightly. Devlin et al. had reported that NSP helps. According to Liu et al. (§4.2), their ablation may have removed only the loss and kept the pairs of segments. More text and more updates have a larger effect. On SQuAD 2.0, RoBERTa-large rises from 87.3 to 87.7 with ten times the text, and to 89.4 with five times the updates as well (table 4).
#
# ### Spans and their boundaries: SpanBERT (片段掩码) *deeper*
#
# Answers to questions and names are spans. SpanBERT masks spans of whole words until 15 % of the tokens are selected (Joshi et al. 2020, §3.1). The length of a span, in words, follows a geometric distribution (几何分布) with $p = 0.2$ and a maximum of 10. **In numbers.** With $p = \tfrac12$ and a maximum of three words, the geometric probabilities are $\tfrac12, \tfrac14, \tfrac18$. Their sum is $\tfrac78$, so each is divided by it. The results are $\tfrac47, \tfrac27, \tfrac17$, and the mean length is $\tfrac{11}7 = 1.57$. In general
#
# $$P(\ell) = \frac{p\,(1 - p)^{\ell - 1}}{1 - (1 - p)^{10}}, \qquad \ell = 1, \dots, 10$$
#
# The paper says that lengths are *clipped* at 10, which would assign the probability of all longer spans to length 10. The authors' code renormalizes, and only this gives the mean of 3.8 stated in §3.1.

# %% jupyter={"source_hidden": true} tags=["measure"]
# Measurement: exact probabilities of the span lengths; refuses clipped lengths, lengths from 0, no renormalization
import torch

from plmlab import plots
from plmlab.objectives.spans_masked import span_lengths

renormalized, clipped = equivalence.length_distributions()
assert torch.allclose(torch.tensor(span_lengths()), torch.tensor(renormalized)) and len(span_lengths()) == 10
mean, mean_clipped = (sum(length * share for length, share in enumerate(shares, 1)) for shares in (renormalized, clipped))
print(f"mean length: renormalized {mean:.2f} words, clipped {mean_clipped:.2f} words; at most three words, renormalized: {100 * sum(renormalized[:3]):.0f} %")
plots.lines("More than half of SpanBERT's spans have at most three words", range(1, 11), {"renormalized (authors' code)": renormalized, "clipped": clipped},
            x_title="length of the span (words)", y_title="probability")

# %% [markdown]
# **What you see.** The two curves differ little up to nine words. Clipping assigns the probability of all longer spans to ten words, so the mean rises from 3.80 to 4.46.
#
# The second idea is the **span boundary objective** (SBO, 片段边界目标). Each token of a span is predicted a second time, from the encoder's outputs at the two tokens next to the span and from its relative position in the span (§3.2). These outputs thus learn to summarize the span. **In numbers.** Let each output be a single number, $x = (3, 1, 4, 1, 5)$, and let the third and the fourth token form the masked span. Both are predicted from the outputs before and after the span, 1 and 5. The inputs are $(1, 5, p_1)$ and $(1, 5, p_2)$, where $p_1$ and $p_2$ are learned embeddings of the relative positions 1 and 2. Let $s$ and $e$ be the first and the last position of the span. Then
#
# $$h = \mathrm{LayerNorm}\big(\mathrm{GELU}(W_1 [x_{s-1}; x_{e+1}; p_{i-s+1}])\big), \qquad y_i = \mathrm{LayerNorm}\big(\mathrm{GELU}(W_2 h)\big)$$
#
# and $y_i$ is multiplied by the transposed embedding matrix, as in the MLM. The two losses are added. In the authors' code, a span at the beginning or the end of the text has no SBO.

# %%
from torch import nn

from plmlab.example import IGNORE


class SpanBoundary(nn.Module):
    def __init__(self, model, width, positions):
        super().__init__()
        self.position = nn.Embedding(positions, width)                      # p: row 0 for the first token of a span
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(size, model), nn.GELU(), nn.LayerNorm(model, 1e-12))
                                    for size in (2 * model + width, model))

    def forward(self, x, boundaries, embeddings, bias):                     # x: [position model], of one text
        target = (boundaries[:, 0] != IGNORE).nonzero()[:, 0]               # tokens of spans that are not at an edge
        left, right = boundaries[target].T                                  # s − 1 and e + 1 of each of these tokens
        y = torch.cat([x[left], x[right], self.position(target - left - 1)], dim=1)
        for layer in self.layers:
            y = layer(y)
        return target, y @ embeddings.T + bias                              # positions, and logits [token vocab]


# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: the code above equals plmlab's SpanBERT; spans and boundaries of 500 texts equal those found by hand
# It refuses the outputs of the span itself or of each token's neighbours; positions from 1 or in the text; x[−1] at an edge; untied outputs;
# LayerNorm before GELU; spans that cut words; 80/10/10 per token; two segments
equivalence.report({**equivalence.span_boundary(SpanBoundary), **equivalence.spans(objectives.spans_masked)})

# %% [markdown]
# **What you see.** Spans inside the text have boundaries. The spans at its beginning, *Nora Holt*, and at its end do not, so their tokens are predicted by the MLM only.
#
# | Joshi et al. 2020 (development sets) | SQuAD 2.0 (F1) | coreference (F1) |
# |:--|--:|--:|
# | subword tokens, two segments with NSP (table 6) | 83.8 | 77.7 |
# | whole words, two segments with NSP (table 6) | 84.3 | 76.6 |
# | named entities, two segments with NSP (table 6) | 84.8 | 75.6 |
# | spans, two segments with NSP (table 6) | 85.4 | 76.4 |
# | spans, one segment (table 7) | 86.7 | 76.3 |
# | spans, one segment, SBO (table 7) | 86.8 | 79.0 |
#
# **What you see.** On SQuAD 2.0 random spans are better than words and names, although they require no linguistic knowledge. On coreference resolution (共指消解), however, single tokens are better than any other unit: 77.7, compared with 76.4 for spans. Only the boundary objective raises this score, to 79.0. One segment without NSP is better than two on SQuAD 2.0, as in RoBERTa.
#
# ### Entities and relative positions: ERNIE and NEZHA (实体级掩码, 相对位置编码) *deeper*
#
# ERNIE 1.0 (Sun et al. 2019) was built for Chinese, where BERT masks single characters. It masks at three levels: characters, phrases and **entities**, so that a name must be predicted from the facts in the text. Phrases and names are found by tools before training. Its successor ERNIE 2.0 adds several tasks and is a different model. NEZHA (Wei et al. 2019) uses whole words and no learned positions. Each attention layer receives the **functional relative position encoding** (函数式相对位置编码), a fixed sinusoid of the distance $j - i$ from the query to the key. It is added to the key and to the value of each pair:
#
# $$a_{ij}[2k] = \sin\frac{j - i}{10000^{2k/d}}, \qquad a_{ij}[2k + 1] = \cos\frac{j - i}{10000^{2k/d}}$$
#
# **In numbers.** With $d = 2$, the next token has $a = (\sin 1, \cos 1) = (0.84, 0.54)$ and the previous token $(-0.84, 0.54)$. For a query $q = (1, 0)$ the encoding adds $q \cdot a$ to the score before division by $\sqrt d$, which is 0.84 for the next token and −0.84 for the previous one. The sine thus distinguishes the two directions.

# %% jupyter={"source_hidden": true} tags=["proof"]
# Proof: keys and values are encoded as in a loop over all pairs; refuses i − j and another maximum distance
from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.nezha import NEZHA, NEZHAConfig

torch.manual_seed(0)
nezha, bert = (build(config(tokenizer.vocab.size, time=64, layers=1, model=8, heads=1, inner=16)).eval() for build, config in ((NEZHA, NEZHAConfig), (BERT, BERTConfig)))
equivalence.report(equivalence.functional_positions(nezha.layers[0].attention))
long = Batch.of([objectives.masked(texts[0][:98], vocab=tokenizer.vocab, rng=Random(0))], pad=tokenizer.vocab.pad)
print(f"NEZHA, a text of {nezha(long).shape[1]} tokens: no error")
try:
    bert(long)
except ValueError as error:
    print("BERT:", str(error).split(";")[0])

# %% [markdown]
# **What you see.** NEZHA has no table of positions, so it accepts texts of any length; all distances above 64 share one encoding. BERT raises an error.
#
# The paper's ablation shows what this means in practice. Its models were pretrained on texts of at most 128 tokens and then fine-tuned on CMRC, a Chinese reading-comprehension test whose passages can be much longer. The exact match is 37.96 % with learned absolute positions, 65.26 % with learned relative positions and 65.95 % with the functional ones (Wei et al. 2019, table 5). On XNLI, fine-tuned with at most 128 tokens (table 3), the difference is small: 78.79 % with absolute and 79.96 % with functional relative positions. Whole words instead of characters raise the exact match on CMRC from 66.95 % to 67.82 % (table 5, with more training text).

# %% [markdown]
# ## Exercises (练习)
#
# Replace the last line of each stub with your own code, and run the cell. If you are stuck, remove the `#` before a `hint` and run it; each run reveals a little more. A **solution** (参考答案) is folded away below.

# %%
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.exercises import check, hint, solution

# %% [markdown]
# ### 1 · Whole words from WordPiece tokens (全词掩码)
#
# The tokens are given as strings, and the random order of the words is fixed, so the result is determined.

# %%
def whole_words(tokens: list[str], order: list[int], budget: int) -> list[int]:
    """The positions that whole-word masking selects, in ascending order.

    A WordPiece token that starts with ## continues the word before it; any other token starts a word. [CLS],
    [SEP] and [PAD] belong to no word; [UNK] is a word. Words are counted from 0, in the order of the text.
    ``order`` lists the indices of all words in the order in which they are considered. A word is selected with all
    its tokens; if the number of selected tokens would exceed ``budget``, it is skipped, and the next is considered.
    """
    raise NotImplementedError


check("09.1", whole_words)

# %%
# hint("09.1")

# %%
solution("09.1")

# %% [markdown]
# ### 3 · The lengths of SpanBERT's spans (片段长度) *deeper*
#
# The paper clips, the authors' code renormalizes. Implement the code's distribution and its mean.

# %%
def span_lengths(p: float, longest: int) -> tuple[Float[Tensor, "word"], float]:
    """SpanBERT's distribution of span lengths, and its mean.

    A geometric distribution assigns the probability p(1 − p)^(l − 1) to the length l = 1, 2, 3, … Lengths above
    ``longest`` are excluded, and the probabilities of the others are renormalised, so that they sum to 1. Return
    the probabilities of the lengths 1 to ``longest``, and the mean length.
    """
    raise NotImplementedError


check("09.3", span_lengths)

# %%
# hint("09.3")

# %%
solution("09.3")

# %% [markdown]
# ### 4 · Inputs of the span boundary objective (片段边界目标) *deeper*
#
# The section above found the boundaries in the labels of an example. Here you find them from the spans.

# %%
def boundary_inputs(
    x: Float[Tensor, "time model"], p: Float[Tensor, "position width"], spans: list[list[int]],
) -> tuple[Int[Tensor, "query"], Float[Tensor, "query joined"]]:
    """The targets of SpanBERT's span boundary objective, and the input from which each is predicted.

    ``x`` holds the encoder's output at each position of a text. ``spans`` gives [begin, end] of each masked span, as
    in a slice, in the order of the text; between two spans there is an unmasked token. A token of a span is predicted
    from three vectors, concatenated in this order: the output at the last position before the span, the output at the
    first position after it, and the embedding of the token's relative position in the span: row 0 of ``p`` for its
    first token. A span at the beginning or the end of the text lacks one of the outputs: its tokens are not
    predicted. Return the positions of the predicted tokens, at least one, and their inputs, one row each.
    """
    raise NotImplementedError


check("09.4", boundary_inputs)

# %%
# hint("09.4")

# %%
solution("09.4")
