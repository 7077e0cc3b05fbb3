"""Our UniLM against Hugging Face's BERT with six segments, told each of the four masks."""

from pathlib import Path
from random import Random

import pytest
import torch
from alike import same, shaken
from texts import SIZES
from torch import Tensor
from transformers import BertConfig, BertForPreTraining, BertForSequenceClassification, BertModel

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert, from_hf, to_hf, tokenizer_to_hf
from plmlab.hf.links import to_ours, within
from plmlab.hf.unilm import UNILMS
from plmlab.interpret import watch
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.models.task_heads import SentenceClassifier
from plmlab.models.unilm import UniLM, UniLMPretraining
from plmlab.objectives.prefix import MASKS
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary

KINDS = {BertModel: UniLM, BertForPreTraining: UniLMPretraining}
sizes = pytest.mark.parametrize("size", [{**size, "vocab_size": 50, "type_vocab_size": 6} for size in SIZES])
masks = pytest.mark.parametrize("make", MASKS.values(), ids=MASKS)
lengths = pytest.mark.parametrize("words", [[1], [6, 6], [14, 4, 9]])
VOCAB = Vocabulary(50)


def text(make, words: list[int]) -> tuple[Batch, dict[str, Tensor]]:
    """Texts of so many words under a mask, in two parts, for both sides; theirs is told by a dense mask who may look at
    whom, 0 or −∞. Padding is looked at by nobody; so that no row of theirs is empty, it looks at [CLS]."""
    generator = torch.Generator().manual_seed(5)
    drawn = [torch.randint(39, 50, (count,), generator=generator).tolist() for count in words]
    batch = Batch.of([make(ids[:count // 3], pair=ids[count // 3:], vocab=VOCAB, rng=Random(count), rate=0.4)
                      for ids, count in zip(drawn, words, strict=True)], pad=0)
    time = batch.size[1]
    looks = torch.zeros(len(words), time, time, dtype=torch.bool)
    for row, ids, count in zip(looks, drawn, words, strict=True):
        one = make(ids[:count // 3], pair=ids[count // 3:], vocab=VOCAB, rng=Random(0), select=()).visible.dense()
        row[:len(one), :len(one)] = one
        row[len(one):, 0] = True
    added = torch.zeros(looks.shape, dtype=torch.float64).masked_fill(~looks, -torch.inf)[:, None]
    return batch, {"input_ids": batch.tokens, "token_type_ids": batch.segments, "attention_mask": added}


def real(batch: Batch) -> Tensor:
    return batch.tokens != 0


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@lengths
@masks
@sizes
def test_encoder(size: dict, make, words: list[int], attention: str) -> None:
    theirs = shaken(BertModel(BertConfig(**size, attn_implementation=attention)))
    ours = convert(theirs)
    assert type(ours) is UniLM
    batch, given = text(make, words)
    expected, rows = theirs(**given, output_hidden_states=True), real(batch)
    with watch(ours) as seen:
        hidden = ours(batch)
    same(hidden[rows], expected.last_hidden_state[rows])
    for mine, other in zip(seen.hidden(), expected.hidden_states, strict=True):
        same(mine[rows], other[rows])
    same(ours.pool(hidden), expected.pooler_output)
    if make is not MASKS["both directions"] and len(words) > 1:
        blind = theirs(batch.tokens, token_type_ids=batch.segments, attention_mask=rows.long()).last_hidden_state
        assert (blind - hidden)[rows].abs().max() > 1e-3, "the mask is not for nothing"


@masks
def test_attention_s_weights(make) -> None:
    theirs = shaken(BertModel(BertConfig(**SIZES[1], type_vocab_size=6, attn_implementation="eager")))
    ours, (batch, given) = convert(theirs), text(make, [14, 4, 9])
    with watch(ours) as seen:
        ours(batch)
    rows = real(batch)[:, None, :, None]
    for mine, other in zip(seen.attention(), theirs(**given, output_attentions=True).attentions, strict=True):
        same(mine * rows, other * rows)


@lengths
@masks
@sizes
def test_pretraining_loss_and_gradients(size: dict, make, words: list[int]) -> None:
    theirs = shaken(BertForPreTraining(BertConfig(**size)))
    ours = convert(theirs)
    assert type(ours) is UniLMPretraining
    batch, given = text(make, words)
    follows = torch.arange(len(words)) % 2
    batch.labels["next_sentence"] = follows
    expected, rows = theirs(**given, labels=batch.targets, next_sentence_label=follows), real(batch)
    assert (batch.targets != IGNORE).any()
    same(ours(batch)[rows], expected.prediction_logits[rows])
    same(ours.next_sentence_logits(ours.encoder(batch)), expected.seq_relationship_logits)
    loss = ours.loss(batch)
    same(loss, expected.loss)
    loss.backward()
    expected.loss.backward()
    links = [*within("encoder", [*UNILMS.links(ours.config), *UNILMS.pooler]), *UNILMS.head, *UNILMS.others]
    others = to_ours(links, {name: p.grad for name, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        same(parameter.grad, others[name])
    assert set(others) == {name for name, _ in ours.named_parameters()}


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    theirs = shaken(kind(BertConfig(**SIZES[1], type_vocab_size=6)))
    ours = convert(theirs).to(precision)
    again = to_hf(ours)
    assert type(ours) is KINDS[kind] and type(again) is kind and again.dtype == precision and not again.training
    assert again.config.type_vocab_size == 6 == ours.config.segments
    for (name, a), (other, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other and torch.equal(a, b.to(precision)), name
    assert convert(again).config == ours.config and convert(again.train()).training


@pytest.mark.parametrize("kind", KINDS)
def test_through_a_folder_with_its_tokenizer(kind: type, tmp_path: Path) -> None:
    words = Tokenizer.words(["the cat saw a dog near the old red door"], 50)
    theirs = shaken(kind(BertConfig(**SIZES[1], type_vocab_size=6))).float()
    ours = convert(theirs)
    to_hf(ours).save_pretrained(tmp_path)
    tokenizer_to_hf(words).save_pretrained(tmp_path)
    loaded, tokenizer = from_hf(tmp_path)
    assert type(loaded) is KINDS[kind] and loaded.config == ours.config and not loaded.training
    assert tokenizer is not None and tokenizer.encode("the cat saw") == words.encode("the cat saw")
    for (name, a), (_, b) in zip(loaded.named_parameters(), ours.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    batch, given = text(MASKS["sequence to sequence"], [14, 4])
    given["attention_mask"] = given["attention_mask"].float()
    with torch.no_grad():
        expected = kind.from_pretrained(tmp_path).eval()(**given)[0][real(batch)]
        same(theirs(**given)[0][real(batch)], expected, 1e-5)
        same(loaded(batch)[real(batch)], expected, 1e-5)


@pytest.mark.parametrize("segments", [1, 2, 3, 5, 7])
def test_with_another_number_of_segments_it_is_a_bert(segments: int) -> None:
    for kind, ours in ((BertModel, BERT), (BertForPreTraining, BERTPretraining)):
        assert type(convert(kind(BertConfig(**SIZES[0], type_vocab_size=segments)))) is ours


def test_a_fine_tuned_one_is_read_as_what_it_is() -> None:
    """A classifier's class is named by its model, and tells nothing of masks."""
    theirs = BertForSequenceClassification(BertConfig(**SIZES[0], type_vocab_size=6))
    assert type(convert(theirs)) is SentenceClassifier


def test_a_model_without_a_head_that_only_pretraining_reads() -> None:
    with pytest.warns(UserWarning, match="the weights contain no pooler: in our model it is initialised to zero"):
        model = convert(BertModel(BertConfig(**SIZES[0], type_vocab_size=6), add_pooling_layer=False))
    assert type(model) is UniLM and not model.pooler.weight.any()
    with pytest.raises(ValueError, match="is_decoder = True; ours only supports False"):
        convert(BertModel(BertConfig(**SIZES[0], type_vocab_size=6, is_decoder=True)))
