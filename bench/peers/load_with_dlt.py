"""Loads the pages of the bench's API into Postgres with dlt; prints the cost as one line of JSON.

Arguments: URL of the API, access token, URL of the database, schema, `default` or `tuned`. Run a second time, it merges the same pages.
"""

import json
import os
import sys

api, token, database, schema, mode = sys.argv[1:]
if mode == "tuned":
    # Settings of dlt's own guide (Performance): workers for each step, files that rotate, larger buffers, CSV because it loads by COPY.
    os.environ.update(
        {
            "EXTRACT__WORKERS": "2",
            "NORMALIZE__WORKERS": "2",
            "LOAD__WORKERS": "4",
            "DATA_WRITER__BUFFER_MAX_ITEMS": "20000",
            "EXTRACT__DATA_WRITER__FILE_MAX_ITEMS": "20000",
            "NORMALIZE__DATA_WRITER__FILE_MAX_ITEMS": "50000",
            "NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION": "true",
        }
    )
os.environ.update({"RUNTIME__LOG_LEVEL": "CRITICAL", "RUNTIME__DLTHUB_TELEMETRY": "false"})

import dlt  # noqa: E402 (reads the environment)
from dlt.common import json as dlt_json  # noqa: E402
from dlt.sources.helpers import requests  # noqa: E402
from measured import measured  # noqa: E402


def pages():
    cursor = None
    while True:
        query = {"access_token": token, **({"cursor": cursor} if cursor else {})}
        page = dlt_json.loadb(requests.get(f"{api}/accounting/bills", params=query).content)
        yield page["bills"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def load():
    bills = dlt.resource(pages, name="bills", primary_key="id", write_disposition="merge")
    pipeline = dlt.pipeline(
        f"peer_{schema}",
        destination=dlt.destinations.postgres(database),
        dataset_name=schema,
        pipelines_dir=os.environ["PEER_HOME"],
    )
    pipeline.run(bills, **({"loader_file_format": "csv"} if mode == "tuned" else {}))


if __name__ == "__main__":
    print(json.dumps(measured(load)))
