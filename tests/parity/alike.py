"""What the parity tests share: weights that hide no mistake, and what is close enough."""

import torch
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.hf.families import Family
from plmlab.hf.links import to_ours, within


def shaken(model: nn.Module, seed: int = 0) -> nn.Module:
    """The model in float64 with every weight random, norms and biases too, so that no two could be mixed up."""
    generator = torch.Generator().manual_seed(seed)
    model.double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.3)
            if parameter.dim() == 1:
                parameter.add_(0.5)
    return model


def noise(*shape: int, seed: int = 1) -> Tensor:
    """Random numbers that take a gradient."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).requires_grad_()


def same(ours: Tensor, theirs: Tensor, tolerance: float = 1e-10) -> None:
    """An AssertionError where they differ by more."""
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)


def gradients(output: Tensor, *inputs: Tensor) -> list[Tensor]:
    """Of a sum that weighs every entry of the output differently."""
    weights = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return list(torch.autograd.grad((output * weights).sum(), inputs, retain_graph=True))


def put_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    """Copy the weights of ``nn.MultiheadAttention``, which keeps q, k and v in one matrix."""
    with torch.no_grad():
        for linear, weight, bias in zip((ours.q, ours.k, ours.v), theirs.in_proj_weight.chunk(3),
                                        theirs.in_proj_bias.chunk(3), strict=True):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
    ours.out.load_state_dict(theirs.out_proj.state_dict())


def attention_gradients(ours: nn.Module) -> dict[str, Tensor]:
    """The gradients of our attention's weights under the names of ``nn.MultiheadAttention``."""
    qkv = (ours.q, ours.k, ours.v)
    return {
        "in_proj_weight": torch.cat([linear.weight.grad for linear in qkv]),
        "in_proj_bias": torch.cat([linear.bias.grad for linear in qkv]),
        "out_proj.weight": ours.out.weight.grad, "out_proj.bias": ours.out.bias.grad,
    }


def same_masked_lm(ours: nn.Module, theirs: nn.Module, batch: Batch, given: dict[str, Tensor]) -> None:
    """Logits at real tokens, and losses, whose gradients are then there."""
    expected, real = theirs(**given, labels=batch.targets), given["attention_mask"].bool()
    same(ours(batch)[real], expected.logits[real])
    loss = ours.loss(batch)
    same(loss, expected.loss)
    loss.backward()
    expected.loss.backward()


def same_gradients(ours: nn.Module, theirs: nn.Module, family: Family, tolerance: float = 1e-10) -> None:
    """Of every weight of a pretraining model, on both sides; our pooler, which nothing reads, takes none."""
    links = [*within(family.part, family.links(ours.config)), *family.head]
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    assert set(gradients) == {link.theirs for link in links}
    others = to_ours(links, gradients)
    for name, parameter in ours.named_parameters():
        if name.startswith(f"{family.part}.pooler"):
            assert parameter.grad is None
        else:
            same(parameter.grad, others.pop(name), tolerance)
    assert not others
