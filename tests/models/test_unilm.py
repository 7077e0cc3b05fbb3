"""UniLM: what each mask hides stays hidden, and writing with a cache is the reading of each prefix anew."""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.checkpoints import load, save
from plmlab.decode import UncachedLM, beam_search, greedy
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.registry import architecture_of, pretrainable, type_of
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TokenClassifier
from plmlab.models.unilm import UniLM, UniLMConfig, UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import always_mask, masked_seq2seq_target, sequence_classification, span_qa, token_classification
from plmlab.objectives.prefix import MASKS, mask_mixture, mask_mixture_pair
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer

VOCAB = Vocabulary(60)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
SIZE = UniLMConfig(60, time=30, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0)
SOURCES = [[40, 41, 42, 43, 44], [45], [], [46, 47, 48]]
TARGETS = [[50, 51], [52, 53, 54, 55], [56, 50, 41], [40]]
masks = pytest.mark.parametrize("make", MASKS.values(), ids=MASKS)


def shaken(model: nn.Module) -> nn.Module:
    """In float64, every weight large enough to matter."""
    torch.manual_seed(3)
    for place, weight in model.double().eval().named_parameters():
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=0.4)
    return model


def made() -> UniLMPretraining:
    model = UniLMPretraining(SIZE)
    shaken(model)
    return model


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def read_anew(model: UniLMPretraining, source: list[int], written: list[int]) -> Tensor:
    """Log-probabilities of what comes next, [SEP] for the end: one Example with [MASK] behind what was written."""
    position = len(source) + 2 + len(written)
    one = masked_seq2seq_target(source, [*written, 59], vocab=VOCAB, rng=Random(0), select=[position],
                                corrupt=always_mask)
    return model(Batch.of([one], pad=PAD))[0, position].log_softmax(-1)


def as_decoding_names(logprobs: Tensor) -> Tensor:
    """[SEP] and [END] change their names."""
    order = torch.arange(60)
    order[[SEP, END]] = torch.tensor([END, SEP])
    return logprobs[order]


def anew(model: UniLMPretraining, source: list[int]) -> UncachedLM:
    """The same task for decoding, without a cache: one source, each prefix read anew."""
    def logits(texts: Tensor) -> Tensor:
        return torch.stack([as_decoding_names(read_anew(model, source, row[1:])) for row in texts.tolist()])
    return UncachedLM(logits)


@torch.no_grad()
def test_a_target_s_likelihood_is_that_of_its_prefixes_read_anew() -> None:
    """Ragged sources side by side, one of no word; each as if it were alone."""
    model = made()
    writer = UniLMDecoder(model, source_batch(SOURCES, VOCAB), VOCAB)
    state, said = writer.start(), torch.full((4, 1), START)
    for step in range(4):
        logprobs = writer.step(said, state).log_softmax(-1)
        for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
            if step <= len(target):
                same(logprobs[row], as_decoding_names(read_anew(model, source, target[:step])))
        said = torch.tensor([[(*target, *[PAD] * 4)[step]] for target in TARGETS])
    assert [cache.time for cache in state.caches] == [7 + 3] * 3, "no [MASK] is kept"


@torch.no_grad()
@pytest.mark.parametrize("cuts", [[3], [1, 2], [2, 1], [1, 1, 1]])
def test_a_prompt_may_be_read_at_once(cuts: list[int]) -> None:
    model, prompt = made(), torch.tensor([[START, 50, 51]] * 4)
    writer = UniLMDecoder(model, source_batch(SOURCES, VOCAB), VOCAB)
    state = writer.start()
    for part in prompt.split(cuts, 1):
        logits = writer.step(part, state)
    for row, source in enumerate(SOURCES):
        same(logits[row].log_softmax(-1), as_decoding_names(read_anew(model, source, [50, 51])))


@torch.no_grad()
def test_rows_can_be_chosen() -> None:
    model = made()
    writer = UniLMDecoder(model, source_batch(SOURCES, VOCAB), VOCAB)
    state = writer.start()
    writer.step(torch.full((4, 1), START), state)
    writer.step(torch.tensor([[50], [51], [52], [53]]), state)
    state.select(torch.tensor([3, 1, 1]))
    logprobs = writer.step(torch.tensor([[40], [41], [42]]), state).log_softmax(-1)
    for row, (source, written) in enumerate([(SOURCES[3], [53, 40]), (SOURCES[1], [51, 41]), (SOURCES[1], [51, 42])]):
        same(logprobs[row], as_decoding_names(read_anew(model, source, written)))


@pytest.mark.parametrize("search", [greedy, partial(beam_search, beam=3)], ids=["greedy", "beam"])
def test_what_is_written_is_written_without_a_cache_too(search) -> None:
    """All sources at once, and each alone from Examples; some texts end early, by the [SEP] that is said as [END]."""
    model = made()
    with torch.no_grad():
        model.bias[SEP] += 6.0
    found = search(UniLMDecoder(model, source_batch(SOURCES, VOCAB), VOCAB), torch.full((4, 1), START), VOCAB, length=5)
    for source, together in zip(SOURCES, found, strict=True):
        [alone] = search(anew(model, source), torch.tensor([[START]]), VOCAB, length=5)
        pairs = [(together, alone)] if search is greedy else list(zip(together, alone, strict=True))
        for one, other in pairs:
            assert one.tokens == other.tokens and one.logprob == pytest.approx(other.logprob, abs=1e-9)
    flat = found if search is greedy else [text for texts in found for text in texts]
    assert any(text.tokens[-1] == END for text in flat)
    assert not any(SEP in text.tokens or MASK in text.tokens for text in flat)


@torch.no_grad()
def test_all_short_targets_share_all_probability() -> None:
    """p(end) + Σ p(word) · (p(end) + …) of two words at most is 1: the writer's distributions are the model's."""
    model = made()
    writer = UniLMDecoder(model, source_batch([[40, 41]], VOCAB), VOCAB)
    state = writer.start()
    first = writer.step(torch.tensor([[START]]), state).softmax(-1)[0]
    state.select(torch.zeros(60, dtype=torch.long))
    second = writer.step(torch.arange(60)[:, None], state).softmax(-1)
    by_hand = sum(float(first[a]) * float(second[a, b]) for a, b in product(range(60), repeat=2) if a != END)
    assert by_hand + float(first[END]) == pytest.approx(1.0)


def test_a_writer_lacks_words() -> None:
    model = made()
    for lacking in ("mask", "sep", "end"):
        bare = Vocabulary(60, **{lacking: None})
        writer = UniLMDecoder(model, source_batch([[40]], VOCAB), bare)
        with pytest.raises(ValueError, match=rf"this tokenizer has no \[{lacking.upper()}\] token"):
            writer.step(torch.tensor([[START]]), writer.start())
    with pytest.raises(ValueError, match=r"call model\.eval"):
        greedy(UniLMDecoder(model.train(), source_batch([[40]], VOCAB), VOCAB), torch.tensor([[START]]), VOCAB,
               length=2)
    with pytest.raises(ValueError, match="the model has learned 30 positions"):
        UniLMDecoder(model, source_batch([[40] * 29], VOCAB), VOCAB).start()


def test_dropout_is_off_where_it_is_asked() -> None:
    model = UniLMPretraining(replace(SIZE, dropout=0.5))
    batch = Batch.of([mask_mixture([40, 41, 42], vocab=VOCAB, rng=Random(0))], pad=PAD)
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))


def examples(make, whole: bool = False) -> list[Example]:
    choices = {"select": ()} if whole else {"rate": 0.4}
    return [make(source, pair=target, vocab=VOCAB, rng=Random(i), **choices)
            for i, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True))]


@masks
def test_padding_and_company_change_nothing(make) -> None:
    model = made()
    drawn = examples(make)
    together, losses = Batch.of(drawn, pad=PAD), []
    for row, one in zip(model(together), drawn, strict=True):
        alone = Batch.of([one], pad=PAD)
        same(row[:len(one.tokens)], model(alone)[0])
        losses.append((model.loss(alone), int((one.targets != IGNORE).sum())))
    same(model.loss(together), sum(loss * n for loss, n in losses) / sum(n for _, n in losses))


def test_texts_under_all_four_masks_stand_in_one_batch() -> None:
    model = made()
    drawn = [make(source, pair=target, vocab=VOCAB, rng=Random(0))
             for make, source, target in zip(MASKS.values(), SOURCES, TARGETS, strict=True)]
    for row, one in zip(model(Batch.of(drawn, pad=PAD)), drawn, strict=True):
        same(row[:len(one.tokens)], model(Batch.of([one], pad=PAD))[0])


@masks
def test_what_a_mask_hides_reaches_no_position_over_three_layers(make) -> None:
    """Each position in turn shows another word: just those positions say something else that may see it."""
    model = made()
    batch = Batch.of(examples(make, whole=True), pad=PAD)
    before, real = model(batch).detach(), batch.padding_mask
    looks = batch.visible.dense(*[batch.size[1]] * 2)
    assert looks is not None
    looks = looks.expand(len(SOURCES), 1, -1, -1)[:, 0]
    changed, hidden = 0, 0
    for position in range(batch.size[1]):
        tokens = batch.tokens.clone()
        tokens[:, position] = 58
        moved = (model(replace(batch, tokens=tokens)) - before).abs().amax(-1).detach()
        sees = looks[:, :, position] & real
        assert (moved[sees & real[:, position:position + 1]] > 1e-6).all()
        assert (moved[real & ~sees] < 1e-12).all()
        changed, hidden = changed + int(sees.sum()), hidden + int((real & ~sees).sum())
    assert changed > 50 and (hidden > 50 or make is MASKS["both directions"])


@masks
def test_all_weights_learn_under_every_mask(make) -> None:
    model = made()
    model.loss(Batch.of(examples(make), pad=PAD)).backward()
    lacking = {name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()}
    assert lacking == {"encoder.pooler.weight", "encoder.pooler.bias", "next_sentence.weight", "next_sentence.bias"}
    segments = model.encoder.embeddings.segment.weight.grad
    assert segments is not None and set(segments.any(1).nonzero().flatten().tolist()) == {
        segment for one in examples(make) for segment in one.segments.tolist()}


def test_the_next_sentence_is_learned_under_both_directions_alone() -> None:
    model, pooled = made(), []
    for seed in range(12):
        one = mask_mixture_pair([40, 41], [42, 43], True, vocab=VOCAB, rng=Random(seed))
        model.zero_grad()
        model.loss(Batch.of([one], pad=PAD)).backward()
        grad = model.encoder.pooler.weight.grad
        pooled.append((bool(one.segments.max() <= 1), grad is not None and bool(grad.any())))
    assert all(asked == learned for asked, learned in pooled) and len(set(pooled)) == 2


def test_it_is_bert_with_six_segments() -> None:
    """The same weights and BERT's mask: the same vectors; and no parameter more but four segments' rows."""
    ours, bert = made().encoder, BERT(BERTConfig(**vars(SIZE))).double().eval()
    bert.load_state_dict(ours.state_dict())
    batch = Batch.of(examples(MASKS["both directions"]), pad=PAD)
    same(ours(batch), bert(batch))
    plain = BERT(BERTConfig(**(vars(SIZE) | {"segments": 2})))
    sizes = [sum(weight.numel() for weight in model.parameters()) for model in (ours, plain)]
    assert sizes[0] - sizes[1] == 4 * SIZE.model
    assert UniLMConfig(60).segments == UniLMConfig.tiny(60).segments == UniLMConfig.base().segments == 6


def test_the_paper_s_size() -> None:
    """Hugging Face's ``bert-large-cased`` has 333,579,264 parameters, and two segments."""
    with torch.device("meta"):
        model = UniLM(UniLMConfig.base())
    assert sum(weight.numel() for weight in model.parameters()) == 333_579_264 + 4 * 1024


@pytest.mark.parametrize(("kind", "one"), [
    (SentenceClassifier, sequence_classification([40, 41], 1, pair=[42], vocab=VOCAB)),
    (TokenClassifier, token_classification([40, 41], [1, 0], vocab=VOCAB)),
    (SpanClassifier, span_qa([40], [41, 42], 0, 1, vocab=VOCAB)),
])
def test_heads_stand_on_it(kind: type, one: Example) -> None:
    """On a copy of its encoder; all that stands below the head's output learns, and the encoder stays as it was."""
    encoder = made().encoder
    head = kind.from_pretrained(encoder)
    assert type(head.encoder) is UniLM and isinstance(head, kind) and head.encoder.config == SIZE
    before = encoder.layers[0].attention.q.weight.clone()
    fit(head.float(), lambda _: Batch.of([one], pad=PAD), steps=3, lr=0.01, warmup=1, show=False)
    assert torch.equal(encoder.layers[0].attention.q.weight, before)
    assert not torch.equal(head.encoder.layers[0].attention.q.weight.double(), before)


def test_it_learns_and_is_saved(tmp_path: Path) -> None:
    small = world.small()
    tokenizer = build_world_tokenizer(small, ["english"])
    torch.manual_seed(0)
    model = UniLMPretraining(UniLMConfig(len(tokenizer), 32, 2, 16, 2, 32, dropout=0.0, attention_dropout=0.0))
    history = fit(model, sentence_batches(small, "train", tokenizer, mask_mixture, 8, 0), steps=40, lr=0.02, warmup=5,
                  show=False)
    assert history.smoothed(10)[-1] < 0.9 * history.losses[0]
    save(tmp_path / "model", model, tokenizer, command="x", figures={})
    again, words = load(tmp_path / "model", expect="unilm-pretraining")
    assert type(again) is UniLMPretraining and again.config == model.config and len(words) == len(tokenizer)
    batch = Batch.of([mask_mixture(words.encode(" ".join(next(small.text("test")))), vocab=words.vocab, rng=Random(0))],
                     pad=PAD)
    with torch.no_grad():
        assert torch.equal(model.eval()(batch), again(batch))
    save(tmp_path / "encoder", model.encoder, tokenizer, command="x", figures={})
    assert type(load(tmp_path / "encoder", expect="unilm")[0]) is UniLM


def test_how_it_is_registered() -> None:
    kind = pretrainable()["unilm"]
    assert kind.model is UniLMPretraining and kind.pretraining is not None and type_of(made()) is kind
    masks = architecture_of(made().encoder).masks
    assert list(masks) == list(MASKS)
    for name, make in MASKS.items():
        read, expected = masks[name]([40, 41], [42], VOCAB), make([40, 41], pair=[42], vocab=VOCAB, rng=Random(0),
                                                                  select=())
        assert torch.equal(read.visible.dense(), expected.visible.dense()) and read.segments.equal(expected.segments)
