"""Wrong answers to the exercise 14.5, how CogQA's graph grows, under the names of their mistakes."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from plmlab.exercises.mistakes import Mistakes

Edge = tuple[str, str]
Pairs = list[tuple[str, str]]
Read = Callable[[str, list[str]], tuple[Pairs, Pairs]]
Answer = Callable[[Read, list[str], int], list[Edge]]
FEW = 30
"""More readings than any question takes."""


@dataclass
class Growing:
    """A graph half grown: the frontier, the nodes, the clue of each edge, those edges that are listed, how often each
    node was read, and how many nodes there may be."""

    frontier: list[str]
    nodes: set[str]
    most: int
    clues: dict[Edge, str] = field(default_factory=dict)
    listed: list[Edge] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    def own(self, node: str) -> list[str]:
        """The clues of the edges that lead to a node."""
        return [clue for (_, target), clue in self.clues.items() if target == node]

    def room(self) -> bool:
        """Whether one more node may come in."""
        return len(self.nodes) < self.most

    def link(self, node: str, target: str, clue: str) -> None:
        """A new edge."""
        self.clues[node, target] = clue
        self.listed.append((node, target))
        self.nodes.add(target)


def first(grown: Growing) -> str:
    """The first of the frontier."""
    return grown.frontier.pop(0)


def in_order(hops: Pairs, answers: Pairs) -> list[tuple[str, str, bool]]:
    """What a page points at, with whether it is a hop."""
    return [*((*pair, True) for pair in hops), *((*pair, False) for pair in answers)]


def is_new(grown: Growing, node: str, target: str) -> bool:
    """Whether an edge comes into the graph."""
    return (node, target) not in grown.clues and (target in grown.nodes or grown.room())


def growing(
    *, begin: Callable[[list[str]], list[str]] = lambda named: [*named],
    take: Callable[[Growing], str] = first, told: Callable[[Growing, str], list[str]] = Growing.own,
    points: Callable[[Pairs, Pairs], list[tuple[str, str, bool]]] = in_order,
    new: Callable[[Growing, str, str], bool] = is_new,
    link: Callable[[Growing, str, str, str], None] = Growing.link,
    wait: Callable[[Growing, str, bool], bool] = lambda grown, target, hop: hop and target not in grown.frontier,
    over: Callable[[Growing, Pairs], bool] = lambda grown, answers: False,
    give: Callable[[Growing], list[Edge]] = lambda grown: grown.listed,
) -> Answer:
    """The exercise's function with another beginning, another node taken out of the frontier, other clues told, other
    things that a page points at, another rule of which edge is new, something else that is done with it, another rule
    of which target goes to the frontier, another end, or something else that is given."""
    def answer(read: Read, named: list[str], most: int) -> list[Edge]:
        grown = Growing(begin(named), {*named}, most)
        while grown.frontier and len(grown.read) < FEW:
            node = take(grown)
            hops, answers = read(node, told(grown, node))
            grown.read.append(node)
            for target, clue, hop in points(hops, answers):
                if new(grown, node, target):
                    link(grown, node, target, clue)
                    if wait(grown, target, hop):
                        grown.frontier.append(target)
            if over(grown, answers):
                break
        return give(grown)
    return answer


def unread(grown: Growing, target: str, hop: bool) -> bool:
    """Whether a hop was not read yet, and does not wait."""
    return hop and target not in grown.read and target not in grown.frontier


def first_edge(grown: Growing, target: str) -> bool:
    """Whether only one edge leads to a node."""
    return sum(end == target for _, end in grown.listed) == 1


def without_answers(grown: Growing, target: str, hop: bool) -> bool:
    """Whether a target waits; what is only an answer does not stay among the nodes."""
    if not hop and target not in (*grown.read, *grown.frontier):
        grown.nodes.discard(target)
    return hop and target not in grown.frontier


def until_full(grown: Growing, node: str, target: str) -> bool:
    """Whether an edge comes into the graph; nothing does any more, once there was no room for a node."""
    if target not in grown.nodes and not grown.room():
        grown.most = 0
    if not grown.most:
        grown.frontier.clear()
    return grown.most > 0 and is_new(grown, node, target)


def list_again(grown: Growing, node: str, target: str, clue: str) -> None:
    """An edge that is listed once more, with the clue that it had."""
    grown.link(node, target, grown.clues.get((node, target), clue))


def last_clue_stays(read: Read, named: list[str], most: int) -> list[Edge]:
    """The clue of an edge is written over when the edge is found again."""
    def clues_too(node: str, clues: list[str]) -> tuple[Pairs, Pairs]:
        hops, answers = read(node, clues)
        last = dict([*hops, *answers])
        return [(target, last[target]) for target, _ in hops], [(target, last[target]) for target, _ in answers]
    return growing()(clues_too, named, most)


def every_mention(read: Read, named: list[str], most: int) -> list[Edge]:
    """Each time that a node is pointed at it has one more clue."""
    mentions: defaultdict[str, list[str]] = defaultdict(list)

    def read_with(node: str, clues: list[str]) -> tuple[Pairs, Pairs]:
        hops, answers = read(node, [*mentions[node]])
        for target, clue in [*hops, *answers]:
            mentions[target].append(clue)
        return hops, answers
    return growing()(read_with, named, most)


def at_once(read: Read, named: list[str], most: int) -> list[Edge]:
    """What a page points at is read before the next that it points at comes into the graph."""
    grown = Growing([], {*named}, most)

    def visit(node: str) -> None:
        for target, clue, hop in in_order(*read(node, grown.own(node))):
            if is_new(grown, node, target):
                grown.link(node, target, clue)
                if hop:
                    visit(target)
    for node in named:
        visit(node)
    return grown.listed


def rim_by_rim(read: Read, named: list[str], most: int) -> list[Edge]:
    """The whole frontier is read before anything that was found in it comes into the graph."""
    grown = Growing([*named], {*named}, most)
    while grown.frontier:
        frontier = [(node, *read(node, grown.own(node))) for node in grown.frontier]
        grown.frontier = []
        for node, hops, answers in frontier:
            for target, clue, hop in in_order(hops, answers):
                if is_new(grown, node, target):
                    grown.link(node, target, clue)
                    if hop and target not in grown.frontier:
                        grown.frontier.append(target)
    return grown.listed


def to_the_front(read: Read, named: list[str], most: int) -> list[Edge]:
    """What is found is read at once, before what waits."""
    return growing(take=lambda grown: grown.frontier.pop())(read, named[::-1], most)


GROWING: Mistakes = {
    "a node that was read is never read again; a new edge brings a new clue": growing(wait=unread),
    "a node that is in the graph gets no further edge, as in a tree; each new edge counts": growing(
        new=lambda grown, node, target: target not in grown.nodes and grown.room()),
    "an edge to a node that is in the graph is kept, but the node does not go to the frontier again": growing(
        wait=lambda grown, target, hop: unread(grown, target, hop) and first_edge(grown, target)),
    "the last of the frontier is read (pop() for pop(0)): first in, first out": growing(
        take=lambda grown: grown.frontier.pop()),
    "what is found is read before what waits, and the first named first: a target goes to the *end* of the frontier":
        to_the_front,
    "what a page points at is read inside the loop over its targets (recursion); first all of them come into the graph":
        at_once,
    "no clues are told": growing(told=lambda grown, node: []),
    "only the last clue is told; all edges that lead to the node have one": growing(
        told=lambda grown, node: grown.own(node)[-1:]),
    "only the first clue is told; all edges that lead to the node have one": growing(
        told=lambda grown, node: grown.own(node)[:1]),
    "the clues are told from the last to the first": growing(told=lambda grown, node: grown.own(node)[::-1]),
    "the clues of all edges are told, not only of those that lead to the node": growing(
        told=lambda grown, node: [*grown.clues.values()]),
    "the clues of the edges that lead *away* from the node are told": growing(
        told=lambda grown, node: [clue for (source, _), clue in grown.clues.items() if source == node]),
    "answers go to the frontier too, and are read": growing(
        wait=lambda grown, target, hop: target not in grown.frontier),
    "answers do not come into the graph; they are nodes and have edges": growing(
        points=lambda hops, answers: in_order(hops, [])),
    "hops do not come into the graph; they are nodes and have edges, as answers do": growing(
        points=lambda hops, answers: in_order([], answers)),
    "the answers come before the hops": growing(
        points=lambda hops, answers: [*in_order([], answers), *in_order(hops, [])]),
    "hops and answers have changed places: `read` gives the hops first": growing(
        points=lambda hops, answers: in_order(answers, hops)),
    "the graph grows beyond `most` nodes": growing(new=lambda grown, node, target: (node, target) not in grown.clues),
    "the graph has one node more than `most`: < for <=": growing(
        new=lambda grown, node, target: (node, target) not in grown.clues and (
            target in grown.nodes or len(grown.nodes) <= grown.most)),
    "answers are not counted, when it is asked whether a new node has room": growing(wait=without_answers),
    "the nodes that the question names are not counted": growing(
        new=lambda grown, node, target: (node, target) not in grown.clues and (
            target in grown.nodes or len({end for _, end in grown.listed}) < grown.most)),
    "the edges are counted, and not the nodes": growing(
        new=lambda grown, node, target: (node, target) not in grown.clues and len(grown.listed) < grown.most),
    "the edges are counted, and not the nodes, to see whether a new node has room": growing(
        new=lambda grown, node, target: (node, target) not in grown.clues and (
            target in grown.nodes or len(grown.listed) < grown.most)),
    "everything ends when a node does not fit: it is passed over, and the loop goes on": growing(new=until_full),
    "a full graph gets no further edge; one between two of its nodes still comes in": growing(
        new=lambda grown, node, target: (node, target) not in grown.clues and grown.room()),
    "the loop stops when the graph is full; nodes that wait are still read": growing(
        over=lambda grown, answers: not grown.room()),
    "the loop stops at the first answer; it goes on until the frontier is empty": growing(
        over=lambda grown, answers: bool(answers)),
    "only the first node that the question names is read": growing(begin=lambda named: named[:1]),
    "only the nodes that the question names are read": growing(wait=lambda grown, target, hop: False),
    "an edge that is found again is listed again": growing(
        new=lambda grown, node, target: target in grown.nodes or grown.room(), link=list_again,
        wait=lambda grown, target, hop: hop and target not in grown.frontier and grown.listed[-1] not in (
            grown.listed[:-1])),
    "an edge that is found again has the new clue in place of the first; it keeps its first": last_clue_stays,
    "an edge that is found again has one more clue; it keeps its first": every_mention,
    "the whole frontier is read with the clues of before; what one page gives is told to the next": rim_by_rim,
    "the edges are turned round; they lead from the node that is read to the target": growing(
        give=lambda grown: [(target, node) for node, target in grown.listed]),
    "the edges are sorted; they stand in the order in which they are found": growing(
        give=lambda grown: sorted(grown.listed)),
}
