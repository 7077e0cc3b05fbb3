"""Import times: ``python benchmarks/startup.py [rounds]``, with a new interpreter for each measurement."""

import subprocess
import sys
from statistics import median

from rounds import race

MODULES = {"import torch": "import torch", "import torch, plmlab": "import torch, plmlab",
           "… and plmlab.models.gpt": "import torch, plmlab.models.gpt",
           "… and plmlab.labs": "import torch, plmlab.models.gpt, plmlab.labs"}


def main(rounds: int) -> None:
    """Print the table."""
    turns = race({name: lambda code=code: subprocess.run([sys.executable, "-c", code], check=True)
                  for name, code in MODULES.items()}, rounds=rounds)
    alone = median(turns["import torch"])
    print("| | seconds | relative to torch alone |\n|---|--:|--:|")
    for name, seconds in turns.items():
        print(f"| `{name}` | {median(seconds):.2f} | {median(seconds) / alone:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
