"""`python -m sgdclaims`."""

import sys

from sgdclaims.cli import main

if __name__ == "__main__":
    sys.exit(main())
