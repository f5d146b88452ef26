"""Runs dbt. Prints a JSON object per line about each node that begins and each error, and ends with its parent.

The parent is the process that started it. Without the parent it would continue to write where the next build writes.
"""

import gc
import json
import os
import sys
import threading

from dbt.cli.main import dbtRunner
from dbt_common.events.functions import env_scrubber

from read_seeds import read_as_written

STANDARD_INPUT = 0
told_errors = []
saying = threading.Lock()


def run(args: list[str]) -> bool:
    # Almost nothing that dbt creates is garbage while it runs, and frequent collection takes a tenth of the time.
    gc.set_threshold(50_000, 20, 100)
    read_as_written()
    result = dbtRunner(callbacks=[tell]).invoke(args)
    if result.exception is not None and not told_errors:
        say(message=env_scrubber(str(result.exception)))
    return result.success


def end_with_parent() -> None:
    # Standard input closes when the parent is gone, however it ended.
    while os.read(STANDARD_INPUT, 1):
        pass
    os._exit(1)


def tell(event) -> None:
    # dbt's own JSON log formats every event before it checks the level, which took a tenth of a build.
    if event.info.name == "LogStartLine":
        node = event.data
        say(index=node.index, total=node.total, node=node.node_info.node_name)
    elif event.info.level in ("warn", "error"):
        say(message=env_scrubber(event.info.msg))
        if event.info.level == "error":
            told_errors.append(event.info.name)


def say(**what) -> None:
    # Several threads build models concurrently.
    with saying:
        print(json.dumps(what), flush=True)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.exit(0 if run(sys.argv[1:]) else 1)
