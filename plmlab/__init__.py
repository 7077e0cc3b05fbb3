"""plmlab: pretrained language models, built from scratch, inspected and evaluated.

Subpackages: ``layers`` (one concept per file), ``objectives`` (text → Example), ``models`` (one system per file),
``interpret`` (recording and changing activations), ``labs`` (one widget per folder), ``world`` (the Small World),
``text``, ``train``, ``decode``, ``pretraining`` and ``hf``; ``checkpoints`` and ``metrics`` are modules. ``chapters``
holds the code that only one chapter uses.
"""

import os

__version__ = "0.1.0"

# OpenMP threads that spin while they wait make a small model thirty times slower as soon as another program, such as a
# browser, needs a core. Sleeping threads are a quarter slower on an idle machine, which is the better trade-off.
# Must be set before torch is imported; a value that the user has set is kept.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
