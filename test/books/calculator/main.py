"""
All marts of many books, from the API's own JSON text. Shares nothing with the dbt project: written from the
documented definition of each figure. Reads one JSON document from standard input and writes one to standard output:

  {"now": "2026-11-22T12:00:00Z", "time_zone": "UTC", "fx_rates": […], "books": [{"connection_id", "records": {"bills": ["{…}"]}, …}]}
  {"bills": [{"connection_id": …, "bill_id": …, …}, …], …}

Decimals are written as texts with every digit, ratios as the double nearest to their fraction.
"""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
import json
import sys
from zoneinfo import ZoneInfo

import documents
import payables
import people
import quality
import recurring
import spend
from records import Book

BY_LEDGER = {
    'bills': documents.bills,
    'bill_lines': documents.bill_lines,
    'expenses': documents.expenses,
    'expense_lines': documents.expense_lines,
    'vendor_credits': documents.vendor_credits,
    'allocations': documents.allocations,
    'spend_lines': documents.spend_lines,
    'ap_open_items': payables.ap_open_items,
    'ap_ageing': payables.ap_ageing,
    'cash_requirements': payables.cash_requirements,
    'ap_kpis_monthly': payables.ap_kpis_monthly,
    'vendor_spend_monthly': spend.vendor_spend_monthly,
    'spend_by_dimension_monthly': spend.spend_by_dimension_monthly,
    'duplicate_bills': spend.duplicate_bills,
    'vendors': people.vendors,
    'accounts': people.accounts,
    'customers': people.customers,
    'items': people.items,
    'sync_health': quality.sync_health,
    'connections': quality.connections,
}


def build_marts(data):
    today = datetime.fromisoformat(data['now'].replace('Z', '+00:00')).astimezone(ZoneInfo(data['time_zone'])).date()
    marts = {'dates': list(people.dates(today))}
    books = [
        Book({'fx_rates': data['fx_rates'], 'time_zone': data['time_zone'], **book_data}) for book_data in data['books']
    ]
    bills_elsewhere = quality.bills_elsewhere(books)
    for book in books:
        ledger = documents.Ledger(book, today)
        found = {name: list(make(ledger)) for name, make in BY_LEDGER.items()}
        found['subscription_mrr_monthly'] = list(recurring.subscription_mrr_monthly(book, today))
        found['mrr_movements_monthly'] = list(recurring.mrr_movements_monthly(book, today))
        found['data_quality'] = list(quality.data_quality(ledger, bills_elsewhere[book.id]))
        for name, rows in found.items():
            marts.setdefault(name, []).extend({'connection_id': book.id, **row} for row in rows)
    return marts


def written(value):
    if isinstance(value, Decimal):
        return format(value, 'f')
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(type(value))


if __name__ == '__main__':
    json.dump(build_marts(json.load(sys.stdin)), sys.stdout, default=written)
