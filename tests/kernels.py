"""The tests as another processor would compute them: ``python tests/kernels.py [PART …]``.

Matrix products, sums and activation functions come out different in the last digits where another processor has other
kernels, and where another number of threads shares the work. No test and no notebook may depend on these digits. So
this runs parts of ``tests/run.py`` (units and notebooks, if none is named) once with the kernels of an old processor,
and once with this machine's own and two threads in each worker.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = {
    "an old processor's kernels, one thread": {
        "ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41",
        "OPENBLAS_CORETYPE": "Prescott", "OMP_NUM_THREADS": "1"},
    "this machine's kernels, two threads": {"OMP_NUM_THREADS": "2"},
}
"""What torch's own kernels, MKL, oneDNN and OpenBLAS are told, and OpenMP."""


def main(parts: list[str]) -> int:
    """Run the parts once in each way; 1 if any test failed."""
    failed = False
    for name, settings in ROUNDS.items():
        print(f"\n=== {name}", flush=True)
        command = [sys.executable, "tests/run.py", *(parts or ("units", "notebooks"))]
        failed |= subprocess.run(command, cwd=ROOT, env=os.environ | settings).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
