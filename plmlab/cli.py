"""The command line: ``plmlab doctor``, ``plmlab models``, ``plmlab pretrain``, ``plmlab recipe``.

What is wrong with a request is said in a line on stderr, with exit status 2; each command loads what it needs.
"""

import argparse
import sys
from collections.abc import Sequence

PROBLEM = 2


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

    one = commands.add_parser("recipe", help="compute what a chapter shows as recorded, into data/results")
    one.add_argument("chapter", nargs="?", metavar="NN", help="the chapter's number, two digits; none: list them")
    one.set_defaults(run=recipe)

    one = commands.add_parser("pretrain", help="train a model from nothing on a text")
    one.add_argument("model", metavar="MODEL", help="gpt, gpt2 or bert")
    one.add_argument("--corpus", required=True,
                     help="world (the Small World), wikipedia (the sample at hand), or a .txt or .jsonl file")
    one.add_argument("--out", required=True, metavar="FOLDER", help="where the checkpoint goes")
    one.add_argument("--steps", type=int, default=1000, help="updates (%(default)s)")
    one.add_argument("--batch", type=int, default=32, help="examples in each (%(default)s)")
    one.add_argument("--time", type=int, default=64, help="tokens in each example (%(default)s)")
    one.add_argument("--vocab", type=int, default=2000,
                     help="size of the vocabulary (%(default)s); the world has its own, a token a word")
    one.add_argument("--layers", type=int, default=4, help="(%(default)s)")
    one.add_argument("--width", type=int, default=128, help="of the model's vectors (%(default)s)")
    one.add_argument("--heads", type=int, default=4, help="(%(default)s)")
    one.add_argument("--lr", type=float, default=1e-3, help="highest learning rate (%(default)s)")
    one.add_argument("--seed", type=int, default=0, help="(%(default)s)")
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


def recipe(asked: argparse.Namespace) -> int:
    """Compute a recipe, or list them."""
    from plmlab import recipes
    if asked.chapter is None:
        print("recipes:", ", ".join(recipes.chapters()) or "none yet")
        return 0
    print(f"recorded in {recipes.run(asked.chapter)}")
    return 0


def pretrain(asked: argparse.Namespace) -> int:
    """Train a model and save it."""
    from plmlab.pretraining import Plan, pretrain
    settings = {name: value for name, value in vars(asked).items() if name != "run"}
    print(pretrain(Plan(**settings)))
    return 0
