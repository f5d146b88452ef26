"""Marts about data quality: data_quality, sync_health, connections."""

from datetime import date
from decimal import Decimal

from amounts import is_noise, less, total
from documents import Taxes, applications_of, credits_of, signed_lines, unexplained
from people import top_of
from records import RESOURCES, code, months_on
from readings import day_in_zone, day_known_whole, earliest, is_or_was_offered, lists_of_spend, streams_of
from recurring import find_rounded_and_too_large, items_of_today, late_today
from spend import duplicate_bills


def data_quality(ledger, bills_elsewhere):
    for name, ids in (found_by(ledger) | {'company_twice': bills_elsewhere}).items():
        ids = sorted(ids)
        yield {
            'check_name': name,
            'failed_rows': len(ids),
            'sample_ids': ', '.join(ids[:5]) or None,
            'as_of_date': ledger.today,
        }


def bills_elsewhere(books):
    """The posted bills, by connection, that another connection of the platform and organization also has: the same platform ID, day,
    currency and amount."""
    holders = {}
    for book in books:
        for bill in book.bills:
            if bill.is_posted and None not in (bill.platform_id, bill.date, bill.total):
                company = (book.data['platform'], book.data['connection']['org_id'])
                of_one = (company, bill.platform_id, bill.date, bill.currency, bill.total)
                holders.setdefault(of_one, []).append((book.id, bill.id))
    found = {book.id: set() for book in books}
    for held in holders.values():
        if len({connection for connection, _ in held}) > 1:
            for connection, bill_id in held:
                found[connection].add(bill_id)
    return found


def found_by(ledger):
    """The IDs that each check finds, once per record."""
    book, today = ledger.book, ledger.today
    bills = [bill for bill, _ in ledger.bills]
    credits = [credit for credit, _ in ledger.credits]
    expenses = [expense for expense, _ in ledger.expenses]
    lined = {id(line.document) for line in ledger.spend}
    in_spend = [one for one in bills + expenses + credits if one.posting != 'excluded' and id(one) in lined]
    posted = [bill for bill in bills if bill.is_posted]
    posted_credits = [credit for credit in credits if credit.is_posted]
    bill_ids, credit_ids = {bill.id for bill in bills}, {credit.id for credit in credits}
    parents = {one['id']: code(one.get('parent_id')) for one in book.sent['customers']}
    unconverted = lambda one: ledger.rates[id(one)].status in ('missing_rate', 'unverified_direction')
    too_early, too_late = date(2000, 1, 1), months_on(today, 60)
    in_range = lambda when: when is None or too_early <= when <= too_late
    rounded_subscriptions, unfit_subscriptions = find_rounded_and_too_large(book)
    subscribed = items_of_today(book, today)
    ids = lambda records: [record.id for record in records]
    # Accounts on which bills and credits are owed, or from which expenses are paid.
    settling = {one.account_id for one in bills + credits + expenses} - {None}
    # Paying off a card or a bill counts the spend a second time.
    paying_off = {
        id(one.document)
        for one in ledger.spend
        if one.line is not None and one.line.account_id in settling and one.gross != 0
    }
    return {
        'amount_due_unexplained': ids(bill for bill in posted if differs(bill.currency, unexplained(bill))),
        'bill_status_incoherent': ids(bill for bill in posted if is_incoherent(bill)),
        'lines_differ_from_header': ids(bill for bill in posted if lines_differ(bill)),
        'credit_lines_differ_from_header': ids(
            one for one in posted_credits if differs(one.currency, Taxes(one).rest)
        ),
        'header_tax_not_in_lines': ids(bill for bill in posted if Taxes(bill).has_untold_tax),
        'negative_bill': ids(bill for bill in posted if bill.total is not None and bill.total < 0),
        'unconverted_bill': ids(bill for bill in posted if unconverted(bill)),
        # The document is in the currency of the books, or nobody filled in the rate.
        'foreign_rate_is_one': ids(
            one
            for one in posted + expenses
            if ledger.rates[id(one)].status == 'document_rate' and ledger.rates[id(one)].value == 1
        ),
        'unconverted_expense': ids(one for one in expenses if unconverted(one)),
        # The API has no rate for a credit, so a person has to supply one.
        'unconverted_vendor_credit': ids(
            one for one in posted_credits if ledger.rates[id(one)].status == 'no_rate_in_source' or unconverted(one)
        ),
        'due_before_issue': ids(one for one in posted if one.date and one.due_date and one.due_date < one.date),
        'no_issue_date': ids(bill for bill in posted if bill.date is None),
        'no_due_date': ids(bill for bill in posted if bill.due_date is None),
        'date_out_of_range': ids(one for one in posted if not in_range(one.date) or not in_range(one.due_date))
        + ids(one for one in posted_credits + expenses if not in_range(one.date)),
        'unposted_bill_settled': ids(
            one
            for one in bills
            if one.posting == 'excluded'
            and any(total(side) not in (None, 0) for side in ([e.amount for e in one.payments], credits_of(one)))
        ),
        'unknown_bill_status': ids(bill for bill in bills if bill.posting == 'unknown'),
        'unknown_credit_status': ids(credit for credit in credits if credit.posting == 'unknown'),
        'credit_remaining_unexplained': ids(
            one
            for one in posted_credits
            if differs(one.currency, less(one.total, *applications_of(one), one.remaining))
        ),
        'negative_vendor_credit': ids(one for one in posted_credits if one.total is not None and one.total < 0),
        'unposted_credit_applied': ids(
            one
            for one in credits
            if one.posting == 'excluded' and total(applications_of(one)) not in (None, 0)
        ),
        'undated_vendor_credit': ids(one for one in posted_credits if one.date is None),
        'undated_expense': ids(one for one in expenses if one.date is None),
        'unknown_expense_type': ids(one for one in expenses if one.type_sent not in ('expense', 'refund')),
        'expense_without_amount': ids(one for one in expenses if tells_no_amount(one)),
        'refund_sign': ids(one for one in expenses if signed_lines(one)[2]),
        'spend_in_future': ids(one for one in in_spend if one.date is not None and one.date > today),
        'no_currency': ids(one for one in in_spend if one.currency is None),
        'spend_on_payment_account': ids(one for one in in_spend if one.is_posted and id(one) in paying_off),
        'unknown_tax_treatment': ids(
            one
            for one in in_spend
            if one not in expenses and any(has_unknown_tax(line) for line in Taxes(one).lines)
        ),
        'line_of_unknown_customer': naming_no(in_spend, 'customer_id', parents),
        'line_of_unknown_item': naming_no(in_spend, 'item_id', {one['id'] for one in book.sent['items']}),
        'undated_allocation': ids(one for one in bills + credits if any(e.date is None for e in one.allocations)),
        'orphan_allocation': ids(one for one in bills if any(e.linked_id not in credit_ids for e in one.credits))
        + ids(one for one in credits if any(e.linked_id not in bill_ids for e in one.allocations)),
        'credit_allocation_one_sided': one_sided(bills, credits),
        'credit_link_dates_differ': ledger.links_of_two_dates,
        'amount_rounded': [record_id for _, record_id in book.rounded] + list(rounded_subscriptions),
        'amount_does_not_fit': [record_id for _, record_id in book.too_large] + list(unfit_subscriptions),
        'decimal_text_unreadable': [record_id for _, record_id in book.unreadable],
        'cyclic_customer_parents': [key for key in parents if top_of(key, parents)[1]],
        'unpriced_subscription': {one for one, item in subscribed if item.priced()[0] in ('unknown_interval', 'no_amount')},
        'item_amount_unexplained': {one for one, item in subscribed if differs(item.currency, item.variance)},
        'unknown_subscription_status': {one for one, item in subscribed if item.priced()[0] == 'unknown_status'},
        'subscription_learned_late': late_today(book, today),
        'source_quiet': [book.id] if newest(ledger)['is_quiet'] else [],
        'possible_duplicate': {row['bill_id_a'] for row in duplicate_bills(ledger)},
        'deletion_awaits_approval': {one for ids_of in (book.data.get('waiting') or {}).values() for one in ids_of},
        'quarantined_record': [],
    }


def naming_no(documents, name, known):
    """IDs of documents in which a line names a record that is not here."""
    named = lambda document: {getattr(line, name, None) for line in document.lines} - {None}
    return [document.id for document in documents if named(document) - set(known)]


def tells_no_amount(expense):
    """Whether no line was sent with a total, whether it fits or not."""
    lines = expense.sent.get('line_items') or []
    return all(line.get('total_amount') is None for line in lines)


def has_unknown_tax(taxed):
    """Whether only the tax is unknown. Another check finds unknown amounts."""
    return taxed.treatment == 'unknown' and taxed.gross is not None


def differs(currency, amount):
    """Whether an amount is more than half a minor unit; services compute with smaller errors."""
    return amount is not None and not is_noise(currency, amount)


def is_incoherent(bill):
    if bill.due is None:
        return False
    is_settled = not differs(bill.currency, bill.due)
    if bill.status == 'paid':
        return not is_settled
    if bill.total is None:
        return bill.status == 'partially_paid' and is_settled
    is_whole = not differs(bill.currency, less(bill.total, bill.due))
    return not is_whole if bill.status == 'open' else is_settled or is_whole


def lines_differ(bill):
    """Whether neither a discount on the document nor tax on top of the lines explains the difference."""
    # The total less the lines.
    rest = less(bill.total, *(line.gross for line in Taxes(bill).lines))
    discount, tax = bill.discount or Decimal(0), bill.tax or Decimal(0)
    return rest is not None and all(
        differs(bill.currency, less(rest, explained)) for explained in (0, -discount, tax - discount)
    )


def one_sided(bills, credits):
    """Bills for which bill and credit tell different amounts of the one settling the other."""
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
    currencies = {bill.id: bill.currency for bill in bills}
    of_credits = {credit.id: credit.currency for credit in credits}
    return {
        bill
        for bill, credit in {*told_by_bill, *told_by_credit}
        # Amounts in two currencies cannot be compared.
        if currencies[bill] == of_credits[credit] and differs(
            currencies[bill],
            less(total(told_by_bill.get((bill, credit), [])), total(told_by_credit.get((bill, credit), []))),
        )
    }


def sync_health(ledger):
    data = ledger.book.data
    for resource in RESOURCES:
        streams = streams_of(ledger.book, resource)
        offered = [stream for stream in streams if is_or_was_offered(stream)]
        first = lambda name: earliest(stream[name] for stream in offered)
        yield {
            'resource': resource,
            'capability': combine_capabilities(streams),
            'record_count': len(ledger.book.sent[resource]),
            'deleted_records': data['deleted'].get(resource, 0),
            'quarantined_records': 0,
            # A list that was read and is empty has no limit.
            'watermark': first('last_success_at')
            and min((stream['watermark'] for stream in offered if stream['watermark']), default=None),
            'last_success_at': first('last_success_at'),
            'last_reconcile_at': min(
                (stream['last_reconcile_at'] for stream in offered if stream['last_reconcile_at']), default=None
            ),
            'as_of_date': ledger.today,
            **(freshness(first('last_success_at'), ledger, offered) if offered else {'days_since_success': None, 'freshness_status': 'unsupported'}),
        }


def combine_capabilities(streams):
    capabilities = {stream['capability'] for stream in streams}
    return 'unsupported' if capabilities == {'unsupported'} else 'supported' if 'supported' in capabilities else 'unknown'


def connections(ledger):
    book = ledger.book
    connection = book.data['connection']
    streams = [stream for resource in RESOURCES for stream in streams_of(book, resource)]
    offered = [stream for stream in streams if is_or_was_offered(stream)]
    last = earliest(stream['last_success_at'] for stream in offered)
    yield {
        'name': book.id,
        'platform': book.data['platform'],
        'org_id': connection['org_id'],
        'base_currency': book.base_currency,
        'rates_multiply': book.rates_multiply,
        'created_at': connection['created_at'],
        'last_success_at': last,
        'spend_read_until': day_known_whole(ledger),
        'is_spend_offered': bool(lists_of_spend(ledger)),
        'as_of_date': ledger.today,
        **freshness(last, ledger, offered),
        **newest(ledger),
    }


def newest(ledger):
    """The newest time in the lists at which the service synced a record; subscriptions have no such time. A week without newer ones is
    no alarm."""
    shown = [
        stream['watermark']
        for resource in RESOURCES
        if resource != 'subscriptions'
        for stream in streams_of(ledger.book, resource)
        if is_or_was_offered(stream) and stream['watermark']
    ]
    moment = max(shown, default=None)
    days = None if moment is None else (ledger.today - day_in_zone(moment, ledger)).days
    return {'newest_synced_at': moment, 'days_since_newest': days, 'is_quiet': days is not None and days > 7}


def freshness(moment, ledger, streams):
    """Counts days of the company, so that data is never newer than its own today."""
    days = None if moment is None else (ledger.today - day_in_zone(moment, ledger)).days
    if any(stream['stalled_at'] is not None for stream in streams):
        status = 'stalled'
    elif days is None:
        status = 'never_complete'
    else:
        status = 'fresh' if days <= 1 else 'stale'
    return {'days_since_success': days, 'freshness_status': status}
