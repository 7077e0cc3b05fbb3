"""``python -m plmlab``: the command line, also under ``accelerate launch -m plmlab``."""

import sys

from plmlab.cli import main

sys.exit(main())
