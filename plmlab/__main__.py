"""Entry point of ``python -m plmlab``, also under ``accelerate launch -m plmlab``."""

import sys

from plmlab.cli import main

sys.exit(main())
