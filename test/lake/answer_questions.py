"""Imports the packages that readers of Iceberg need once. For each line of standard input, a question in JSON, it forks: the child
runs the requested program as if in a process of its own, so that questions share only the imports.
"""

import json
import os
import runpy
import sys
import traceback

import psycopg2  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyiceberg.catalog.sql  # noqa: F401
import pyiceberg.io.pyarrow  # noqa: F401
import pyiceberg.manifest  # noqa: F401
import pyiceberg.table.update.snapshot  # noqa: F401


def answer(question, inlet):
    os.dup2(inlet, sys.stdout.fileno())
    os.environ.clear()
    os.environ.update(question["env"])
    sys.argv = [question["program"], *question["args"]]
    try:
        runpy.run_path(question["program"], run_name="__main__")
        return 0
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        return 1
    finally:
        sys.stdout.flush()


for line in sys.stdin:
    outlet, inlet = os.pipe()
    child = os.fork()
    if child == 0:
        os._exit(answer(json.loads(line), inlet))
    os.close(inlet)
    with os.fdopen(outlet) as said:
        text = said.read()
    failed = os.waitpid(child, 0)[1] != 0
    print(json.dumps({"text": text, "failed": failed}), flush=True)
