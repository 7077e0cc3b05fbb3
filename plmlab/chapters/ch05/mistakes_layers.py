"""Wrong answers to the exercises 05.4 and 05.5, the mix of layers and the senses of a word, under the names of their
mistakes, and what holds of any right one."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes, Properties, by_exp, largest_from_zero

# 05.4, a mix of layers

Mix = Callable[[Tensor, Tensor, float], Tensor]


def along_layers(shares: Tensor, layers: Tensor) -> Tensor:
    """The sum of the layers, each times its share."""
    return torch.einsum("l, lbtw -> btw", shares, layers)


def shared(shares: Callable[[Tensor], Tensor]) -> Mix:
    """The exercise's function with other shares, made of w."""
    return lambda layers, w, gamma: gamma * along_layers(shares(w), layers)


def weighed(make: Callable[[Tensor, Tensor], Tensor]) -> Mix:
    """γ times something made of the right shares and the layers."""
    return lambda layers, w, gamma: gamma * make(w.softmax(0), layers)


def mixed(make: Callable[[Tensor, float], Tensor]) -> Mix:
    """Something made of Σⱼ sⱼ hⱼ and γ."""
    return lambda layers, w, gamma: make(along_layers(w.softmax(0), layers), gamma)


MIX: Mistakes = {
    "the softmax is missing: w itself is taken for the shares": shared(lambda w: w),
    "the numbers w are divided by their sum; the shares are a softmax of it": shared(lambda w: w / w.sum()),
    "a sigmoid of w is taken: the shares of all layers add up to 1, a softmax": shared(torch.sigmoid),
    "exp is taken of w, and not divided by the sum": shared(torch.exp),
    "the logarithm of the shares is taken: .softmax, not .log_softmax": shared(lambda w: w.log_softmax(0)),
    "the softmax is taken twice": shared(lambda w: w.softmax(0).softmax(0)),
    "the shares are a softmax of −w": shared(lambda w: (-w).softmax(0)),
    "only the layer with the largest w is taken; each has its share": shared(
        lambda w: F.one_hot(w.argmax(), len(w)).float()),
    "exp of a large w is infinite, and of w far below 0 it is 0: .softmax takes the largest away first":
        shared(by_exp),
    "a maximum that starts at 0 stays 0 where all w are negative: start at −∞, or take .softmax":
        shared(lambda w: by_exp(w - largest_from_zero(w))),
    "the softmax runs over an axis of size 1, so that each layer has the share 1: it runs over the layers":
        shared(torch.ones_like),
    "the softmax runs over the layers' vectors; it is taken of w": lambda layers, w, gamma: gamma * along_layers(
        w, layers.softmax(0)),
    "the factor γ stands inside the softmax; it multiplies the sum": lambda layers, w, gamma: along_layers(
        (gamma * w).softmax(0), layers),
    "the numbers w are divided by γ inside the softmax; γ multiplies the sum": lambda layers, w, gamma: along_layers(
        (w / gamma).softmax(0), layers),
    "the factor γ stands inside the softmax, and outside too: it stands outside only": lambda layers, w, gamma:
        gamma * along_layers((gamma * w).softmax(0), layers),
    "the factor γ is forgotten": mixed(lambda mix, gamma: mix),
    "the sum is divided by γ; it is multiplied": mixed(lambda mix, gamma: mix / gamma),
    "the factor γ is added to the sum; it multiplies it": mixed(lambda mix, gamma: mix + gamma),
    "this is the mean of the layers: w is not used": lambda layers, w, gamma: gamma * layers.mean(0),
    "this is the mean of the layers: w and γ are not used": lambda layers, w, gamma: layers.mean(0),
    "this is the sum of the layers: w and γ are not used": lambda layers, w, gamma: layers.sum(0),
    "this is the lowest layer alone": lambda layers, w, gamma: gamma * layers[0],
    "this is the highest layer alone": lambda layers, w, gamma: gamma * layers[-1],
    "the sum is divided by the number of layers: the shares add up to 1 already": lambda layers, w, gamma:
        gamma * along_layers(w.softmax(0), layers) / len(layers),
    "the layers lie side by side, each times its share; they are added up": weighed(
        lambda s, layers: torch.cat([*(s[:, None, None, None] * layers)], -1)),
    "the layers lie side by side, as they are; each is multiplied with its share, and they are added up":
        lambda layers, w, gamma: gamma * torch.cat([*layers], -1),
    "the layers are not added up: this is each layer times its share": weighed(
        lambda s, layers: s[:, None, None, None] * layers),
    "the sum runs over the texts; it runs over the layers": weighed(
        lambda s, layers: (s[:, None, None, None] * layers).sum(1)),
    "the shares lie along the numbers of a vector: s[:, None, None, None] gives each layer its own": weighed(
        lambda s, layers: (s * layers).sum(0)),
    "the shares lie along the slots: s[:, None, None, None] gives each layer its own": weighed(
        lambda s, layers: (s[:, None] * layers).sum(0)),
    "the shares lie along the texts: s[:, None, None, None] gives each layer its own": weighed(
        lambda s, layers: (s[:, None, None] * layers).sum(0)),
    "these are the shares alone": weighed(lambda s, layers: s),
    "an axis of size 1 is left in the place of the layers: the mix is [batch time width]": mixed(
        lambda mix, gamma: gamma * mix[None]),
    ".squeeze() takes away every axis of size 1, that of one text or of one slot too": mixed(
        lambda mix, gamma: (gamma * mix).squeeze()),
}


def between_the_layers(out: Tensor, layers: Tensor, gamma: float) -> bool:
    """Whether a mix, but for γ, lies between the least and the largest of its layers."""
    mix = out / gamma
    return bool(((mix >= layers.amin(0) - 1e-3) & (mix <= layers.amax(0) + 1e-3)).all())


OF_A_MIX: Properties = {
    "a number, divided by γ, lies below or above that of all layers, which no mean does":
        lambda out, layers, w, gamma: between_the_layers(out, layers, gamma),
}


# 05.5, the sense of a word

Centre = Callable[[Tensor], Tensor]
Fit = Callable[[Tensor, Tensor], Tensor]
Sense = Callable[[Tensor, Tensor, Tensor], Tensor]


def cosines(vectors: Tensor, centres: Tensor) -> Tensor:
    """The cosine of each vector and each centre, [query sense]."""
    return F.normalize(vectors) @ F.normalize(centres).T


def products(vectors: Tensor, centres: Tensor) -> Tensor:
    """The inner product of each vector and each centre, [query sense]."""
    return vectors @ centres.T


def nearness(vectors: Tensor, centres: Tensor) -> Tensor:
    """Minus the distance of each vector and each centre, [query sense]."""
    return -torch.cdist(vectors, centres)


def averaged(known: Tensor) -> Tensor:
    """The average of the known vectors of one sense."""
    return known.mean(0)


def centred(known: Tensor, senses: Tensor, centre: Centre = averaged) -> Tensor:
    """The centres of all senses, in the order of their numbers, [sense width]."""
    return torch.stack([centre(known[senses == sense]) for sense in senses.unique()])


def nearest(fit: Fit = cosines, centre: Centre = averaged) -> Sense:
    """The exercise's function with another measure of nearness, or with something else for the average."""
    return lambda vectors, known, senses: senses.unique()[
        fit(vectors, centred(known, senses, centre)).argmax(1)]


def of_one(fit: Fit) -> Sense:
    """The sense of the known vector that is nearest."""
    return lambda vectors, known, senses: senses[fit(vectors, known).argmax(1)]


def voted(vote: Centre) -> Sense:
    """The sense with the best votes, made of the cosines [occurrence query] of the known vectors of a sense."""
    return lambda vectors, known, senses: senses.unique()[
        centred(cosines(known, vectors), senses, vote).argmax(0)]


def most_frequent(vectors: Tensor, known: Tensor, senses: Tensor) -> Tensor:
    """For each vector the sense that stands most often among the known ones."""
    return senses.mode().values.expand(len(vectors))


def for_all_numbers(vectors: Tensor, known: Tensor, senses: Tensor) -> Tensor:
    """The best of the averages for 0, 1, … up to the largest number; no rows have the average NaN."""
    averages = torch.stack([known[senses == number].mean(0) for number in range(int(senses.max()) + 1)])
    return cosines(vectors, averages).argmax(1)


def step_by_step(known: Tensor) -> Tensor:
    """(a + b) / 2, and then (that + c) / 2, and so on."""
    centre = known[0]
    for vector in known[1:]:
        centre = (centre + vector) / 2
    return centre


SENSE: Mistakes = {
    "the inner products are not divided by the lengths of the averages: long ones win; each row has its own length, "
    ".norm(dim=1)": nearest(products),
    "the smallest Euclidean distance is taken; it is the highest cosine": nearest(nearness),
    "the inner product with the sum of each sense is taken, so that frequent senses win: average, and take cosines":
        nearest(products, lambda known: known.sum(0)),
    "the distance to the sum of each sense is taken: average, and take cosines": nearest(
        nearness, lambda known: known.sum(0)),
    "the nearest known vector decides (by its cosine); it is the average of each sense": of_one(cosines),
    "the known vector with the largest inner product decides: average each sense, and take cosines": of_one(products),
    "the known vector at the smallest distance decides: average each sense, and take cosines": of_one(nearness),
    "the cosines with all known vectors of a sense are averaged: average the vectors first": voted(averaged),
    "the cosines with all known vectors of a sense are added up: average the vectors first": voted(
        lambda known: known.sum(0)),
    "the vectors are scaled to the length 1 before they are averaged; average them as they are": nearest(
        cosines, lambda known: F.normalize(known).mean(0)),
    "the vectors are scaled along the wrong axis: F.normalize and .norm take the lengths of rows with dim=1": nearest(
        lambda vectors, centres: F.normalize(vectors, dim=0) @ F.normalize(centres, dim=0).T),
    "only the first known vector of each sense is used": nearest(cosines, lambda known: known[0]),
    "only the last known vector of each sense is used: a dict keeps what was written last": nearest(
        cosines, lambda known: known[-1]),
    "(a + b) / 2, then with c, and so on, is no average: the last vector counts most": nearest(cosines, step_by_step),
    "the largest number of each place is taken for each sense; it is the average": nearest(
        cosines, lambda known: known.amax(0)),
    "all get the most frequent sense: the vectors are not used": most_frequent,
    "the sense with the lowest cosine is taken (or the farthest by 1 − cosine, with argmax): argmax of the cosines":
        nearest(lambda vectors, centres: -cosines(vectors, centres)),
    "the sense at the largest distance is taken: take the highest cosine": nearest(
        lambda vectors, centres: -nearness(vectors, centres)),
    "the sign of the cosine is lost: a cosine of −1 is the lowest": nearest(
        lambda vectors, centres: cosines(vectors, centres).abs()),
    "this is the place of the sense among the senses; asked is its number": lambda vectors, known, senses: cosines(
        vectors, centred(known, senses)).argmax(1),
    "the senses are taken for 0, 1, 2, …; a number that is no sense has the average NaN: take senses.unique()":
        for_all_numbers,
    "this is the place of the nearest known vector; asked is the number of a sense": lambda vectors, known, senses:
        cosines(vectors, known).argmax(1),
    "the place among the senses is looked up in `senses`, which has one number for each known vector":
        lambda vectors, known, senses: senses[cosines(vectors, centred(known, senses)).argmax(1)],
    "the maximum runs over the vectors, so that each sense gets one of them: each vector gets a sense":
        lambda vectors, known, senses: cosines(vectors, centred(known, senses)).argmax(0),
    "these are the cosines themselves; asked is the sense of the highest": lambda vectors, known, senses: cosines(
        vectors, centred(known, senses)),
    "these are the highest cosines; asked are their senses": lambda vectors, known, senses: cosines(
        vectors, centred(known, senses)).amax(1),
    "the maximum runs over all vectors and senses at once: each vector has a sense of its own":
        lambda vectors, known, senses: senses.unique()[
            cosines(vectors, centred(known, senses)).amax(0).argmax()].expand(len(vectors)),
    "an axis of size 1 is left: the senses are [query]": lambda vectors, known, senses: nearest()(
        vectors, known, senses)[:, None],
}

OF_SENSES: Properties = {
    "a number is that of no sense": lambda out, vectors, known, senses: bool(torch.isin(out, senses).all()),
}
