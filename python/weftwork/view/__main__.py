"""python -m weftwork.view DIR [-o page.html]"""

from __future__ import annotations

import argparse
import sys

from .. import _core
from ..errors import Error
from . import page


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m weftwork.view", description="Writes one HTML page that shows what WEFT_DUMP left."
    )
    parser.add_argument("folder", help="what WEFT_DUMP named, or the folder of one function in it")
    parser.add_argument("-o", "--output", default="page.html", help="the page (page.html)")
    arguments = parser.parse_args()
    try:
        _core.write_file(arguments.output, page(arguments.folder).encode())
    except (Error, OSError) as error:
        print(f"weftwork.view: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
