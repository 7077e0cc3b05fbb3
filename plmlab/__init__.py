"""plmlab: pretrained language models, built from scratch, watched from inside, and put to the test.

The rooms: ``layers`` (one idea a file), ``objectives`` (text → Example), ``models`` (one system a file), ``interpret``
(looking inside), ``labs`` (a widget a folder), ``world`` (the Small World), and beside them ``text``, ``train``,
``decode``, ``pretraining``, ``checkpoints``, ``metrics`` and ``hf``; ``chapters`` holds what one chapter alone uses.
"""

import os

__version__ = "0.1.0"

# Threads that wait for each other by spinning make a small model thirty times slower as soon as anything else, such as
# a browser, wants a core. Sleeping costs a quarter of the speed on an idle machine, and that is the better bargain.
# It must be said before torch loads; whoever sets the variable decides.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
