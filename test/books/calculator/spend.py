"""Marts of spend: vendor_spend_monthly, spend_by_dimension_monthly, duplicate_bills."""

from collections import defaultdict
from decimal import Decimal
import re
from string import digits
from unicodedata import category

from amounts import less, share, total
from documents import signed_lines
from readings import were_read_after
from records import last_of_month, month_before, month_of


def vendor_spend_monthly(ledger):
    groups = defaultdict(list)
    for line in posted(ledger):
        groups[line.document.vendor, month_of(line.document.date), line.document.currency].append(line)
    spent = {key: total(line.gross for line in lines) for key, lines in groups.items()}
    first = {}
    for (vendor, month, _), lines in groups.items():
        if month is not None and has_bought(lines):
            first[vendor] = min(month, first.get(vendor, month))
    for (vendor, month, currency), lines in groups.items():
        of = lambda *types: total(line.gross for line in lines if line.source_type in types)
        spend = spent[vendor, month, currency]
        bills = {line.document.id for line in lines if line.source_type == 'bill'}
        unconverted = sum(line.gross_base is None for line in lines)
        is_complete = is_whole(month, ledger)
        before = spent.get((vendor, month_before(month, 12), currency)) if month else None
        others = {one: value for (one, when, code), value in spent.items() if (when, code) == (month, currency)}
        # Shares are of positive spend: a vendor that gave back more than it got has no share.
        positive = {one: None if value is None else max(value, Decimal(0)) for one, value in others.items()}
        whole = total(positive.values())
        known = None not in others.values()
        order = sorted(others, key=lambda one: (-(others[one] or 0), one))
        yield {
            'vendor_id': vendor,
            'spend_month': month,
            'currency_code': currency,
            'is_complete': is_complete,
            'spend': spend,
            'bill_spend': of('bill'),
            'expense_spend': of('expense'),
            'refunds': of('refund'),
            'credits': of('vendor_credit'),
            'spend_base': total(line.gross_base for line in lines) if unconverted == 0 else None,
            'unconverted_count': unconverted,
            'document_count': len({(line.source_type, line.document.id) for line in lines}),
            'bill_count': len(bills),
            'average_bill': share(of('bill'), len(bills)) if bills else None,
            'spend_year_before': before,
            'year_over_year': share(less(spend, before), before)
            if is_complete and before is not None and before > 0
            else None,
            'share_of_month': share(positive[vendor], whole),
            'spend_rank': order.index(vendor) + 1 if known else None,
            'cumulative_share': share(
                total(positive[one] for one in order[: order.index(vendor) + 1]), whole
            )
            if known
            else None,
            'unknown_count': sum(line.gross is None for line in lines),
            'first_spend_month': first.get(vendor),
        }


def has_bought(lines):
    """Whether anything was bought, by bill or by card, as far as known. Returned amounts do not show that something was bought here."""
    bought = [total(line.gross for line in lines if line.source_type == kind) for kind in ('bill', 'expense')]
    return any(amount is not None and amount > 0 for amount in bought) or None in bought


def spend_by_dimension_monthly(ledger):
    for dimension in ('account', 'class', 'department', 'location'):
        groups = defaultdict(list)
        for line in posted(ledger):
            member = getattr(line.line, f'{dimension}_id', None) or '(none)'
            groups[member, month_of(line.document.date), line.document.currency].append(line)
        spent = {key: total(line.gross for line in lines) for key, lines in groups.items()}
        for (member, month, currency), lines in groups.items():
            unconverted = sum(line.gross_base is None for line in lines)
            earlier = lambda count: spent.get((member, month_before(month, count), currency))
            year = [(member, month_before(month, n), currency) for n in range(12)] if month else []
            yield {
                'dimension': dimension,
                'dimension_id': member,
                'spend_month': month,
                'currency_code': currency,
                'is_complete': is_whole(month, ledger),
                'spend': spent[member, month, currency],
                'spend_month_before': earlier(1) if month else None,
                'spend_12_months': total(spent[key] for key in year if key in spent) if month else None,
                'unknown_count': sum(line.gross is None for line in lines),
                'spend_base': total(line.gross_base for line in lines) if unconverted == 0 else None,
                'unconverted_count': unconverted,
            }


def is_whole(month, ledger):
    return month is not None and last_of_month(month) < ledger.today and were_read_after(ledger, last_of_month(month))


def posted(ledger):
    """Lines dated after today are not spent yet."""
    return [
        line
        for line in ledger.spend
        if line.document.is_posted and (line.document.date is None or line.document.date <= ledger.today)
    ]


class Candidate:
    def __init__(self, kind, document, amount):
        self.kind, self.document, self.amount = kind, document, amount
        self.number = normalised(document.number)


def normalised(number):
    """Keeps only letters of every alphabet and numbers: A to Z in upper case, numbers without leading zeros. None without a digit
    above 0. Two numbers with only other characters between them stay two.
    """
    if number is None or not re.search('[1-9]', number):
        return None
    parts = []
    for piece in re.findall('[0-9]+|[^0-9]+', number):
        is_number = piece[0] in digits
        part = (piece.lstrip('0') or '0') if is_number else ''.join(kept(sign) for sign in piece)
        if is_number and parts and parts[-1][0] in digits:
            parts.append('|')
        if part:
            parts.append(part)
    return ''.join(parts)


def kept(sign):
    if category(sign)[0] not in 'LM' and category(sign) != 'Nd':
        return ''
    return sign.upper() if sign.isascii() else sign


def duplicate_bills(ledger):
    bills = [Candidate('bill', bill, bill.total) for bill, _ in ledger.bills if bill.status != 'void']
    paid = [
        Candidate('expense', expense, signed_lines(expense)[0])
        for expense, _ in ledger.expenses
        if not expense.is_refund
    ]
    for a in bills:
        for b in bills + paid:
            if b.kind == 'bill' and not a.document.id < b.document.id:
                continue
            rules = [name for name, fits in rules_of(a, b) if fits]
            if not rules or not any(are_near(name, a, b, bills, paid) for name in rules):
                continue
            gap = days_between(a, b)
            yield {
                'bill_id_a': a.document.id,
                'document_type_b': b.kind,
                'document_id_b': b.document.id,
                'rule': rules[0],
                'score': SCORES[rules[0]],
                'matched_rules': len(rules),
                'vendor_id_a': a.document.vendor,
                'vendor_id_b': b.document.vendor,
                'currency_code': a.document.currency,
                'currency_code_b': b.document.currency,
                'amount_a': a.amount,
                'amount_b': b.amount,
                'day_gap': gap,
                'alike_count': sum(ALIKE[rules[0]](a, one) for one in bills + paid),
            }


def are_near(rule, a, b, bills, paid):
    """Whether fewer than ten documents of either's kind stand between the two, in the order that the rule looks at."""
    alike = sorted((one for one in bills + paid if GROUPS[rule](a, one)), key=ORDERS[rule])
    first, last = sorted((alike.index(a), alike.index(b)))
    between = [one.kind for one in alike[first + 1 : last]]
    return min(between.count(a.kind), between.count(b.kind)) < 10


def of_one_vendor(a, b):
    return a.document.vendor == b.document.vendor and a.document.vendor != '(none)'


def of_one_number(a, b):
    return b.kind == 'bill' and a.number is not None and a.number == b.number


def of_one_amount(a, b):
    return a.amount is not None and a.amount == b.amount and a.document.currency == b.document.currency


def of_one_vendor_and_amount(a, b):
    return of_one_vendor(a, b) and of_one_amount(a, b) and days_between(a, b) is not None


def by_date(one):
    date = one.document.date
    return (date is None, date or 0, one.kind, one.document.id)


def by_amount(one):
    code, amount = one.document.currency, one.amount
    return (code is None, code or '', amount is None, amount or 0, *by_date(one))


GROUPS = {
    'same_number': lambda a, b: of_one_vendor(a, b) and of_one_number(a, b),
    'paid_twice': of_one_vendor_and_amount,
    'same_amount': lambda a, b: b.kind == 'bill' and of_one_vendor_and_amount(a, b),
    'other_vendor': lambda a, b: of_one_number(a, b) and of_one_amount(a, b),
}
ORDERS = {'same_number': by_amount, 'paid_twice': by_date, 'same_amount': by_date, 'other_vendor': by_date}
ALIKE = {
    **GROUPS,
    'paid_twice': lambda a, b: of_one_vendor_and_amount(a, b) and days_between(a, b) <= 5,
    'same_amount': lambda a, b: b.kind == 'bill' and of_one_vendor_and_amount(a, b) and days_between(a, b) <= 7,
}
SCORES = {'same_number': 0.9, 'paid_twice': 0.8, 'same_amount': 0.7, 'other_vendor': 0.6}


def rules_of(a, b):
    """Yields the rules, strongest first."""
    both_bills = b.kind == 'bill'
    same_vendor = a.document.vendor == b.document.vendor and a.document.vendor != '(none)'
    same_number = both_bills and a.number is not None and a.number == b.number
    same_amount = (
        a.amount is not None and a.amount == b.amount != 0 and a.document.currency == b.document.currency
    )
    gap = days_between(a, b)
    near = lambda days: gap is not None and gap <= days
    yield 'same_number', same_vendor and same_number
    yield 'paid_twice', not both_bills and same_vendor and same_amount and near(5)
    yield 'same_amount', both_bills and same_vendor and same_amount and near(7)
    yield 'other_vendor', same_number and same_amount and not same_vendor


def days_between(a, b):
    first, second = a.document.date, b.document.date
    return None if first is None or second is None else abs((first - second).days)
