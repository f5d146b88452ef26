"""Runs dbt, and ends with the process that started it: left alone it would go on writing where the next build writes."""

import gc
import os
import sys
import threading

from dbt.cli.main import cli

STANDARD_INPUT = 0


def end_with_parent() -> None:
    # It closes when the parent is gone, however that went.
    while os.read(STANDARD_INPUT, 1):
        pass
    os._exit(1)


# Almost nothing of what dbt makes is garbage while it runs, and looking for it often takes a tenth of the time.
gc.set_threshold(50_000, 20, 100)
threading.Thread(target=end_with_parent, daemon=True).start()
sys.exit(cli())
