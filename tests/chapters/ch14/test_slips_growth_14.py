"""Slips that people make in the exercises 14.5 and 14.6, written as they write them: each is named as what it is."""

from collections import Counter

import pytest

from plmlab.exercises import check

# 14.5

def with_kinds(hops, answers):
    return [(*hop, True) for hop in hops] + [(*one, False) for one in answers]


def looped(pop=lambda queue: queue.pop(0), clues=lambda x, edges: [clue for (_, y), clue in edges.items() if y == x],
           start=list, pointed=with_kinds,
           known=lambda x, y, edges, nodes: (x, y) in edges, full=lambda nodes, edges, most: len(nodes) >= most,
           again=lambda y, hop, queue, seen, new: hop and y not in queue, when_full="skip", once=lambda answers: False,
           name=lambda x, y: (x, y), give=list, put=lambda queue, y: queue.append(y), counts=lambda hop: True):
    """A queue, the nodes, and a dict of edges with their clues."""
    def answer(read, named, most):
        queue, nodes, edges, seen = start(named), set(named), {}, set()
        while queue:
            x = pop(queue)
            seen.add(x)
            hops, answers = read(x, clues(x, edges))
            for y, clue, hop in pointed(hops, answers):
                if known(x, y, edges, nodes):
                    continue
                if (y not in nodes or when_full == "always") and full(nodes, edges, most):
                    if when_full == "return":
                        return give(name(*edge) for edge in edges)
                    continue
                new = y not in nodes
                if counts(hop):
                    nodes.add(y)
                edges[x, y] = clue
                if again(y, hop, queue, seen, new):
                    put(queue, y)
            if once(answers):
                break
        return give(name(*edge) for edge in edges)
    return answer


def overwriting(read, named, most):
    """The clue is kept for every mention, the edge for the first."""
    queue, nodes, edges, order = list(named), set(named), {}, []
    while queue:
        x = queue.pop(0)
        hops, answers = read(x, [clue for (_, y), clue in edges.items() if y == x])
        for y, clue in hops + answers:
            if y in nodes or len(nodes) < most:
                if (x, y) not in edges:
                    order.append((x, y))
                    if (y, clue) in hops and y not in queue:
                        queue.append(y)
                edges[x, y] = clue
                nodes.add(y)
    return order


def collecting_clues(read, named, most):
    """Each mention adds its clue, though its edge is there."""
    queue, nodes, edges, clues = list(named), set(named), [], {}
    while queue:
        x = queue.pop(0)
        hops, answers = read(x, clues.get(x, []))
        for y, clue in hops + answers:
            if y in nodes or len(nodes) < most:
                clues.setdefault(y, []).append(clue)
                if (x, y) not in edges:
                    edges.append((x, y))
                    nodes.add(y)
                    if (y, clue) in hops and y not in queue:
                        queue.append(y)
    return edges


def depth_first(read, named, most):
    edges, nodes = {}, set(named)

    def visit(x):
        hops, answers = read(x, [clue for (_, y), clue in edges.items() if y == x])
        for y, clue in [*hops, *answers]:
            if (x, y) not in edges and (y in nodes or len(nodes) < most):
                nodes.add(y)
                edges[x, y] = clue
                if (y, clue) in hops:
                    visit(y)

    for x in named:
        visit(x)
    return list(edges)


def listing_all(read, named, most):
    """The list of edges is not asked whether the edge is there."""
    queue, nodes, edges, clues = list(named), set(named), [], {}
    while queue:
        x = queue.pop(0)
        hops, answers = read(x, list(clues.get(x, {}).values()))
        for y, clue in hops + answers:
            if y not in nodes and len(nodes) >= most:
                continue
            if x not in clues.setdefault(y, {}) and (y, clue) in hops and y not in queue:
                queue.append(y)
            clues[y].setdefault(x, clue)
            nodes.add(y)
            edges.append((x, y))
    return edges


def by_rims(read, named, most):
    frontier, nodes, edges = list(named), set(named), {}
    while frontier:
        found = {x: read(x, [clue for (_, y), clue in edges.items() if y == x]) for x in frontier}
        frontier = []
        for x, (hops, answers) in found.items():
            for y, clue in hops + answers:
                if (x, y) not in edges and (y in nodes or len(nodes) < most):
                    edges[x, y] = clue
                    nodes.add(y)
                    if (y, clue) in hops and y not in frontier:
                        frontier.append(y)
    return list(edges)


# 14.6

def scored(words=Counter, size=lambda text: len(text.split()), split=str.split, sure=lambda a, g: a != g and (
        a in ("yes", "no") or g in ("yes", "no")), facts=set, key=lambda fact: fact, least=1,
           join=lambda pa, ra, ps, rs: (pa * ps, ra * rs), mean=lambda p, r: 2 * p * r / (p + r) if p + r else 0.0):
    """Four numbers, and what is made of them."""
    def answer(given, gold, found, supporting):
        shared = sum((words(split(given)) & words(split(gold))).values())
        if sure(given, gold):
            shared = 0
        found, right = facts(map(key, found)), facts(map(key, supporting))
        hit = sum(fact in right for fact in found)
        return mean(*join(shared / max(size(given), least), shared / max(size(gold), 1),
                          hit / max(len(found), least), hit / max(len(right), 1)))
    return answer


def f1(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def of_two(combine):
    """Each F1 by itself, and both joined."""
    return scored(join=lambda pa, ra, ps, rs: (f1(pa, ra), f1(ps, rs)), mean=combine)


def with_sets(given, gold, found, supporting):
    a, g, s, t = set(given.split()), set(gold.split()), set(found), set(supporting)
    if given != gold and {given, gold} & {"yes", "no"}:
        return 0.0
    p = len(a & g) / max(len(a), 1) * len(s & t) / max(len(s), 1)
    r = len(a & g) / len(g) * len(s & t) / len(t)
    return f1(p, r)


def counting_in(given, gold, found, supporting):
    words, right = given.split(), gold.split()
    if given != gold and {given, gold} & {"yes", "no"}:
        return 0.0
    same, both = sum(1 for word in words if word in right), len(set(found) & set(supporting))
    if not words or not found:
        return 0.0
    return f1(same / len(words) * both / len(set(found)), same / len(right) * both / len(set(supporting)))


def zipped(given, gold, found, supporting):
    same = sum(a == b for a, b in zip(given.split(), gold.split(), strict=False))
    if given != gold and {given, gold} & {"yes", "no"}:
        same = 0
    both = len(set(found) & set(supporting))
    if not same or not both:
        return 0.0
    return f1(same / len(given.split()) * both / len(set(found)), same / len(gold.split()) * both / len(supporting))


def exact(given, gold, found, supporting):
    right, both = float(given == gold), len(set(found) & set(supporting))
    return f1(right * both / max(len(set(found)), 1), right * both / len(supporting))


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("14.5", looped(again=lambda y, hop, queue, seen, new: hop and y not in queue and y not in seen), "is never read"),
    ("14.5", looped(again=lambda y, hop, queue, seen, new: hop and new), "does not go to the frontier again"),
    ("14.5", looped(known=lambda x, y, edges, nodes: y in nodes), "as in a tree"),
    ("14.5", looped(pop=lambda queue: queue.pop()), "pop() for pop(0)"),
    ("14.5", looped(put=lambda queue, y: queue.insert(0, y)), "target goes to the *end* of the frontier"),
    ("14.5", depth_first, "read inside the loop over its targets"),
    ("14.5", looped(clues=lambda x, edges: []), "o clues are told"),
    ("14.5", looped(clues=lambda x, edges: [clue for (_, y), clue in edges.items() if y == x][-1:]), "nly the last cl"),
    ("14.5", looped(clues=lambda x, edges: [clue for (_, y), clue in edges.items() if y == x][:1]), "nly the first cl"),
    ("14.5", looped(clues=lambda x, edges: [clue for (_, y), clue in reversed(edges.items()) if y == x]),
     "from the last to the first"),
    ("14.5", looped(clues=lambda x, edges: list(edges.values())), "clues of all edges are told"),
    ("14.5", looped(clues=lambda x, edges: [clue for (y, _), clue in edges.items() if y == x]), "lead *away* from"),
    ("14.5", looped(again=lambda y, hop, queue, seen, new: y not in queue), "nswers go to the frontier too"),
    ("14.5", looped(pointed=lambda hops, answers: [(*hop, True) for hop in hops]), "nswers do not come into the graph"),
    ("14.5", looped(pointed=lambda hops, answers: [(*one, False) for one in answers]), "ops do not come into the gr"),
    ("14.5", looped(pointed=lambda hops, answers: [(*one, False) for one in answers] + [
        (*hop, True) for hop in hops]), "nswers come before the hops"),
    ("14.5", looped(pointed=lambda answers, hops: [(*hop, True) for hop in hops] + [
        (*one, False) for one in answers]), "ops and answers have changed places"),
    ("14.5", looped(full=lambda nodes, edges, most: False), "grows beyond `most`"),
    ("14.5", looped(full=lambda nodes, edges, most: len(nodes) > most), "one node more than `most`"),
    ("14.5", looped(full=lambda nodes, edges, most: len({y for _, y in edges}) >= most), "are not counted"),
    ("14.5", looped(counts=lambda hop: hop), "nswers are not counted"),
    ("14.5", looped(full=lambda nodes, edges, most: len(edges) >= most, when_full="always"),
     "edges are counted, and not the nodes."),
    ("14.5", looped(full=lambda nodes, edges, most: len(edges) >= most), "to see whether a new node has room"),
    ("14.5", looped(when_full="always"), "ull graph gets no further edge"),
    ("14.5", looped(when_full="return"), "verything ends when a node does not fit"),
    ("14.5", looped(once=bool), "stops at the first answer"),
    ("14.5", looped(start=lambda named: named[:1]), "nly the first node that the question names is read"),
    ("14.5", looped(again=lambda y, hop, queue, seen, new: False), "nly the nodes that the question names are read"),
    ("14.5", looped(name=lambda x, y: (y, x)), "dges are turned round"),
    ("14.5", looped(give=sorted), "dges are sorted"),
    ("14.5", overwriting, "the new clue in place of the first"),
    ("14.5", collecting_clues, "one more clue; it keeps its first"),
    ("14.5", listing_all, "found again is listed again"),
    ("14.5", by_rims, "whole frontier is read with the clues of before"),
    ("14.6", of_two(lambda a, s: a * s), "two F1 are multiplied"),
    ("14.6", of_two(lambda a, s: (a + s) / 2), "mean of the two F1"),
    ("14.6", of_two(f1), "armonic mean of the two F1"),
    ("14.6", of_two(min), "maller of the two F1"),
    ("14.6", of_two(lambda a, s: a), "sentences are not asked"), ("14.6", of_two(lambda a, s: s), "answer is not ask"),
    ("14.6", scored(mean=lambda p, r: p), "joint precision"), ("14.6", scored(mean=lambda p, r: r), "joint recall"),
    ("14.6", scored(mean=lambda p, r: (p + r) / 2), "plain mean"),
    ("14.6", scored(mean=lambda p, r: (p * r) ** 0.5), "geometric mean"),
    ("14.6", scored(mean=lambda p, r: p * r / (p + r) if p + r else 0), "2 of the F1 is missing"),
    ("14.6", scored(mean=lambda p, r: p * r), "product of precision and recall"),
    ("14.6", scored(mean=lambda p, r: 2 * p * r / p + r if p + r else 0), "binds before +"),
    ("14.6", scored(mean=lambda p, r: 2 * p * r / (p + r)), "divided by 0 where nothing is right"),
    ("14.6", scored(least=0), "divided by 0 where nothing is given"),
    ("14.6", scored(least=0, mean=lambda p, r: 2 * p * r / (p + r)), "divided by 0 where nothing is right"),
    ("14.6", scored(join=lambda pa, ra, ps, rs: (pa * rs, ra * ps)), "are crossed"),
    ("14.6", scored(join=lambda pa, ra, ps, rs: ((pa + ps) / 2, (ra + rs) / 2)), "added up"),
    ("14.6", scored(split=list, size=len), "etters are compared"),
    ("14.6", scored(sure=lambda a, g: False), "es and no share words with"),
    ("14.6", scored(sure=lambda a, g: a != g and a in ("yes", "no")), "nly a given yes or no"),
    ("14.6", scored(sure=lambda a, g: a in ("yes", "no") and g in ("yes", "no") and a != g), "es and no share words"),
    ("14.6", scored(sure=lambda a, g: a != g and bool({"yes", "no"} & {*a.split(), *g.split()})), "among other words"),
    ("14.6", scored(sure=lambda a, g: a in ("yes", "no") or g in ("yes", "no")), "even if it is the same"),
    ("14.6", scored(facts=list), "given twice counts twice"),
    ("14.6", scored(key=lambda fact: fact[0]), "nly the titles"),
    ("14.6", scored(key=lambda fact: fact[1]), "nly the numbers"),
    ("14.6", with_sets, "ach word counts once"), ("14.6", counting_in, "counts each time that it is given"),
    ("14.6", zipped, "place by place"), ("14.6", exact, "counts as right or wrong (exact match)"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [("14.5", looped()), ("14.6", scored())])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


def test_who_goes_round_in_circles_is_told() -> None:
    """Every mention puts the target into the frontier, new edge or not."""
    endless = looped(known=lambda x, y, edges, nodes: False)
    feedback = check("14.5", endless)
    assert feedback.verdict == "error" and "only if a *new* edge leads to it" in repr(feedback), feedback


def test_clues_that_are_no_list_of_words_are_told() -> None:
    feedback = check("14.5", looped(clues=lambda x, edges: edges))
    assert feedback.verdict == "error" and "a list of its clues, which are words" in repr(feedback), feedback
