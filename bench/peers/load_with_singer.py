"""Loads the pages of the bench's API into Postgres with a Singer target; prints the cost as one line of JSON.

Arguments: URL of the API, access token, URL of the database, schema. The tap is this process: it reads pages and writes messages,
and does nothing else. Run a second time, the target merges the same pages by their key.
"""

import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request

from measured import measured

api, token, database, schema = sys.argv[1:]

text = {"type": ["string", "null"]}
number = {"type": ["number", "null"]}
time = {"type": ["string", "null"], "format": "date-time"}
numbers = ["amount_due", "total_amount", "sub_total", "tax_amount", "total_discount"]
times = ["due_date", "issue_date", "created_at", "updated_at", "last_synced_at"]
texts = [
    *["id", "platform_id", "account_id", "payment_terms_id", "subsidiary_id", "vendor_id", "currency_code", "status"],
    *["document_number", "memo", "currency_rate"],
]
lists = ["linked_purchase_orders", "linked_credit_memos", "linked_payments", "line_items"]
properties = {
    **{name: text for name in texts},
    **{name: number for name in numbers},
    **{name: time for name in times},
    **{name: {"type": ["array", "null"], "items": {"type": "object"}} for name in lists},
}


def messages():
    yield {"type": "SCHEMA", "stream": "bills", "schema": {"properties": properties}, "key_properties": ["id"]}
    cursor = None
    while True:
        query = urllib.parse.urlencode({"access_token": token, **({"cursor": cursor} if cursor else {})})
        with urllib.request.urlopen(f"{api}/accounting/bills?{query}") as answer:
            page = json.load(answer)
        for record in page["bills"]:
            yield {"type": "RECORD", "stream": "bills", "record": record}
        cursor = page["next_cursor"]
        yield {"type": "STATE", "value": {"cursor": cursor}}
        if cursor is None:
            return


def load():
    config = os.path.join(os.environ["PEER_HOME"], f"{schema}.json")
    with open(config, "w") as file:
        json.dump({"sqlalchemy_url": database, "default_target_schema": schema, "add_record_metadata": False, "activate_version": False}, file)
    program = os.path.join(os.path.dirname(sys.executable), "target-postgres")
    target = subprocess.Popen(
        [program, "--config", config], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        for message in messages():
            target.stdin.write(json.dumps(message) + "\n")
    except BrokenPipeError:
        pass  # It has ended, and says why below.
    _, said = target.communicate()
    if target.returncode != 0:
        raise SystemExit(said[-2000:])


if __name__ == "__main__":
    print(json.dumps(measured(load)))
