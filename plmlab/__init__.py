"""plmlab: pretrained language models, built from scratch, watched from inside, and put to the test.

The rooms: ``layers`` (one idea a file), ``objectives`` (text → Example), ``models`` (one system a file),
``labs`` (one widget a file), ``world`` (the Small World), and beside them ``text``, ``train``, ``decode``,
``metrics``, ``watching``, ``checkpoints`` and ``hf``.
"""

__version__ = "0.1.0"
