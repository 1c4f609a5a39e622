"""`python -m lancet`: the program."""

import sys

from lancet._program import main

sys.exit(main())
