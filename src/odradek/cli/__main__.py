"""`python -m odradek.cli` is `odradek`."""

import sys

from odradek.cli.main import main

sys.exit(main())
