"""Marts of what is owed: ap_open_items, ap_ageing, cash_requirements, ap_kpis_monthly."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from amounts import is_noise, less, negative, share, total
from documents import (
    credited_later,
    due_beyond_total,
    is_dated_ahead,
    is_due,
    is_issued,
    is_open_at,
    is_owed_back_at,
    open_at,
    paid_off,
    undated_part,
    unexplained,
)
from readings import were_read_after
from records import last_of_month, month_before, month_of

AGEING_MONTHS = 36


def as_of_days(today):
    """Today, and the last days of the months before."""
    return [today] + [last_of_month(month_before(today, count)) for count in range(1, AGEING_MONTHS + 1)]


class OpenItem:
    def __init__(self, when, document, rate, amount, is_credit):
        self.when, self.document, self.rate, self.is_credit = when, document, rate, is_credit
        self.amount = amount
        self.base = rate.of(self.amount)
        self.beyond_total = due_beyond_total(document, when, amount)
        self.due = getattr(document, 'due_date', None)
        # Amounts owed back have no due date.
        self.days = None if self.due is None or is_credit else (when - self.due).days
        self.bucket = bucket_of(self.days)

    @property
    def is_overdue(self):
        return self.days is not None and self.days > 0


def bucket_of(days):
    if days is None:
        return 'no_due_date'
    for last, name in ((0, 'not_due'), (30, '1-30'), (60, '31-60'), (90, '61-90')):
        if days <= last:
            return name
    return '90+'


def open_items(ledger, when):
    for bill, rate in ledger.bills:
        owed_back = is_owed_back_at(bill, when)
        if owed_back or is_open_at(bill, when):
            yield OpenItem(when, bill, rate, open_at(bill, when), owed_back)
    for credit, rate in ledger.credits:
        if is_open_at(credit, when):
            amount = open_at(credit, when)
            # A credit below 0 is an amount that we have to pay.
            yield OpenItem(when, credit, rate, negative(amount), amount is None or amount > 0)


def ap_open_items(ledger):
    for when in as_of_days(ledger.today):
        for item in open_items(ledger, when):
            document = item.document
            yield {
                'as_of_date': when,
                'is_today': when == ledger.today,
                'document_type': 'bill' if hasattr(document, 'due_date') else 'vendor_credit',
                'is_credit': item.is_credit,
                'document_id': document.id,
                'document_number': document.number,
                'vendor_id': document.vendor,
                'currency_code': document.currency,
                'issue_date': document.date,
                'due_date': item.due,
                'days_past_due': item.days,
                'bucket': item.bucket,
                'open_amount': item.amount,
                'open_amount_base': item.base,
                'due_beyond_total': item.beyond_total,
                'base_currency': item.rate.base,
                'fx_status': item.rate.status,
                'has_undated_allocation': any(day is None for day, _ in document.parts),
            }


def ap_ageing(ledger):
    for when in as_of_days(ledger.today):
        groups = defaultdict(list)
        for item in open_items(ledger, when):
            groups[item.document.vendor, item.document.currency].append(item)
        for (vendor, currency), items in groups.items():
            of = lambda name: total(item.amount for item in items if item.bucket == name)
            overdue = total(item.amount for item in items if item.is_overdue)
            whole = total(item.amount for item in items)
            unconverted = sum(item.base is None for item in items)
            yield {
                'as_of_date': when,
                'is_today': when == ledger.today,
                'vendor_id': vendor,
                'currency_code': currency,
                'not_due': of('not_due'),
                'days_1_30': of('1-30'),
                'days_31_60': of('31-60'),
                'days_61_90': of('61-90'),
                'days_over_90': of('90+'),
                'no_due_date': of('no_due_date'),
                'overdue_amount': overdue,
                'unapplied_credits': total(item.amount for item in items if item.is_credit),
                'open_bills': total(item.amount for item in items if not item.is_credit),
                'open_bills_no_due_date': total(
                    item.amount for item in items if not item.is_credit and item.days is None
                ),
                'total_open': whole,
                'total_open_base': total(item.base for item in items) if unconverted == 0 else None,
                'unconverted_count': unconverted,
                'overdue_share': share_overdue(items),
                'unknown_count': sum(item.amount is None for item in items),
                'oldest_days': max((item.days for item in items if item.is_overdue), default=None),
                'document_count': len(items),
            }


def share_overdue(items):
    """The overdue part of the open bills, between 0 and 1."""
    return share(payable(items, lambda item: item.is_overdue), payable(items))


def payable(items, chosen=lambda item: True):
    """The sum of open bills. None if an amount is not known."""
    return total(item.amount for item in items if not item.is_credit and chosen(item))


def usual_delay(ledger):
    """The median days late of each vendor's settled bills; for an even number, the lower one."""
    late = defaultdict(list)
    for bill, _ in ledger.bills:
        paid_off_on = paid_off(bill, ledger.today)
        paid_on = None if paid_off_on is None else last_paid(bill, paid_off_on, ledger.today)
        is_settled = bill.is_posted and is_issued(bill, ledger.today) and not is_due(bill, ledger.today)
        # Bills without a vendor have no habit in common.
        if bill.vendor != '(none)' and is_settled and paid_on is not None and bill.due_date is not None:
            late[bill.vendor].append((paid_on - bill.due_date).days)
    return {vendor: sorted(days)[(len(days) - 1) // 2] for vendor, days in late.items()}


def last_paid(bill, paid_off_on, today):
    """The last day, up to paid_off_on, with a payment that was not all paid back. None unless such payments are at least half of the
    bill."""
    payments = [entry for entry in bill.payments if entry.date is not None and entry.date <= today]
    balances, balance = [], Decimal(0)
    for day in sorted({entry.date for entry in payments}):
        before, balance = balance, total([balance, *(entry.amount for entry in payments if entry.date == day)])
        balances.append((day, before, balance))
    lasted = [
        (day, kept)
        for place, (day, before, _) in enumerate(balances)
        for kept in [less(min(after for _, _, after in balances[place:]), before)]
        if kept > 0 and not is_noise(bill.currency, kept) and day <= paid_off_on
    ]
    paid = total(kept for _, kept in lasted)
    return max(day for day, _ in lasted) if lasted and paid * 2 >= bill.total else None


def cash_requirements(ledger):
    today = ledger.today
    delay = usual_delay(ledger)
    due, ahead, expected = defaultdict(list), defaultdict(list), defaultdict(list)
    due_credited, ahead_credited = defaultdict(list), defaultdict(list)
    of_credits = [credit for credit, _ in ledger.credits]
    for bill, _ in ledger.bills:
        is_ahead = is_dated_ahead(bill, today)
        if not is_ahead and not is_open_at(bill, today):
            continue
        amount = open_at(bill, today)
        # A bill that is not issued yet is not due before its date, and one that is not overdue is not expected before today.
        not_before = [bill.date] if is_ahead else []
        is_overdue = bill.due_date is not None and not is_ahead and bill.due_date < today
        earliest = not_before or ([] if is_overdue else [today])
        day_due = bill.due_date and max([bill.due_date, *not_before])
        moved = bill.due_date and max([day_due + timedelta(days=delay.get(bill.vendor, 0)), *earliest])
        later = credited_later(bill, today)
        (ahead if is_ahead else due)[bill.currency, week_of(day_due, today)].append(amount)
        (ahead_credited if is_ahead else due_credited)[bill.currency, week_of(day_due, today)].append(later)
        # Nobody pays what a credit settles.
        expected[bill.currency, week_of(moved, today)].append(less(amount, later))
    for item in open_items(ledger, today):
        if item.document in of_credits:
            week = 'unapplied_credits' if item.is_credit else 'no_date'
            later = negative(credited_later(item.document, today))
        elif item.is_credit:
            week, later = 'unapplied_credits', credited_later(item.document, today)
        else:
            continue
        due[item.document.currency, week].append(item.amount)
        due_credited[item.document.currency, week].append(later)
        expected[item.document.currency, week].append(less(item.amount, later))
    for key in sorted({*due, *ahead, *expected}, key=str):
        currency, week = key
        yield {
            'as_of_date': today,
            'currency_code': currency,
            'due_bucket': week,
            'amount_due': total(due[key]),
            'expected_amount': total(expected[key]),
            'document_count': len(due[key]),
            'dated_ahead': total(ahead[key]),
            'dated_ahead_count': len(ahead[key]),
            'amount_due_credited': total(due_credited[key]),
            'dated_ahead_credited': total(ahead_credited[key]),
            'unknown_count': sum(amount is None for amount in due[key] + ahead[key]),
        }


def week_of(when, today):
    if when is None:
        return 'no_date'
    if when < today:
        return 'overdue'
    week = (when - today).days // 7
    return f'w{week:02}' if week <= 12 else 'later'


def ap_kpis_monthly(ledger):
    today = ledger.today
    this_month = month_of(today)
    months = [month_before(this_month, count) for count in range(AGEING_MONTHS, -1, -1)]
    currencies = {document.currency for document, _ in ledger.bills + ledger.credits if document.is_posted}
    posted = [bill for bill, _ in ledger.bills if bill.is_posted]
    for currency in sorted(currencies, key=str):
        mine = [bill for bill in posted if bill.currency == currency]
        ends, dated_ends, hidden_ends, surplus_ends, bought, bought_above_0, rows = {}, {}, {}, {}, {}, {}, []
        hidden = [bill for bill in mine if hides_settlement(bill)]
        for month in months:
            end = min(last_of_month(month), today)
            items = [item for item in open_items(ledger, end) if item.document.currency == currency]
            open_bills = [item for item in items if not item.is_credit]
            ends[month] = total(item.amount for item in open_bills)
            dated_ends[month] = total(
                item.amount for item in open_bills if item.document.date is not None and hasattr(item.document, 'due')
            )
            # May have been open then, as far as anyone knows. What is due today is known.
            hidden_ends[month] = total(
                hidden_amount(bill) for bill in hidden if bill.date is not None and bill.date <= end < today
            )
            # Open, although nobody bought it.
            surplus = [item for item in open_bills if item.beyond_total is not None and item.beyond_total > 0]
            surplus_ends[month] = total(item.beyond_total for item in surplus if item.document.date is not None)
            unclear = {bill.id for bill in hidden if is_issued(bill, end)} | {item.document.id for item in surplus}
            totals = [bill.total for bill in mine if bill.date is not None and month <= bill.date <= end]
            bought[month] = total(totals)
            bought_above_0[month] = total(amount for amount in totals if amount is None or amount > 0)
            payments = [
                (bill, entry)
                for bill in mine
                for entry in bill.payments
                if entry.date is not None and month <= entry.date <= end
            ]
            # Shares and means weigh payments of bills with a total above 0 by the amount owed. An unknown total or weight stays in.
            weighed = [
                (bill, day, weight)
                for bill in mine
                if bill.total is None or bill.total > 0
                for day, weight in owed_payments(bill, today)
                if month <= day <= end
            ]
            days = [(weight, (day - b.date).days) for b, day, weight in weighed if b.date is not None]
            # If two days are a century apart, one of them is wrong.
            weighted = [(weight, apart) for weight, apart in days if abs(apart) <= 36525]
            # Without a due date no payment is late.
            timed = [(weight, day > b.due_date) for b, day, weight in weighed if b.due_date is not None]
            late = total(weight for weight, is_late in timed if is_late)
            paid = total(entry.amount for _, entry in payments)
            # The payment is known, but not how much of what was owed it paid.
            unweighed = [
                day
                for bill, day, weight in weighed
                if weight is None and all(entry.amount is not None for entry in bill.payments if entry.date == day)
            ]
            days_payable, days_payable_status = outstanding(
                months, month, end, dated_ends, bought_above_0, hidden_ends, surplus_ends
            )
            rows.append(
                {
                    'month': month,
                    'currency_code': currency,
                    'is_complete': last_of_month(month) < today and were_read_after(ledger, end),
                    'open_ap_end': ends[month],
                    'unapplied_credits': total(item.amount for item in items if item.is_credit),
                    'purchases': bought[month],
                    'paid': paid,
                    'unknown_count': sum(item.amount is None for item in items)
                    + sum(bill.total is None for bill in mine if bill.date is not None and month <= bill.date <= end)
                    + sum(entry.amount is None for _, entry in payments)
                    + len(unweighed),
                    'unexplained_count': 0 if end == today else len(unclear),
                    # They may have been made in the month.
                    'undated_payment_count': sum(
                        entry.date is None and entry.amount != 0
                        for bill in mine
                        if bill.date is None or bill.date <= end
                        for entry in bill.payments
                    ),
                    'days_payable_outstanding': days_payable,
                    'days_payable_status': days_payable_status,
                    'average_days_to_pay': weighted_mean(weighted),
                    'paid_late_share': share(late, total(weight for weight, _ in timed)),
                    'overdue_share': share_overdue(items),
                    'over_90_share': share(payable(items, lambda item: item.bucket == '90+'), payable(items)),
                }
            )
        yield from rows


def hides_settlement(bill):
    """Whether a part of the bill was settled on an unknown day, by an undated payment or credit, or by something that nobody tells."""
    if not bill.total:
        return False
    undated, rest = undated_part(bill), unexplained(bill)
    if undated is None or is_unexplained(bill):
        return True
    if bill.total > 0:
        return undated != 0
    # An amount was owed back until it was settled.
    return undated < 0 or (rest is not None and rest < 0 and not is_noise(bill.currency, rest))


def is_unexplained(bill):
    """Whether less is due of a bill above 0 than its payments and credits explain."""
    if bill.total is None or bill.total <= 0:
        return False
    rest = unexplained(bill)
    return rest is not None and rest > 0 and not is_noise(bill.currency, rest)


def hidden_amount(bill):
    """The amount that may have been open, or may have been settled or paid back on an unknown day. Amounts owed back are never open."""
    if bill.total < 0:
        return Decimal(0)
    undated = undated_part(bill)
    return total([unexplained(bill) if is_unexplained(bill) else Decimal(0), None if undated is None else abs(undated)])


def by_day(parts, today):
    """Settlements of a bill up to today, by day. Undated ones count as before every day."""
    amounts = defaultdict(list)
    for day, amount in parts:
        if day is None or day <= today:
            amounts[day or date.min].append(amount)
    return [(day, total(ones)) for day, ones in sorted(amounts.items())]


def never_taken_back(days):
    """The days on which a bill was settled by more than came back, each with the part that was never taken back. A refund takes off
    the latest settlements first.
    """
    stack = []
    for day, amount in days:
        if amount > 0:
            stack.append([day, amount])
        # The part of a refund beyond earlier payments is an advance, which no later payment makes up for.
        back = -min(amount, 0)
        for paid in reversed(stack):
            taken = min(paid[1], back)
            paid[1], back = less(paid[1], taken), less(back, taken)
    return [(day, amount) for day, amount in stack]


def owed_payments(bill, today):
    """The days on which a bill was paid, each with the part of the payment that paid for good what was owed: at most what the credits
    up to that day, and the payments before, had left of the total. None if any of these amounts is not known.
    """
    parts_of = lambda entries: [part for entry in entries for part in entry.parts]
    paid = by_day(parts_of(bill.payments), today)
    credited = by_day(parts_of(bill.credits) + bill.told_by_other, today)
    if bill.total is None or any(amount is None for _, amount in paid + credited):
        yield from ((day, None) for day, amount in paid if day != date.min and (amount is None or amount > 0))
        return
    credits_left = never_taken_back(credited)
    room = bill.total
    for day, amount in never_taken_back(paid):
        while credits_left and credits_left[0][0] <= day:
            room = max(less(room, credits_left.pop(0)[1]), Decimal(0))
        weight = min(amount, room)
        if day != date.min:
            yield day, weight
        room = less(room, weight)


def outstanding(months, month, end, ends, bought, hidden, surplus):
    """Average open bills with an issue date at three month ends, divided by the purchases of the three months, times their days; or
    the reason why it is not known. Bills below 0 are in neither, because amounts that vendors owe back are not open. Not known if it
    could differ by more than half a day because of settlements on unknown days at each month end, or of amounts due but not bought.
    """
    three = [month_before(month, count) for count in (2, 1, 0)]
    if three[0] not in months:
        return None, 'fewer_months'
    of_three = lambda amounts: total(amounts[one] for one in three)
    balance, purchases, untold = of_three(ends), of_three(bought), of_three(hidden)
    if None in (balance, purchases, untold):
        return None, 'unknown'
    if purchases <= 0:
        return None, 'no_purchases'
    days = (end - three[0]).days + 1
    in_days = lambda amount: Fraction(amount) / 3 / Fraction(purchases) * days
    if in_days(total([untold, of_three(surplus)])) > Fraction(1, 2):
        return None, 'unexplained'
    return in_days(balance), 'known'


def weighted_mean(pairs):
    weight = total(amount for amount, _ in pairs)
    if not weight:
        return None
    return sum(Fraction(amount) * days for amount, days in pairs) / Fraction(weight)
