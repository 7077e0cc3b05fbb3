"""What `make test-gpu` runs: the tests that need a GPU, and each chapter's notebook, which trains there."""

import sys

import torch
from run import main

if __name__ == "__main__":
    if not torch.cuda.is_available():
        print(f"torch {torch.__version__} finds no GPU here: nothing was run")
        sys.exit(0)
    sys.exit(main(["gpu", "notebooks"]))
