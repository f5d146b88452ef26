"""Marts of recurring revenue: subscription_mrr_monthly, mrr_movements_monthly."""

from collections import defaultdict
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

from amounts import RATE_PLACES, MONEY_PLACES, Fitted, less, places_of, rounded, times, total
from records import code, currency, enum, last_of_month, month_before, month_of, parse

# Statuses known to pay nothing. For a status that is neither active nor one of these, nobody knows.
NOT_PAYING = {'in_trial', 'paused', 'canceled'}

# The number of months in one interval.
MONTHS = {'day': Fraction(12, 365), 'week': Fraction(12, 52), 'month': Fraction(1), 'year': Fraction(12)}

# A longer billing period cannot be meant.
LONGEST_INTERVAL = 9_999


def find_rounded_and_too_large(book):
    """The subscriptions with a rounded amount in any version, and those with an amount that is too large."""
    versions = [version for version in versions_kept(book) if version['payload'] is not None]
    items = [
        (version['record_id'], Item(sent, position, line))
        for version in versions
        for sent in [parse(version['payload'])]
        for position, line in enumerate(lines_of(sent))
    ]
    return (
        {record_id for record_id, item in items if any(one.is_rounded for one in item.fitted)},
        {record_id for record_id, item in items if any(one.is_too_large for one in item.fitted)},
    )


def lines_of(sent):
    """The items of a subscription. If no list was sent, its items are unknown: one item without data."""
    if sent is None:
        return []
    return [{}] if sent.get('items') is None else sent['items']


def pruned_apart(book):
    """The versions that history still has, and those that a prune took: each superseded version, with its successor."""
    recorded = sorted(book.data.get('subscription_versions') or [], key=lambda version: version['recorded_at'])
    of_record = defaultdict(list)
    for version in recorded:
        ones = of_record[version['record_id']]
        if not ones or (ones[-1]['op'], ones[-1]['payload']) != (version['op'], version['payload']):
            ones.append(version)
    until = book.data.get('pruned_until')
    kept, taken = [], []
    for ones in of_record.values():
        for one, newer in zip(ones, [*ones[1:], None]):
            if newer is None or until is None or newer['recorded_at'] > f'{until}T00:00:00Z':
                kept.append(one)
            else:
                taken.append((one, newer))
    return sorted(kept, key=lambda version: version['recorded_at']), taken


def versions_kept(book):
    return pruned_apart(book)[0]


def last_pruned_month(book):
    """The last month that history no longer shows, nor those before it; None if it was not pruned, or had nothing then. After a first
    prune it is the month before, because nobody knows what earlier prunes took. After others it is the last month at whose end a
    removed version was current.
    """
    until = book.data.get('pruned_until')
    if until is None:
        return None
    if book.data.get('is_first_prune', True):
        has_older = any(one['recorded_at'][:10] < until for one in book.data['subscription_versions'])
        return month_before(date.fromisoformat(until)) if has_older else None
    stood = [
        month_before(month_counted_in(book, newer))
        for one, newer in pruned_apart(book)[1]
        if month_counted_in(book, one) < month_counted_in(book, newer)
    ]
    return max(stood, default=None)


def month_counted_in(book, version):
    """The month that a version counts in, before any pruning."""
    day = moment_of(version).date()
    until = day_read_until(book, month_of(day))
    return month_before(month_of(day), -1) if until is not None and until < day else month_of(day)


def is_forgotten(book):
    """Whether a removed version may have been a paid one."""
    return last_pruned_month(book) is not None or bool(pruned_apart(book)[1])


class Item:
    def __init__(self, subscription, position, sent, subscription_id=''):
        self.position = position
        self.status = enum(subscription.get('status'))
        self.customer = code(subscription.get('platform_customer_id')) or f'(none) {subscription_id}'
        self.currency = currency(subscription.get('iso_currency_code'))
        self.interval = enum(sent.get('interval'))
        self.count = sent.get('interval_count')
        quantity, amount = Fitted(sent.get('quantity'), MONEY_PLACES), Fitted(sent.get('amount'), MONEY_PLACES)
        unit = Fitted(sent.get('unit_amount'), RATE_PLACES)
        self.fitted = (quantity, amount, unit)
        self.quantity = quantity.value
        self.is_computed = sent.get('amount') is None
        self.price = amount.value
        self.variance = less(amount.value, times(quantity.value, unit.value, places_of(self.currency)))
        self.is_unfit = amount.is_too_large or (self.is_computed and (unit.is_too_large or quantity.is_too_large))
        if self.is_computed and unit.value is not None and quantity.value is not None:
            self.price = times(quantity.value, unit.value, places_of(self.currency))
            self.is_unfit = self.is_unfit or self.price is None
        self.is_estimated = self.interval in ('day', 'week') or self.is_computed

    def priced(self):
        if self.status in NOT_PAYING:
            return 'not_active', 0
        if self.status != 'active':
            return 'unknown_status', None
        if self.price == 0:
            return 'priced', 0
        months = MONTHS.get(self.interval)
        if months is None or self.count is None or not 1 <= self.count <= LONGEST_INTERVAL:
            return 'unknown_interval', None
        if self.price is None:
            return 'unfit_amount' if self.is_unfit else 'no_amount', None
        exact = Fraction(self.price) / (Fraction(self.count) * months)
        return 'priced', rounded(exact, places_of(self.currency))


def day_read_until(book, month):
    """The last day of the month, in UTC, on which all subscriptions were read. None if nobody read or recorded that."""
    until = (book.data.get('observed_until') or {}).get(month.isoformat())
    return None if until is None else date.fromisoformat(until)


def known_until(book, month, is_seen, today):
    """The last day read, and whether that is the month's end. Changes after that day appear only in a later month."""
    until = day_read_until(book, month) if is_seen else None
    is_read = is_seen and until in (None, last_of_month(month))
    return {'observed_until': until, 'is_complete': is_over(book, month, today) and is_read}


def is_over(book, month, today):
    """Whether the month is over where the company is and in UTC, which defines the months. Where the local time is ahead of UTC,
    nobody knows that on the first day of the next month, unless all subscriptions were read in a later month of UTC.
    """
    midnight = datetime(today.year, today.month, today.day, tzinfo=ZoneInfo(book.data['time_zone']))
    is_read_later = any(month.isoformat() < one for one in book.data.get('observed_months') or [])
    days_open = 1 if midnight.utcoffset() > timedelta(0) and not is_read_later else 0
    return last_of_month(month) < today - timedelta(days=days_open)


class Recorded:
    """A version of a subscription: its customer, the data sent (None: it was deleted), and the month to which it belongs."""

    def __init__(self, version, sent, month):
        self.subscription_id = version['record_id']
        self.sent = None if version['op'] == 'delete' else sent
        self.customer = code(sent.get('platform_customer_id')) or f'(none) {self.subscription_id}'
        self.month = month

    def items(self):
        return [Item(self.sent, place, line, self.subscription_id) for place, line in enumerate(lines_of(self.sent))]


def states_by_month(book, today):
    """The versions recorded, in order; and for each month whether it was observed, and the subscriptions known at its end."""
    zone = ZoneInfo(book.data['time_zone'])
    versions = [one for one in versions_kept(book) if moment_of(one).astimezone(zone).date() <= today]
    if not versions:
        return [], {}
    gone = last_pruned_month(book)
    observed = {date.fromisoformat(month) for month in book.data.get('observed_months') or []}
    unobserved = {date.fromisoformat(month) for month in book.data.get('unobserved_months') or []}
    last = month_of(today)
    # Months are those of UTC. Versions recorded until now, even this evening, belong at the latest to the company's current month.
    came = [min(month_of(moment_of(one).date()), last) for one in versions]
    # Observed months without subscriptions are known too.
    first = min(came[0], *observed, last)
    known_from = min((observed | unobserved) - {gone}, default=date.max)

    def is_seen(month):
        return (month in observed or month < known_from) and (gone is None or month > gone)

    def month_assigned_to(version, month):
        """The month of a version. If a month was read only up to its third day, a version of the fourth belongs to the month after."""
        until = day_read_until(book, month) if is_seen(month) else None
        is_too_late = until not in (None, last_of_month(month)) and moment_of(version).date() > until
        return month_before(month, -1) if is_too_late else month

    owners = assign_customers(versions)
    history = [
        Recorded(version, owners[id(version)], month_assigned_to(version, month)) for version, month in zip(versions, came)
    ]
    months, month = {}, first
    while month <= last:
        state = {one.subscription_id: one for one in history if one.month <= month}
        months[month] = (is_seen(month), state)
        month = month_before(month, -1)
    return history, months


def first_observed_month(months):
    """The first observed month."""
    return next((month for month, (is_seen, _) in months.items() if is_seen), None)


def late_today(book, today):
    """The existing subscriptions that are older than their history."""
    history, months = states_by_month(book, today)
    there = {one['id'] for one in book.sent['subscriptions']}
    return {one.subscription_id for one in learned_late(history, first_observed_month(months))} & there


def items_of_today(book, today):
    """The items of existing subscriptions, whatever month they will belong to."""
    history, _ = states_by_month(book, today)
    newest = {one.subscription_id: one for one in history}
    return [(subscription_id, item) for subscription_id, one in newest.items() for item in one.items()]


def moment_of(version):
    return datetime.fromisoformat(version['recorded_at'].replace('Z', '+00:00'))


def assign_customers(versions):
    """The data of each version. A version without a customer gets the next customer that the subscription names, else the last one
    before.
    """
    found = {}
    for record_id in {version['record_id'] for version in versions}:
        mine = [version for version in versions if version['record_id'] == record_id]
        sents = [{} if version['op'] == 'delete' else parse(version['payload']) for version in mine]
        names = [code(sent.get('platform_customer_id')) for sent in sents]
        for place, (version, sent) in enumerate(zip(mine, sents)):
            near = [name for name in [*names[place:], *reversed(names[:place])] if name]
            found[id(version)] = {**sent, 'platform_customer_id': near[0] if near else None}
    return found


def items_known(months):
    """The items of subscriptions at the end of each month."""
    for month, (is_seen, state) in months.items():
        for subscription_id, recorded in state.items():
            for item in recorded.items():
                yield month, is_seen, subscription_id, item


class Past:
    """A customer's payments as known from each version of each subscription, however short its time as the last version."""

    def __init__(self):
        self.seen, self.paying, self.unclear, self.resting = [], [], [], []
        self.has_older = False

    def add(self, recorded):
        self.seen.append(recorded.month)
        if recorded.sent.get('status') not in ('active', 'in_trial'):
            self.resting.append(recorded.month)
        revenue = total(mrr for _, mrr in (item.priced() for item in recorded.items()))
        if revenue is None:
            self.unclear.append(recorded.month)
        elif revenue > 0:
            self.paying.append(recorded.month)

    def may_precede_history(self, beginning):
        """Whether a subscription was inactive, with any items, when history begins or when the customer appears in it. It may have
        been paid before, or never."""
        return any(month == min(self.seen) or (beginning is not None and month <= beginning) for month in self.resting)

    def has_paid_before(self, month, beginning, is_forgotten):
        """Whether the customer had paid before the month began; None if nobody knows. Payments within the month itself do not count."""
        if any(one < month for one in self.paying):
            return True
        if any(one < month for one in self.unclear) or is_forgotten or self.may_precede_history(beginning) or self.has_older:
            return None
        return False


def build_pasts(history, beginning):
    pasts = defaultdict(Past)
    for recorded in history:
        if recorded.sent is not None:
            pasts[recorded.customer].add(recorded)
    for recorded in learned_late(history, beginning):
        # A trial has not been paid yet.
        if recorded.sent.get('status') != 'in_trial':
            pasts[recorded.customer].has_older = True
    return pasts


def learned_late(history, beginning):
    """The first version of each subscription that is older than the month in which history begins, and appeared in it later."""
    firsts, created = {}, {}
    for recorded in history:
        if recorded.sent is not None:
            firsts.setdefault(recorded.subscription_id, recorded)
            created[recorded.subscription_id] = moment_created(recorded.sent)
    return [
        recorded
        for key, recorded in firsts.items()
        if beginning is not None and recorded.month > beginning and created[key] is not None and created[key].date() < beginning
    ]


def moment_created(sent):
    created = sent.get('created_at')
    return datetime.fromisoformat(created.replace('Z', '+00:00')).astimezone(timezone.utc) if created else None


def subscription_mrr_monthly(book, today):
    _, months = states_by_month(book, today)
    seen = [month for month, (is_seen, _) in months.items() if is_seen]
    for month, is_seen, subscription_id, item in items_known(months):
        status, mrr = item.priced() if is_seen else ('not_observed', None)
        yield {
            'subscription_id': subscription_id,
            'position': item.position,
            'month': month,
            'platform_customer_id': item.customer,
            'currency_code': item.currency,
            'status': item.status,
            'billing_interval': item.interval,
            'interval_count': item.count,
            'quantity': item.quantity,
            'period_amount': item.price,
            'period_amount_variance': item.variance,
            **known_until(book, month, is_seen, today),
            'mrr_status': status,
            'mrr': mrr,
            'is_estimated': item.is_estimated,
            'is_baseline': bool(seen) and month == seen[0],
            'awaits_deletion': subscription_id in (book.data.get('waiting') or {}).get('subscriptions', []),
        }


def mrr_movements_monthly(book, today):
    history, months = states_by_month(book, today)
    seen = [month for month, (is_seen, _) in months.items() if is_seen]
    customers = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for month, _, _, item in items_known(months):
        customers[item.customer][item.currency][month].append(item)
    # Nobody knows who paid in the missing versions.
    has_gaps = is_forgotten(book)
    beginning = first_observed_month(months)
    pasts = build_pasts(history, beginning)
    for customer, by_currency in customers.items():
        known_of = {code_: known(by_month, months) for code_, by_month in by_currency.items()}
        for month, (is_seen, _) in months.items():
            is_baseline = bool(seen) and month == seen[0]
            now = {code_: ends[month] for code_, ends in known_of.items() if month in ends}
            ends = {code_: closing for code_, (closing, _) in now.items()}
            # The state in history at the beginning, whether or not the month before was read to its end.
            before = month_before(month)
            starts = {
                code_: closing if is_baseline else known_of[code_].get(before, (0, 0))[0] for code_, closing in ends.items()
            }
            for code_, (closing, unpriced) in now.items():
                row = {
                    'platform_customer_id': customer,
                    'month': month,
                    'currency_code': code_,
                    **known_until(book, month, is_seen, today),
                    'is_observed': is_seen,
                    'is_baseline': is_baseline,
                    **dict.fromkeys(('opening', 'new', 'reactivation', 'expansion', 'contraction', 'churn', 'closing')),
                    'unpriced_items': None,
                }
                if is_seen:
                    moved = less(closing, starts[code_])
                    has_paid = pasts[customer].has_paid_before(month, beginning, has_gaps)
                    row.update(moves_of(pays(starts), pays(ends), moved, has_paid))
                    row.update(opening=starts[code_], closing=closing, unpriced_items=unpriced)
                yield row


def known(by_month, months):
    """The revenue at the end of each month, and the number of items without a price, from the first month that has items."""
    ends = {}
    for month in months:
        items = [item.priced() for item in by_month.get(month, [])]
        if items or ends:
            ends[month] = total(mrr for _, mrr in items), sum(mrr is None for _, mrr in items)
    return ends


def pays(amounts):
    """Whether any amount, in any currency, is above 0. None if that depends on an unknown amount."""
    if any(amount is not None and amount != 0 for amount in amounts.values()):
        return True
    return None if None in amounts.values() else False


def moves_of(pays_before, pays_after, moved, has_paid):
    """Classifies a movement. A customer's currencies count together, so one that changes currency is neither new nor lost."""
    moves = dict.fromkeys(('new', 'reactivation', 'expansion', 'contraction', 'churn'))
    if moved is None:
        return moves
    if moved == 0:
        return dict.fromkeys(moves, 0)
    names = {
        name_movement(before, after, moved, paid)
        for before in either(pays_before)
        for after in either(pays_after)
        for paid in either(has_paid)
    }
    # A kind that is impossible is 0. If several are possible, none of them is known.
    return {name: 0 if name not in names else moved if len(names) == 1 else None for name in moves}


def either(known):
    return (True, False) if known is None else (known,)


def name_movement(pays_before, pays_after, moved, has_paid):
    if not pays_before:
        return 'reactivation' if has_paid else 'new'
    if not pays_after:
        return 'churn'
    return 'expansion' if moved > 0 else 'contraction'
