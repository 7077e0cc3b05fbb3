"""The command line: ``plmlab doctor``, ``models``, ``show``, ``minutes``, ``pretrain``, ``recipe``.

What is wrong with a request is said in a line on stderr, with exit status 2; each command loads what it needs.
"""

import argparse
import sys
from collections.abc import Sequence

PROBLEM = 2
PRETRAIN = (
    ("steps", int, "updates (1000)"),
    ("batch", int, "examples in each batch (32)"),
    ("accumulate", int, "batches in each update (1)"),
    ("time", int, "tokens in each example (64)"),
    ("vocab", int, "size of the vocabulary (2000); the world has its own, a token a word"),
    ("layers", int, "(4)"),
    ("width", int, "of the model's vectors (128)"),
    ("heads", int, "(4)"),
    ("lr", float, "highest learning rate (0.001)"),
    ("seed", int, "(0)"),
    ("held-out", float, "share of the text to judge by (0.05)"),
    ("save-every", int, "updates between two saved states, and between two looks at the held-out text (250)"),
    ("precision", str, "auto (bf16 on a GPU), float32 or bf16"),
    ("compile", str, "auto (on a GPU, where it pays), yes or no: torch.compile"),
    ("choose", str, "what the objective lets one choose, such as rate=0.3, in training; judged is as the paper asks"),
)
"""The options of ``plmlab pretrain``, their kinds, and what they are; in brackets the defaults of a ``Plan``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    asked = parser().parse_args(arguments)
    try:
        return asked.run(asked)
    except ModuleNotFoundError as lack:
        return complain(f"the package {lack.name} is missing; `python -m pip install -c constraints.txt -e .` "
                        "installs what the course needs")
    except (ValueError, OSError) as problem:
        return complain(str(problem))
    except KeyboardInterrupt:
        return complain("interrupted")


def complain(problem: str) -> int:
    """Say it in one line."""
    print(f"plmlab: {' '.join(problem.split())}", file=sys.stderr)
    return PROBLEM


def parser() -> argparse.ArgumentParser:
    """The commands and what they take."""
    whole = argparse.ArgumentParser("plmlab", description="The commands beside the course's notebooks.")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("doctor", help="is this machine ready for the course?")
    one.set_defaults(run=doctor)

    one = commands.add_parser("models", help="what can be built, and which checkpoints are here")
    one.set_defaults(run=models)

    one = commands.add_parser("show", help="the code of a model's forward pass on one page, inherited methods with it")
    one.add_argument("model", nargs="?", metavar="MODEL", help="xlnet, bert-pretraining …; none: list them")
    one.add_argument("--diff", metavar="OTHER", help="only what differs from this other model")
    one.set_defaults(run=show)

    one = commands.add_parser("minutes", help="how long each section of a chapter takes to read")
    one.add_argument("chapter", nargs="?", metavar="NN", help="the chapter's number; none: all chapters' sums")
    one.set_defaults(run=minutes)

    one = commands.add_parser("recipe", help="compute what a chapter shows as recorded, into data/results; the same "
                                             "command goes on after a stop")
    one.add_argument("chapter", nargs="?", metavar="NN", help="the chapter's number, two digits; none: list them")
    one.set_defaults(run=recipe)

    one = commands.add_parser("pretrain", help="train a model from nothing on a text",
                              argument_default=argparse.SUPPRESS,
                              description="The same command goes on where it was interrupted. --resume is for what "
                                          "that can't say: more steps, another folder, a checkpoint that is finished.")
    one.add_argument("model", metavar="MODEL", nargs="?", help="gpt, gpt2, bert …: `plmlab models` lists them")
    one.add_argument("--corpus", help="world (the Small World), world-bilingual (in English and Chinese), wikipedia "
                                      "(the sample at hand), a .txt or .jsonl file, or hub:NAME, a data set of the "
                                      "Hugging Face hub")
    one.add_argument("--out", metavar="FOLDER", help="where the checkpoint goes")
    one.add_argument("--resume", metavar="FOLDER", help="an interrupted run: go on, with more --steps or another "
                                                        "--out. A checkpoint: train it longer, to so many --steps in "
                                                        "all (where it holds only weights: so many more, on any text)")
    for name, kind, told in PRETRAIN:
        one.add_argument(f"--{name}", type=kind, help=told)
    one.set_defaults(run=pretrain)
    return whole


def doctor(asked: argparse.Namespace) -> int:
    """Look at this machine, and say so."""
    from plmlab.doctor import examine, report
    text, status = report(examine())
    print(text)
    return status


def models(asked: argparse.Namespace) -> int:
    """List the models."""
    from plmlab.listing import listing
    print(listing())
    return 0


def show(asked: argparse.Namespace) -> int:
    """Print the code of a model, or what differs from another's; or list the models."""
    from plmlab.show import difference, find, names, page
    from plmlab.tracing import Trace
    if asked.diff is not None and asked.model is None:
        raise ValueError("--diff was given without a model; see plmlab show --help")
    if asked.model is None:
        print(names())
    elif asked.diff is None:
        print(page(Trace.of(find(asked.model))))
    else:
        print(difference(Trace.of(find(asked.model)), Trace.of(find(asked.diff))))
    return 0


def minutes(asked: argparse.Namespace) -> int:
    """Say how long a chapter takes to read, by section, or each chapter in a line."""
    from plmlab.course import notebooks
    from plmlab.minutes import core, sections, table, whole
    if asked.chapter is not None:
        if asked.chapter not in notebooks():
            raise ValueError(f"there is no chapter {asked.chapter!r} yet; there are {', '.join(notebooks())}")
        print(table(sections(notebooks()[asked.chapter])))
        return 0
    for number, path in notebooks().items():
        told = sections(path)
        print(f"{number}  core {core(told):3.0f}, whole {whole(told):4.0f} minutes  {path.stem}")
    return 0


def recipe(asked: argparse.Namespace) -> int:
    """Compute a recipe, or list them."""
    from plmlab import recipes
    if asked.chapter is None:
        print("recipes:", ", ".join(recipes.chapters()) or "none yet")
        return 0
    print(f"recorded in {recipes.run(asked.chapter)}")
    return 0


def pretrain(asked: argparse.Namespace) -> int:
    """Train a model as told, or go on with a run, save it, and print what came of it."""
    from plmlab.pretraining import Plan, pretrain, resume
    told = {name: value for name, value in vars(asked).items() if name != "run"}
    if "resume" in told:
        said = resume(told.pop("resume"), told)
    elif missing := [name for name in ("MODEL", "--corpus", "--out") if name.strip("-").lower() not in told]:
        raise ValueError(f"plmlab pretrain needs {', '.join(missing)} (or --resume FOLDER); see plmlab pretrain --help")
    else:
        said = pretrain(Plan(**told))
    if said:
        print(said)
    return 0
