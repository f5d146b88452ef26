"""Marts of trust: data_quality, sync_health, connections."""

from datetime import date
from decimal import Decimal

from amounts import less, places_of, total
from documents import Taxed, signed_lines
from people import top_of
from records import RESOURCES, Reader, code, enum
from spend import duplicate_bills

STATUSES = {'open', 'partially_paid', 'paid', 'draft', 'submitted', 'void'}


def data_quality(ledger, subscription_rows):
    for name, ids in found_by(ledger, subscription_rows).items():
        ids = sorted(ids)
        yield {
            'check_name': name,
            'failed_rows': len(ids),
            'sample_ids': ', '.join(ids[:5]) or None,
            'as_of_date': ledger.today,
        }


def found_by(ledger, subscription_rows):
    book, today = ledger.book, ledger.today
    bills = [bill for bill, _ in ledger.bills]
    credits = [credit for credit, _ in ledger.credits]
    expenses = [expense for expense, _ in ledger.expenses]
    documents = bills + expenses + credits
    posted = [bill for bill in bills if bill.is_posted]
    posted_credits = [credit for credit in credits if credit.is_posted]
    bill_ids, credit_ids = {bill.id for bill in bills}, {credit.id for credit in credits}
    rates = ledger.rates
    ids = lambda records: [record.id for record in records]
    dated = [one for one in documents if one.date is not None]
    return {
        'amount_due_unexplained': ids(bill for bill in posted if differs(bill.currency, unexplained(bill))),
        'credit_remaining_unexplained': ids(
            credit
            for credit in posted_credits
            if differs(
                credit.currency,
                less(credit.total, total(entry.amount for entry in credit.allocations), credit.remaining),
            )
        ),
        'bill_status_incoherent': ids(bill for bill in posted if is_incoherent(bill)),
        'lines_differ_from_header': ids(bill for bill in posted if lines_differ(bill)),
        'credit_allocation_one_sided': one_sided(bills, credits),
        'orphan_allocation': [
            bill.id for bill in bills for entry in bill.credits if entry.linked_id not in credit_ids
        ]
        + [credit.id for credit in credits for entry in credit.allocations if entry.linked_id not in bill_ids],
        'undated_allocation': [
            one.id for one in bills + credits for entry in one.allocations if entry.date is None
        ],
        'negative_bill': ids(bill for bill in posted if bill.total is not None and bill.total < 0),
        'negative_vendor_credit': ids(one for one in posted_credits if one.total is not None and one.total < 0),
        'refund_sign': ids(one for one in expenses if signed_lines(one)[2]),
        'unconverted_bill': ids(
            bill for bill in posted if book.base_currency is not None and rates[id(bill)].value is None
        ),
        'unconverted_expense': ids(
            one for one in expenses if book.base_currency is not None and rates[id(one)].value is None
        ),
        'no_issue_date': ids(bill for bill in posted if bill.date is None),
        'no_due_date': ids(bill for bill in posted if bill.due_date is None),
        'due_before_issue': ids(
            bill for bill in posted if bill.date is not None and bill.due_date is not None and bill.due_date < bill.date
        ),
        'date_out_of_range': ids(one for one in dated if not date(2000, 1, 1) <= one.date <= years_on(today, 5)),
        'spend_in_future': ids(one for one in dated if one.posting == 'posted' and one.date > today),
        'unknown_bill_status': ids(bill for bill in bills if bill.posting == 'unknown'),
        'unknown_credit_status': ids(credit for credit in credits if credit.posting == 'unknown'),
        'unknown_tax_treatment': [
            one.id for one in bills + credits for line in one.lines if Taxed(line).treatment == 'unknown'
        ],
        'amount_does_not_fit': [record_id for record_id, _, _ in book.unfit],
        'cyclic_customer_parents': [
            key for key in parents_of(book) if top_of(key, parents_of(book))[1]
        ],
        'unpriced_subscription': [
            row['subscription_id']
            for row in subscription_rows
            if row['month'] == today.replace(day=1) and row['mrr_status'] in ('unknown_interval', 'no_amount')
        ],
        'possible_duplicate': [row['bill_id_a'] for row in duplicate_bills(ledger)],
        'quarantined_record': [],
    }


def parents_of(book):
    return {one['id']: code(one.get('parent_id')) for one in book.sent['customers']}


def unexplained(bill):
    return less(bill.total, *(entry.amount for entry in bill.allocations), bill.due)


def differs(currency, amount):
    """By more than half a minor unit: less is how services compute."""
    return amount is not None and abs(amount) * 2 > Decimal(1).scaleb(-places_of(currency))


def is_incoherent(bill):
    if bill.due is None:
        return False
    if bill.status == 'paid':
        return bill.due != 0
    return bill.status == 'open' and bill.total is not None and bill.due != bill.total


def lines_differ(bill):
    lines = total(Taxed(line).gross for line in bill.lines)
    if lines is None or bill.total is None or not bill.lines:
        return False
    explained = {lines, less(lines, bill.discount or 0)}
    explained |= {total([one, bill.tax or 0]) for one in list(explained)}
    return not any(not differs(bill.currency, less(bill.total, one)) for one in explained)


def one_sided(bills, credits):
    """Bill and credit, each of which tells how much of the one settled the other."""
    told_by_bill, told_by_credit = {}, {}
    known_bills, known_credits = {bill.id for bill in bills}, {credit.id for credit in credits}
    for bill in bills:
        for entry in bill.credits:
            if entry.linked_id in known_credits:
                told_by_bill.setdefault((bill.id, entry.linked_id), []).append(entry.amount)
    for credit in credits:
        for entry in credit.allocations:
            if entry.linked_id in known_bills:
                told_by_credit.setdefault((entry.linked_id, credit.id), []).append(entry.amount)
    pairs = {*told_by_bill, *told_by_credit}
    return [pair[0] for pair in pairs if total(told_by_bill.get(pair, [])) != total(told_by_credit.get(pair, []))]


def years_on(today, years):
    try:
        return today.replace(year=today.year + years)
    except ValueError:
        return date(today.year + years, 2, 28)


def sync_health(ledger):
    told = ledger.book.told
    for resource in RESOURCES:
        streams = [stream for stream in told['streams'] if stream['resource'] == resource]
        first = lambda name: earliest(stream[name] for stream in streams)
        yield {
            'resource': resource,
            'capability': streams[0]['capability'],
            'record_count': len(ledger.book.sent[resource]),
            'deleted_records': told['deleted'].get(resource, 0),
            'quarantined_records': 0,
            'watermark': first('watermark'),
            'last_success_at': first('last_success_at'),
            'last_reconcile_at': first('last_reconcile_at'),
            'as_of_date': ledger.today,
            **freshness(first('last_success_at'), ledger.today),
        }


def connections(ledger):
    book = ledger.book
    connection, streams = book.told['connection'], book.told['streams']
    last = earliest(stream['last_success_at'] for stream in streams if stream['capability'] == 'supported')
    yield {
        'name': book.id,
        'platform': book.told['platform'],
        'org_id': connection['org_id'],
        'base_currency': book.base_currency,
        'rates_multiply': book.rates_multiply,
        'created_at': connection['created_at'],
        'last_success_at': last,
        'as_of_date': ledger.today,
        **freshness(last, ledger.today),
    }


def earliest(moments):
    moments = list(moments)
    return None if not moments or None in moments else min(moments)


def freshness(moment, today):
    if moment is None:
        return {'days_since_success': None, 'freshness_status': 'never_complete'}
    days = (today - date.fromisoformat(moment[:10])).days
    return {'days_since_success': days, 'freshness_status': 'fresh' if days <= 1 else 'stale'}
