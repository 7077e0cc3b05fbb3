"""RAG against ``transformers``: both losses and their gradients, the marginal over documents, thorough decoding and
beam search, the conversion in both directions; and where theirs forgets p(z|x)."""

from pathlib import Path
from typing import Any

import pytest
import torch
from parity.alike import same, shaken
from parity.encoder_decoders import BARTS, END, PAD, START, VOCAB, Rows
from parity.encoder_decoders import SIZES as BART_SIZES
from parity.texts import SIZES, text
from torch import Tensor
from transformers import (
    BartConfig,
    DPRConfig,
    RagConfig,
    RagModel,
    RagSequenceForGeneration,
    RagTokenForGeneration,
    T5Config,
)

from plmlab.decode import beam_search
from plmlab.decode.rag import TokenMixture, thorough_decoding
from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.hf import NotLoadable, bart, convert, from_hf, rag, to_hf
from plmlab.hf.links import to_ours, within
from plmlab.models.dpr import DPRConfig as OurDPRConfig
from plmlab.models.dpr import QuestionEncoder
from plmlab.models.rag import RAGConfig, RAGSequence, RAGToken
from plmlab.models.t5 import T5
from plmlab.models.t5 import T5Config as OurT5Config
from plmlab.objectives.answer_generation import AnswerBatch
from plmlab.retrieval import Retrieved
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

KINDS: dict[type[RAGSequence], Any] = {RAGSequence: RagSequenceForGeneration, RAGToken: RagTokenForGeneration}
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
WORDS = Vocabulary(VOCAB, start=START, end=END, pad=PAD)
LENGTH = 6

pytestmark = pytest.mark.usefixtures("one_thread")


def theirs_of(kind: type[RAGSequence], docs: int, size: int = 0, seed: int = 0) -> Any:
    """Random weights; those of the generator are as large as in the parity tests of generation, so that few texts
    settle into one token."""
    half = BART_SIZES["bart"][size]
    sizes = {name.replace("encoder", "decoder"): value for name, value in half.items()} | half
    parts = DPRConfig(**SIZES[size], hidden_dropout_prob=0.0), BartConfig(
        **BARTS, **sizes, max_position_embeddings=40)
    theirs = shaken(KINDS[kind](RagConfig.from_question_encoder_generator_configs(*parts, n_docs=docs,
                                                                                 bos_token_id=START)), seed)
    with torch.no_grad():
        for name, weight in theirs.rag.generator.named_parameters():
            if "norm" in name:
                weight.fill_(float(name.endswith("weight")))
            elif weight.dim() > 1:
                weight.mul_(10 if "positions" in name else 1 if "shared" in name else 3)
            else:
                weight.sub_(0.5)
        theirs.rag.generator.final_logits_bias += torch.linspace(-0.3, 0.3, VOCAB).double()
    return theirs


class Given:
    """Questions, ``docs`` documents for each as random vectors and contexts of these lengths, and answers, for both."""

    def __init__(self, theirs: Any, docs: int, side: str, answers: list[int] | None = None, seed: int = 0) -> None:
        lengths = [5, 3, 8][:len(answers or [3, 1, 4])]
        self.queries, self.asked = text(SIZES[0]["vocab_size"], lengths)
        rng, count = torch.Generator().manual_seed(seed), len(lengths) * docs
        self.contexts = Rows.of([2 + int(n) for n in torch.randint(0, 9, (count,), generator=rng)], side, seed + 1)
        width = theirs.config.question_encoder.hidden_size
        self.vectors = torch.randn(len(lengths), docs, width, generator=rng, dtype=torch.float64)
        self.labels = Rows.of([n + 2 for n in answers or [3, 1, 4]], "right", seed + 2).tokens  # two targets or more
        self.labels[:, 0] = START

    def told(self, theirs: Any) -> dict[str, Any]:
        """What theirs are given; the scores are those of their question encoder."""
        questions = theirs.question_encoder(**self.asked)[0]
        return {"context_input_ids": self.contexts.tokens, "context_attention_mask": self.contexts.real.long(),
                "doc_scores": torch.einsum("qw,qdw->qd", questions, self.vectors), "n_docs": self.vectors.shape[1]}

    def batch(self) -> AnswerBatch:
        """What ours is given: every document has a number of its own, and the labels are moved to the left by one."""
        count, docs, width = self.vectors.shape
        found = Retrieved.of(torch.arange(count * docs).view(count, docs).tolist())
        labels = self.labels.repeat_interleave(docs, 0)
        shifted = torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], PAD)], 1)
        target = Batch(labels, torch.arange(labels.shape[1])[None, None], torch.zeros_like(labels),
                       AttentionMask(causal=True), shifted.where(shifted != PAD, IGNORE))
        return AnswerBatch(self.queries, found, self.vectors.view(-1, width),
                           PairBatch(self.contexts.batch(), target, AttentionMask(keys=self.contexts.real)))


@every_kind
@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(("docs", "side"), [(1, "right"), (2, "left"), (3, "right"), (4, "both")])
def test_loss_and_gradients(kind: type[RAGSequence], size: int, docs: int, side: str) -> None:
    """Of the answers' sum; each has at least two targets. The gradient reaches every weight of both parts."""
    theirs = theirs_of(kind, docs, size)
    given, ours = Given(theirs, docs, side), convert(theirs)
    assert type(ours) is kind
    told = theirs(**given.told(theirs), labels=given.labels)
    logprobs = ours.answer_logprobs(given.batch())
    same(logprobs, -told.loss)
    same(ours.loss(given.batch()), told.loss.mean())
    logprobs.sum().backward()
    (-told.loss.sum()).backward()
    found = {name: weight.grad for name, weight in theirs.named_parameters() if weight.grad is not None}
    links = [*within("question_encoder", rag.links_of(QuestionEncoder, ours.config.question.config)),
             *within("generator", bart.links_of(ours.config.generator.config.layers))]
    prefix = {"question_encoder": "rag.question_encoder.", "generator": "rag.generator."}
    for link in links:
        name = prefix[link.ours.partition(".")[0]] + link.theirs
        learned = slice(1, None) if "token.weight" in link.ours else slice(None)  # theirs: not padding
        expected = to_ours([link], {link.theirs: found.pop(name)})[link.ours]
        same(ours.get_parameter(link.ours).grad[learned], expected[learned], 1e-9)
    assert not found
    reached = ours.question_encoder.embeddings.token.weight.grad.any()
    assert bool(reached) == (docs > 1), "one document teaches no retrieval"


def searched(theirs: Any, given: Given, beam: int, **more: Any) -> Any:
    """What theirs generates: [END] [START], then up to ``LENGTH`` tokens. Its RAG-Token ignores ``max_new_tokens``."""
    return theirs.generate(**given.told(theirs), num_beams=beam, num_return_sequences=beam, max_length=LENGTH + 2,
                           forced_bos_token_id=START, length_penalty=0.0, early_stopping="never", **more)


def answers(sequences: Tensor) -> list[tuple[int, ...]]:
    """Up to the [END] after the answer."""
    assert (sequences[:, :2] == torch.tensor([END, START])).all()
    rows = [tuple(row) for row in sequences[:, 2:].tolist()]
    return [row[:row.index(END) + 1] if END in row else row for row in rows]


@pytest.mark.parametrize("beam", [1, 2, 4])
@torch.no_grad()
def test_beam_search_of_rag_token(beam: int) -> None:
    """Every hypothesis in order, with its score."""
    seen = set()
    for seed, side in enumerate(("right", "left")):
        theirs = theirs_of(RAGToken, 3, seed=seed)
        given, ours = Given(theirs, 3, side, seed=seed), convert(theirs)
        told = searched(theirs, given, beam, do_sample=False, eos_token_id=END, pad_token_id=PAD, bos_token_id=START,
                        decoder_start_token_id=END, return_dict_in_generate=True, output_scores=True)
        decoder, documents, prompt = ours.decoding(given.batch(), WORDS)
        rows = beam_search(TokenMixture(decoder, documents), prompt, WORDS, length=LENGTH, beam=beam, banned=())
        found = [text for row in rows for text in row]
        assert [text.tokens for text in found] == answers(told.sequences)
        if beam > 1:
            torch.testing.assert_close(torch.tensor([text.logprob for text in found]), told.sequences_scores.float(),
                                       rtol=1e-4, atol=1e-4)
        seen |= {text.tokens for text in found}
    assert len(seen) > beam and any(len(set(text)) > 2 for text in seen)


@pytest.mark.parametrize("beam", [1, 2, 3])
@torch.no_grad()
def test_thorough_decoding_of_rag_sequence(beam: int) -> None:
    """The best answers of each question in order; theirs scores without [START], as ours. It gives its generator no
    attention mask, which then attends to padding while it searches, but not while it scores: here it gets one."""
    seen, found_more, forgot = set(), False, False
    for seed, side in enumerate(("right", "left", "right")):
        theirs = theirs_of(RAGSequence, 3, seed=seed)
        given, ours = Given(theirs, 3, side, seed=seed), convert(theirs)
        unmasked, generate = answers(searched(theirs, given, beam)), theirs.generator.generate
        theirs.generator.generate = lambda tokens, generate=generate, **how: generate(
            tokens, **how | {"attention_mask": (tokens != PAD).long()})
        told = answers(searched(theirs, given, beam))
        decoder, documents, prompt = ours.decoding(given.batch(), WORDS)
        found = thorough_decoding(decoder, documents, prompt, WORDS, length=LENGTH, beam=beam, banned=())
        assert [text.tokens for row in found for text in row[:beam]] == told
        seen, forgot = seen | {*told}, forgot or unmasked != told
        found_more |= any(len(row) > beam for row in found)
    assert found_more and forgot and len(seen) > 2 * beam and any(len(set(text)) > 2 for text in seen)


TRAP = [  # labels, and what is scored of them after the shift
    ([7, END], [END]), ([START, 7], [7]), ([START, 7, PAD, END], [7, END]), ([START, 7, END], [7, END]),
    ([START, PAD, 7, END], [7, END]), ([START, PAD, 7], [7]), ([START, 7, 8, END], [7, 8, END])]


@every_kind
@pytest.mark.parametrize(("labels", "scored"), TRAP)
@torch.no_grad()
def test_theirs_forgets_the_documents_of_an_answer_with_one_target(kind: type[RAGSequence], labels: list[int],
                                                                   scored: list[int]) -> None:
    """It adds log p(z|x) to the second target after the shift. Where there is none, or where it is padding, its
    RAG-Sequence does not depend on the scores, and sums p(y|x,z) without weights; its RAG-Token never forgets. Padding
    is never scored."""
    theirs = theirs_of(kind, 2)
    given, ours = Given(theirs, 2, "right", [1]), convert(theirs)
    given.labels = torch.tensor([labels])
    batch, told = given.batch(), given.told(theirs)
    assert batch.targets[0][batch.targets[0] != IGNORE].tolist() == scored
    losses = [theirs(**told | {"doc_scores": told["doc_scores"] + torch.tensor([[shift, 0.0]])},
                     labels=given.labels).loss for shift in (0.0, 5.0)]
    forgets = kind is RAGSequence and [*labels, PAD, PAD][2] == PAD
    assert bool(torch.isclose(*losses)) == forgets
    same(-losses[0], ours.token_logprobs(batch).sum(2).logsumexp(1) if forgets else ours.answer_logprobs(batch))
    assert bool(torch.isclose(-losses[0], ours.answer_logprobs(batch))) == (not forgets)


@every_kind
def test_ours_become_theirs_and_come_back(kind: type[RAGSequence], tmp_path: Path) -> None:
    ours = shaken(kind(RAGConfig.tiny(VOCAB, 24))).train()
    theirs = to_hf(ours)
    assert type(theirs) is KINDS[kind] and theirs.training and theirs.dtype == torch.float64
    to_hf(ours.float()).save_pretrained(tmp_path)
    loaded, tokenizer = from_hf(tmp_path)
    assert tokenizer is None and not loaded.training
    for again in (convert(theirs), loaded):
        assert type(again) is kind and again.config == ours.config
        for name, weight in again.state_dict().items():
            same(weight.float(), ours.state_dict()[name], 1e-7)
    theirs.config.generator.pad_token_id = PAD
    given = Given(theirs.eval(), 2, "right")
    with torch.no_grad():
        same(-theirs(**given.told(theirs), labels=given.labels).loss,
             ours.double().eval().answer_logprobs(given.batch()), 1e-5)


def test_what_ours_lacks_is_refused() -> None:
    config = theirs_of(RAGSequence, 2).config
    with pytest.raises(NotLoadable, match="rag with a marginal"):
        convert(RagModel(config))
    other = RagConfig.from_question_encoder_generator_configs(config.question_encoder, T5Config(
        vocab_size=40, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2))
    with pytest.raises(ValueError, match="model_type = 't5'"):
        convert(RagSequenceForGeneration(other))
    t5 = T5(OurT5Config(40, layers=1, model=8, heads=2, inner=8))
    with pytest.raises(ValueError, match="consists of a QuestionEncoder and a T5"):
        to_hf(RAGSequence.from_pretrained(QuestionEncoder(OurDPRConfig.tiny(40)), t5))
