"""Two claims on encoder–decoders, with rules that were fixed before the runs.

**Noises.** *Masking or infilling is needed* (Lewis et al. 2020, §4.3: sentence permutation alone performs poorly) is
supported if, in reading and in writing, every seed of token masking and of text infilling is more than one point
above every seed of sentence permutation alone. If this holds for some of the four comparisons and the opposite for
none, it is partly supported; if only the opposite holds, not supported; if both occur, mixed; otherwise there is no
effect at this size. *Infilling is better than masking for writing* is supported if every seed of text infilling is more
than one point above every seed of token masking. The score of reading is the mean of acceptability and extractive QA,
that of writing the mean of summarization and translation.

**Spans.** *Neither setting matters much* (Raffel et al. 2020, tables 6 and 7) is supported if pretraining helps (every
seed of 15 % and 3 is more than two points above every seed without pretraining) and no other variant is separated from
15 % and 3 by more than two points; it is not supported if one is; otherwise there is no effect at this size. The score
is the mean of summarization and translation, because a T5 of this size learned neither acceptability nor extractive QA
in a trial (53 % and 3 % on the test sets). That longer spans make shorter targets, and so cheaper updates, is counted
and timed.
"""

from collections.abc import Mapping
from typing import Any

from plmlab.recipes import Parts
from plmlab.recipes.statistics import separated
from plmlab.recipes.study import NO_EFFECT, combined_verdict, verdict
from studies.ch13 import noises, spans
from studies.ch13.tuning import fine_tuned

READING, WRITING = ("acceptability", "extractive QA"), ("summarization", "translation")
POINT, TIMED = 0.01, 40
"""One point of a score, and rounds of the time measurement."""


def noise_verdicts(means: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdicts on noises; ``means``: "reading" or "writing" → variant → summary."""
    masking, infilling, permutation = noises.NOISES
    return {"masking or infilling is needed": combined_verdict(
                verdict(of[noise], of[permutation], POINT) for of in means.values() for noise in (masking, infilling)),
            "infilling is better for writing": verdict(means["writing"][infilling], means["writing"][masking], POINT)}


def span_verdict(means: Mapping[str, Any]) -> str:
    """The verdict on spans; ``means``: variant → summary of its mean score."""
    paper = means[spans.BASELINE]
    if any(separated(means[one], paper, 2 * POINT) or separated(paper, means[one], 2 * POINT)
           for one in spans.SETTINGS):
        return "not supported"
    return "supported" if separated(paper, means[spans.SCRATCH], 2 * POINT) else NO_EFFECT


def measure_noises(parts: Parts) -> dict[str, Any]:
    """``pretraining``: variant → ``lr``, ``rates`` and held-out ``loss``; the ``tasks`` and ``means`` of `fine_tuned`;
    and the ``verdicts``."""
    pretraining = {arm: found.as_record() for (arm, _), found in noises.STUDY.measure(parts).items()}
    found = fine_tuned(parts, "noises", {"reading": READING, "writing": WRITING})
    return {"pretraining": pretraining, **found, "verdicts": noise_verdicts(found["means"])}


def measure_spans(parts: Parts) -> dict[str, Any]:
    """``pretraining``, ``tasks`` and ``means`` as in `measure_noises`; the ``lengths`` of source and target;
    ``seconds`` of a step; and the ``verdict``."""
    pretraining = {variant: found.as_record() for (variant, _), found in spans.STUDY.measure(parts).items()}
    found = fine_tuned(parts, "spans", {"writing": WRITING})
    return {"pretraining": pretraining, "lengths": {variant: spans.lengths(variant) for variant in spans.SETTINGS},
            "seconds": parts(spans.step_seconds, [(TIMED,)])[TIMED,], **found,
            "verdict": span_verdict(found["means"]["writing"])}
