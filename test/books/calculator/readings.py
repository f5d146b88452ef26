"""The times at which Daybook read the lists of a connection."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from records import RESOURCES

# The lists that the API has of each resource. Expenses and refunds are requested one after the other.
LISTS = {resource: [resource] for resource in RESOURCES} | {'expenses': ['expenses', 'refunds']}
NEVER_BEGUN = {
    'capability': 'unknown', 'watermark': None, 'last_success_at': None, 'last_reconcile_at': None, 'stalled_at': None
}


def streams_of(book, resource):
    begun = {stream['stream']: stream for stream in book.data['streams']}
    held = {list_of(resource, record) for record in book.sent[resource]}
    return [{**as_known(begun.get(name, NEVER_BEGUN)), 'is_held': name in held} for name in LISTS[resource]]


def list_of(resource, record):
    return 'refunds' if resource == 'expenses' and record.get('expense_type') == 'refund' else resource


def as_known(stream):
    """Treats a stalled list as last read at its watermark, because it hides something newer: later readings were not complete."""
    if stream['stalled_at'] is None:
        return stream
    return {**stream, 'last_success_at': earliest([stream['last_success_at'], stream['watermark']])}


def is_or_was_offered(stream):
    """A list that is no longer offered was read until then, or in part if records of it are here. A list that never was offered has
    nothing."""
    return stream['capability'] != 'unsupported' or stream['last_success_at'] is not None or stream['is_held']


def earliest(moments):
    moments = list(moments)
    return None if not moments or None in moments else min(moments)


def day_in_zone(moment, ledger):
    """The day of that moment in the company's time zone."""
    return datetime.fromisoformat(f'{moment[:19]}+00:00').astimezone(ZoneInfo(ledger.book.data['time_zone'])).date()


def were_read_after(ledger, day):
    """Whether bills, expenses and credits were all read to their end after that day was over in the company's time zone."""
    known = day_known_whole(ledger)
    return known is not None and day <= known


def day_known_whole(ledger):
    """The last complete day, in the company's time zone, before the oldest of the last readings of bills, expenses and credits."""
    last = earliest(stream['last_success_at'] for stream in lists_of_spend(ledger))
    return None if last is None else day_in_zone(last, ledger) - timedelta(days=1)


def lists_of_spend(ledger):
    """The lists that may contain purchases; a billing platform has none."""
    return [
        stream
        for resource in ('bills', 'expenses', 'bill_credit_memos')
        for stream in streams_of(ledger.book, resource)
        if is_or_was_offered(stream)
    ]
