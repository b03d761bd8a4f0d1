"""``python -m dpdesk`` does what ``dpdesk`` does."""

import sys

from dpdesk.launch import main

if __name__ == "__main__":
    sys.exit(main())
