"""The item *reproducibility*: does the published code run as it is, and which error comes next if one is repaired?

The note's code is not contained here. `first_error` runs any code, such as the reader's copy of it. `STEPS` are our own
minimal statements, one for each operation of that code that fails.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

from plmlab.chapters.ch19.finding import Finding

OFFLINE = """
import socket
def refused(*_, **__):
    raise OSError("no network in this run")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
"""
RUNNER = """
import json, sys, warnings
warnings.simplefilter("ignore")
room, found = {}, []
for code in json.load(sys.stdin):
    try:
        exec(compile(code, "<sample>", "exec"), room)
        found.append("")
    except BaseException as error:
        found.append(f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[-1]}")
print("\\n" + json.dumps(found))
"""

BERT = """
import torch
from transformers import BertConfig, BertModel
bert = BertModel(BertConfig(vocab_size=60, hidden_size=12, num_hidden_layers=1, num_attention_heads=2,
                            intermediate_size=12, max_position_embeddings=16)).eval()
ids = torch.arange(8)[None]
"""
"""A small BERT with random weights, instead of the one that the code loads from the hub."""

STEPS: Mapping[str, tuple[str, str]] = {
    "a shell command in a Python file": ("!pip --version", "run it in a shell"),
    "AdamW of transformers": ("from transformers import AdamW", "torch.optim.AdamW"),
    "a data set without its configuration": ("from datasets import load_dataset\nload_dataset('wmt14')",
                                             "name the language pair; a hub is needed"),
    "a list as a tensor": ("[1, 2, 3].unsqueeze_(0)", "torch.tensor(ids)"),
    "the same argument from two dictionaries": ("bert(**{'input_ids': ids}, **{'input_ids': ids})",
                                                "an encoder and a decoder, each with its input"),
    "token ids as classes of a hidden state": (
        "torch.nn.functional.cross_entropy(bert(ids).last_hidden_state[0], ids[0] + 40)", "an output layer"),
}
"""What fails → a minimal statement of ours, and its smallest repair."""


def errors(steps: Sequence[str]) -> list[str]:
    """Run pieces of code one after another in one new Python process without network; return the last line of
    the error of each, or "". A later step keeps the names of earlier ones.

    Raises ValueError if the process ends without a result.
    """
    done = subprocess.run([sys.executable, "-c", OFFLINE + RUNNER], input=json.dumps([*steps]), text=True,
                          capture_output=True, timeout=300, check=False,
                          env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"})
    if done.returncode:
        raise ValueError(f"the process ended with {done.returncode}: {done.stderr[-300:]}")
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def first_error(code: str, stub: str = "") -> str:
    """The first error of ``code``, run in a new process without network after the definitions of ``stub``; "" if there
    is none. Raises ValueError if the stub itself fails."""
    before, found = errors([stub, code])
    if before:
        raise ValueError(f"the stub fails: {before}")
    return found


def note_findings() -> list[Finding]:
    """The findings on the operations of the note's sample code."""
    found = errors([BERT, *(code for code, _ in STEPS.values())])[1:]
    return [Finding("reproducibility", f"§4, {what}", re.sub(r" \(/.*", "", error)[:70] or "runs", not error, repair)
            for (what, (_, repair)), error in zip(STEPS.items(), found, strict=True)]
