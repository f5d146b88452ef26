"""The records of one book, read from the API's own JSON text."""

from datetime import date, timedelta
from decimal import Decimal
import json

from amounts import MONEY_PLACES, RATE_PLACES, Fitted, decimal_text, is_unreadable

POSTED = {'open', 'partially_paid', 'paid'}
EXCLUDED = {'draft', 'submitted', 'void'}
RESOURCES = ['bills', 'expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions']


def parse(text):
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def code(value):
    """An ID, code or enum. An empty text is None."""
    return None if value in (None, '') else value


def currency(value):
    """A currency with A to Z in upper case, as in ISO codes. Other letters stay."""
    return None if value in (None, '', 'null') else ''.join(one.upper() if 'a' <= one <= 'z' else one for one in value)


def enum(value):
    """The value as sent: new values may appear, even an empty one."""
    return value


def first_of(text):
    """The part that marts keep of a text that each line repeats."""
    return None if text is None else text[:1000]


def day(value):
    """The day as written; no time zone shifts it."""
    return None if value in (None, '') else date.fromisoformat(value[:10])


def month_of(when):
    return None if when is None else when.replace(day=1)


def month_before(month, count=1):
    index = month.year * 12 + month.month - 1 - count
    return date(index // 12, index % 12 + 1, 1)


def last_of_month(month):
    return month_before(month, -1) - timedelta(days=1)


def months_on(today, months):
    first = month_before(today.replace(day=1), -months)
    return min(last_of_month(first), first + timedelta(days=today.day - 1))


class Reader:
    """Reads amounts of one record and collects those that were rounded or are too large."""

    def __init__(self, book, table, record_id):
        self.book, self.table, self.record_id = book, table, record_id
        self.rounded = []
        self.too_large = []

    def _fit(self, sent, name, places, table):
        fitted = Fitted(sent, places)
        if fitted.is_rounded:
            self.rounded.append((table, name))
            self.book.rounded.add((self.table, self.record_id))
        if fitted.is_too_large:
            self.too_large.append((table, name))
            self.book.too_large.add((self.table, self.record_id))
        return fitted.value

    def money(self, record, name, table=None, column=None):
        return self._fit(record.get(name), column or name, MONEY_PLACES, table or self.table)

    def price(self, record, name, table=None, column=None):
        return self._fit(record.get(name), column or name, RATE_PLACES, table or self.table)

    def decimal_text(self, record, name, table=None, column=None):
        if is_unreadable(record.get(name)):
            self.book.unreadable.add((self.table, self.record_id))
        return self._fit(decimal_text(record.get(name)), column or name, RATE_PLACES, table or self.table)


class Allocation:
    def __init__(self, reader, sent, position, table):
        self.position = position
        self.linked_id = code(sent.get('id'))
        self.date = day(sent.get('allocated_date'))
        self.amount = reader.money(sent, 'allocated_amount', table)
        # The days on which it counts, with amounts. For an application of a credit they depend on what the other document tells.
        self.parts = [(self.date, self.amount)]
        # The part of what it alone tells that settles the other document.
        self.elsewhere = []
        # The parts that it alone tells.
        self.alone = []

    @property
    def counted(self):
        """The day from which all of it counts."""
        days = [day for day, _ in self.parts]
        return None if None in days else max(days)


class Line:
    def __init__(self, reader, sent, position, table):
        self.position = position
        for name in ('account_id', 'class_id', 'customer_id', 'department_id', 'location_id', 'tax_rate_id'):
            setattr(self, name, code(sent.get(name)))
        self.description = sent.get('description')
        # A line without a total is a remark, worth nothing. A line with a total that is too large has an unknown worth.
        self.is_remark = sent.get('total_amount') is None
        self.total = reader.money(sent, 'total_amount', table)

    @property
    def worth(self):
        return Decimal(0) if self.is_remark else self.total


class BillLine(Line):
    def __init__(self, reader, sent, position, table):
        super().__init__(reader, sent, position, table)
        item = sent.get('item') or {}
        self.item_id = code(item.get('id'))
        self.quantity = reader.money(item, 'quantity', table, 'item_quantity')
        self.unit_amount = reader.price(item, 'unit_amount', table, 'item_unit_amount')
        self.discount_amount = reader.money(sent, 'discount_amount', table)
        self.discount_percentage = reader.money(sent, 'discount_percentage', table)
        self.sub_total = reader.money(sent, 'sub_total', table)
        self.tax = reader.money(sent, 'tax_amount', table)
        self.is_known = all(
            sent.get(name) is None or value is not None
            for name, value in (('total_amount', self.total), ('sub_total', self.sub_total), ('tax_amount', self.tax))
        )


class Document:
    """The common parts of a bill, an expense and a credit memo."""

    def __init__(self, book, table, sent):
        self.sent = sent
        self.id = sent['id']
        self.reader = Reader(book, table, self.id)
        self.platform_id = code(sent.get('platform_id'))
        self.account_id = code(sent.get('account_id'))
        self.vendor = code(sent.get('vendor_id')) or '(none)'
        self.currency = currency(sent.get('currency_code'))
        self.memo = sent.get('memo')
        self.status = enum(sent.get('status'))
        self.posting = (
            'posted' if self.status in POSTED else 'excluded' if self.status in EXCLUDED else 'unknown'
        )
        self.lines = []
        # Days and amounts of applications that only the other document tells.
        self.told_by_other = []

    @property
    def parts(self):
        """The days and amounts of all settlements, whichever document tells them."""
        return [part for entry in self.allocations for part in entry.parts] + self.told_by_other

    @property
    def is_posted(self):
        return self.posting == 'posted'

    @property
    def has_too_large(self):
        return bool(self.reader.too_large)


class Bill(Document):
    def __init__(self, book, sent):
        super().__init__(book, 'bills', sent)
        reader = self.reader
        self.payment_terms_id = code(sent.get('payment_terms_id'))
        self.subsidiary_id = code(sent.get('subsidiary_id'))
        self.date = day(sent.get('issue_date'))
        self.due_date = day(sent.get('due_date'))
        self.number = first_of(sent.get('document_number'))
        self.due = reader.money(sent, 'amount_due')
        self.total = reader.money(sent, 'total_amount')
        self.sub_total = reader.money(sent, 'sub_total')
        self.tax = reader.money(sent, 'tax_amount')
        self.discount = reader.money(sent, 'total_discount')
        self.own_rate = reader.decimal_text(sent, 'currency_rate')
        self.has_unknown_rate = self.own_rate is None and sent.get('currency_rate') not in (None, '')
        self.lines = [BillLine(reader, line, n, 'bill_lines') for n, line in enumerate(sent.get('line_items') or [])]
        self.payments = _allocations(reader, sent, 'linked_payments', 'bill_payment_allocations')
        self.credits = _allocations(reader, sent, 'linked_credit_memos', 'bill_credit_allocations')

    @property
    def allocations(self):
        return self.payments + self.credits


class Credit(Document):
    def __init__(self, book, sent):
        super().__init__(book, 'bill_credit_memos', sent)
        reader = self.reader
        self.date = day(sent.get('issue_date'))
        self.number = first_of(sent.get('document_number'))
        self.total = reader.money(sent, 'total_amount')
        self.remaining = reader.money(sent, 'remaining_amount')
        self.own_rate, self.has_unknown_rate = None, False
        self.lines = [
            BillLine(reader, line, n, 'bill_credit_memo_lines') for n, line in enumerate(sent.get('line_items') or [])
        ]
        self.allocations = _allocations(reader, sent, 'linked_bills', 'bill_credit_memo_allocations')


class Expense(Document):
    def __init__(self, book, sent):
        super().__init__(book, 'expenses', sent)
        self.subsidiary_id = code(sent.get('subsidiary_id'))
        self.date = day(sent.get('transaction_date'))
        self.type_sent = enum(sent.get('expense_type'))
        self.is_refund = self.type_sent == 'refund'
        # A number in this resource, a text in bills.
        self.own_rate = self.reader.price(sent, 'currency_rate')
        self.has_unknown_rate = self.own_rate is None and sent.get('currency_rate') is not None
        self.number = None
        self.posting = 'posted'
        self.lines = [
            Line(self.reader, line, n, 'expense_lines') for n, line in enumerate(sent.get('line_items') or [])
        ]


def _allocations(reader, sent, name, table):
    return [Allocation(reader, entry, n, table) for n, entry in enumerate(sent.get(name) or [])]


class Book:
    """The books of one connection."""

    def __init__(self, data):
        self.id = data['connection_id']
        self.data = data
        self.rounded, self.too_large, self.unreadable = set(), set(), set()
        self.sent = {name: [parse(text) for text in data['records'].get(name, [])] for name in RESOURCES}
        self.bills = [Bill(self, sent) for sent in self.sent['bills']]
        self.credits = [Credit(self, sent) for sent in self.sent['bill_credit_memos']]
        self.expenses = [Expense(self, sent) for sent in self.sent['expenses']]
        settings = data.get('settings') or {}
        self.base_currency = currency(settings.get('base_currency'))
        self.rates_multiply = settings.get('fx_direction') == 'multiply' or data['platform'] == 'QUICKBOOKS'
        self.vendor_names = data.get('vendor_names') or {}
        self.accounts = data.get('account_map') or {}
        self.fx_rates = [
            (currency(rate['from_currency']), currency(rate['to_currency']), date.fromisoformat(rate['valid_from']), Decimal(rate['rate']))
            for rate in data.get('fx_rates') or []
        ]
