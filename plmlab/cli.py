"""The command line: ``plmlab doctor``, ``models``, ``show``, ``minutes``, ``pretrain``, ``recipe``.

An invalid request prints one line to stderr and exits with status 2. Each command imports only what it needs.
"""

import argparse
import sys
from collections.abc import Sequence

PROBLEM = 2
PRETRAIN = (
    ("steps", int, "number of updates (1000)"),
    ("batch", int, "examples per batch (32)"),
    ("accumulate", int, "batches per update (gradient accumulation) (1)"),
    ("time", int, "tokens per example (64)"),
    ("vocab", int, "vocabulary size (2000); the Small World has its own vocabulary, one token per word"),
    ("layers", int, "number of layers (4)"),
    ("width", int, "model dimension (128)"),
    ("heads", int, "attention heads per layer (4)"),
    ("lr", float, "peak learning rate (0.001); T5 is trained with Adafactor and needs more, such as 0.03"),
    ("seed", int, "random seed (0)"),
    ("held-out", float, "fraction of the text held out for evaluation (0.05)"),
    ("save-every", int, "updates between saved states, and between evaluations on the held-out text (250)"),
    ("precision", str, "auto (bf16 on a GPU), float32 or bf16"),
    ("compile", str, "torch.compile: auto (on a GPU, if the run is long enough), yes or no"),
    ("choose", str, "parameters of the training objective, such as rate=0.3; evaluation keeps the paper's values"),
)
"""The options of ``plmlab pretrain``: name, type, help text with the default of `Plan` in brackets."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except ModuleNotFoundError as error:
        return complain(f"the package {error.name} is missing; install the course's dependencies with "
                        "`python -m pip install -c constraints.txt -e .`")
    except (ValueError, OSError) as problem:
        return complain(str(problem))
    except KeyboardInterrupt:
        return complain("interrupted")


def complain(problem: str) -> int:
    """Print an error as one line on stderr and return exit status 2."""
    print(f"plmlab: {' '.join(problem.split())}", file=sys.stderr)
    return PROBLEM


def parser() -> argparse.ArgumentParser:
    """The argument parser with all commands."""
    root = argparse.ArgumentParser("plmlab", description="Command-line tools of the course.")
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("doctor", help="check whether this machine can run the course")
    command.set_defaults(run=doctor)

    command = commands.add_parser("models", help="list the models and the bundled checkpoints")
    command.set_defaults(run=models)

    command = commands.add_parser("show", help="print the code of a model's forward pass on one page, with inherited "
                                  "methods")
    command.add_argument("model", nargs="?", metavar="MODEL",
                         help="xlnet, bert-pretraining …; without it, list the models")
    command.add_argument("--diff", metavar="OTHER", help="print only the differences from this model")
    command.set_defaults(run=show)

    command = commands.add_parser("minutes", help="estimate the study time of each section of a chapter")
    command.add_argument("chapter", nargs="?", metavar="NN",
                         help="key of a notebook, such as 06 or 12a; without it, print one line per notebook")
    command.set_defaults(run=minutes)

    command = commands.add_parser("recipe", help="compute a chapter's recorded results and write them to data/results; "
                                  "the same command continues an interrupted run")
    command.add_argument("chapter", nargs="?", metavar="NN",
                         help="chapter number, two digits; without it, list the recipes")
    command.set_defaults(run=recipe)

    command = commands.add_parser("pretrain", help="pretrain a model from scratch on a text",
                                  argument_default=argparse.SUPPRESS,
                                  description="The same command continues an interrupted run. Use --resume to train "
                                  "for more steps, to change the output folder, or to train a finished "
                                  "checkpoint further.")
    command.add_argument("model", metavar="MODEL", nargs="?", help="gpt, gpt2, bert …; `plmlab models` lists them")
    command.add_argument("--corpus", help="world (the Small World), world-bilingual (English and Chinese), wikipedia "
                         "(the installed sample), a .txt or .jsonl file, or hub:NAME, a data set on "
                         "the Hugging Face Hub")
    command.add_argument("--out", metavar="FOLDER", help="output folder of the checkpoint")
    command.add_argument("--resume", metavar="FOLDER",
                         help="folder of an interrupted run, to continue it, optionally with more --steps or another "
                         "--out; or a checkpoint, to train it up to --steps in total (for --steps more, and on "
                         "any text, if it has weights only)")
    for name, kind, text in PRETRAIN:
        command.add_argument(f"--{name}", type=kind, help=text)
    command.set_defaults(run=pretrain)
    return root


def doctor(options: argparse.Namespace) -> int:
    """Print a report on this machine; the exit status is 1 if the course can't run on it."""
    from plmlab.doctor import examine, report
    text, status = report(examine())
    print(text)
    return status


def models(options: argparse.Namespace) -> int:
    """Print the table of models."""
    from plmlab.listing import listing
    print(listing())
    return 0


def show(options: argparse.Namespace) -> int:
    """Print the code of a model, its differences from another model, or the list of models.

    Raises ValueError if ``--diff`` is given without a model.
    """
    from plmlab.show import difference, find, names, page
    from plmlab.tracing import Trace
    if options.diff is not None and options.model is None:
        raise ValueError("--diff needs a model to compare: plmlab show MODEL --diff OTHER")
    if options.model is None:
        print(names())
    elif options.diff is None:
        print(page(Trace.of(find(options.model))))
    else:
        print(difference(Trace.of(find(options.model)), Trace.of(find(options.diff))))
    return 0


def minutes(options: argparse.Namespace) -> int:
    """Print the study time of a chapter by section, or of all chapters, one line each.

    Raises ValueError for a chapter without a notebook.
    """
    from plmlab.course import notebooks
    from plmlab.minutes import core, sections, table, whole
    if options.chapter is not None:
        if options.chapter not in notebooks():
            raise ValueError(f"there is no chapter {options.chapter!r} yet; choose one of {', '.join(notebooks())}")
        print(table(sections(notebooks()[options.chapter])))
        return 0
    for number, path in notebooks().items():
        parts = sections(path)
        print(f"{number}  core {core(parts):3.0f}, whole {whole(parts):4.0f} minutes  {path.stem}")
    return 0


def recipe(options: argparse.Namespace) -> int:
    """Run a chapter's recipe, or list the chapters that have one."""
    from plmlab import recipes
    if options.chapter is None:
        print("recipes:", ", ".join(recipes.chapters()) or "none yet")
        return 0
    print(f"results written to {recipes.run(options.chapter)}")
    return 0


def pretrain(options: argparse.Namespace) -> int:
    """Pretrain a model or continue a run, save the checkpoint, and print a summary."""
    from plmlab.pretraining import Plan, pretrain, resume
    given = {name: value for name, value in vars(options).items() if name != "run"}
    if "resume" in given:
        summary = resume(given.pop("resume"), given)
    elif missing := [name for name in ("MODEL", "--corpus", "--out") if name.strip("-").lower() not in given]:
        raise ValueError(f"plmlab pretrain needs {', '.join(missing)} (or --resume FOLDER); see plmlab pretrain --help")
    else:
        summary = pretrain(Plan(**given))
    if summary:
        print(summary)
    return 0
