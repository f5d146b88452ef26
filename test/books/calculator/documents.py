"""Marts of documents and their lines: bills, bill_lines, expenses, expense_lines, vendor_credits, allocations, spend_lines."""

from datetime import date
from decimal import Decimal

from amounts import is_noise, less, negative, total
from conversion import Rate
from records import month_of


class Taxed:
    """The tax of a line, derived from what the platform sent."""

    def __init__(self, line, document, told):
        amount, tax = line.worth, line.tax
        self.gross, self.net = amount, None
        self.tells_tax = not line.is_known or bool(tax)
        self.treatment = self._treated(line, document, told)
        if not line.is_known:
            self.gross = None
        elif self.treatment == 'no_tax':
            self.net = amount
        elif self.treatment == 'inclusive':
            self.net = less(amount, tax)
        elif self.treatment == 'exclusive':
            self.net, self.gross = amount, total([amount, tax])
        elif self.treatment == 'not_charged':
            # If the discount is deducted from the line, its subtotal is not its cost.
            is_whole = is_alike(amount, line.sub_total) or is_alike(amount, total([line.sub_total, tax]))
            self.net = self.gross = line.sub_total if is_whole else less(amount, tax)

    def _treated(self, line, document, told):
        if not line.is_known or (not line.tax and is_more(document, line)):
            return 'unknown'
        if not line.tax:
            return 'no_tax'
        readings = readings_of(line)
        if not readings:
            return 'unknown'
        if 'beside' not in readings or 'within' in readings:
            return 'not_charged' if told.is_less_their_tax else 'inclusive'
        if 'less discount' in readings:
            if told.is_less_their_tax:
                return 'not_charged'
            # The total that includes the tax may also be the one without it. The document decides, if it does.
            return 'inclusive' if told.is_sum and (told.charges_tax or told.before_tax is None) else 'unknown'
        if not told.is_made_without_tax:
            return 'exclusive'
        return 'inclusive' if told.charges_tax else 'not_charged' if told.leaves_out_tax else 'unknown'


def readings_of(line):
    """Possible meanings of its total: the subtotal plus the tax, the same less the discount, or the subtotal alone."""
    if line.total is None or line.sub_total is None or line.tax is None:
        return set()
    may_be = {
        'within': total([line.sub_total, line.tax]),
        'less discount': less(total([line.sub_total, line.tax]), line.discount_amount) if line.discount_amount is not None else None,
        'beside': line.sub_total,
    }
    return {name for name, amount in may_be.items() if amount is not None and is_alike(line.total, amount)}


def is_alike(one, other):
    """Whether two sums of doubles are equal except for their last digits."""
    return abs(less(one, other)) <= Decimal('0.000001')


class ReportedTax:
    """What a document tells about the tax of all its lines."""

    def __init__(self, document):
        same = lambda one, other: one is not None and other is not None and is_noise(document.currency, less(one, other))
        known = lambda values: total(value if line.is_known else None for line, value in zip(document.lines, values))
        worth, taxes = known([line.worth for line in document.lines]), known([line.tax or 0 for line in document.lines])
        within = [line for line in document.lines if not line.is_known or readings_of(line) & {'within', 'less discount'}]
        tax_within = total(line.tax if line.is_known else None for line in within)
        told, discount = getattr(document, 'tax', None), getattr(document, 'discount', None) or Decimal(0)
        self.before_tax = getattr(document, 'sub_total', None)
        tax = taxes if told is None else told
        # Whether its total is its subtotal plus that amount, whether or not its discount is still to be deducted.
        comes_to = lambda added: any(
            same(document.total, less(self.before_tax, negative(added), off)) for off in (Decimal(0), discount)
        )
        more = less(worth, document.total)
        self.is_sum = same(worth, document.total)
        # Some line totals can only be without their tax. Compares the sums with and without that tax to the document's total.
        beside = known([(line.tax or 0) if readings_of(line) == {'beside'} else 0 for line in document.lines])
        self.is_made_without_tax = self.is_sum or is_nearer(
            [less(more, off) for off in (Decimal(0), discount)],
            [less(more, off, negative(beside)) for off in (Decimal(0), discount)],
        )
        self.charges_tax = taxes is not None and not same(taxes, Decimal(0)) and same(tax, taxes) and comes_to(tax)
        tells_none = same(told or Decimal(0), Decimal(0))
        if not hasattr(document, 'tax'):
            # A credit tells neither subtotal nor tax, so nobody knows what its total includes.
            self.leaves_out_tax = False
        elif not tells_none and same(told, tax_within):
            # The header tells the tax of the other lines.
            self.leaves_out_tax = True
        elif self.before_tax is None:
            self.leaves_out_tax = told is not None and tells_none
        else:
            beyond = less(document.total, self.before_tax)
            self.leaves_out_tax = comes_to(Decimal(0)) or is_nearer(
                [less(beyond, negative(off)) for off in (Decimal(0), discount)],
                [less(beyond, negative(off), taxes) for off in (Decimal(0), discount)],
            )
        self.is_less_their_tax = (
            not self.charges_tax
            and tax_within is not None
            and not same(tax_within, Decimal(0))
            and any(same(more, total([tax_within, off])) for off in (Decimal(0), discount))
            and not any(same(more, off) for off in (Decimal(0), discount))
        )


# A document may be rounded to whole units of its currency.
ROUNDING = Decimal('0.5')


def is_nearer(ways, others):
    """Whether the remainder one way is at most a rounding, and less than the other way."""
    if None in ways or None in others:
        return False
    left = min(abs(one) for one in ways)
    return left <= ROUNDING and left < min(abs(one) for one in others)


def is_more(document, line):
    """Whether the total exceeds the subtotal for no known reason."""
    if line.is_remark or line.sub_total is None:
        return False
    more = abs(line.total) - abs(line.sub_total)
    return more > 0 and not is_noise(document.currency, more)


class Taxes:
    """The lines of a bill or a credit, each with its tax, and for a bill the tax that only its header has."""

    def __init__(self, document):
        told = ReportedTax(document)
        self.lines = [Taxed(line, document, told) for line in document.lines]
        self.rest = less(document.total, *(line.gross for line in self.lines))
        self.rest_net = self.rest
        if not hasattr(document, 'tax') and self.rest is not None and not is_noise(document.currency, self.rest):
            # A credit does not tell how much of the amount outside its lines is tax.
            self.rest_net = None
        is_torn = any(one.treatment == 'unknown' and line.tax for one, line in zip(self.lines, document.lines))
        if is_torn and self.rest != 0:
            # The tax may be in the rest, or beside it.
            self.rest_net = None
        self.has_untold_tax = False
        tax = getattr(document, 'tax', None)
        untold = None if not tax else self._untold(document, tax)
        if self._may_hide_tax(document):
            self.rest_net = None
        is_half_told = tells_half(document)
        # Tax that the vendor does not charge is in no amount. If the header tells another tax, the two cannot be told apart.
        not_charged = [line.tax for one, line in zip(self.lines, document.lines) if one.treatment == 'not_charged']
        tells_uncharged = total(not_charged) != 0
        if not is_half_told and (untold is None or is_noise(document.currency, untold)):
            return
        self.has_untold_tax = True
        worth = [line for line in self.lines if line.gross is None or line.gross != 0]
        if not is_half_told and not tells_uncharged and self._is_on_top(document, worth, untold):
            self.rest_net = None if is_torn else less(self.rest, untold)
            return
        # The tax is in the lines, or nobody knows where. A line that tells no tax may include some of it.
        self.rest_net = None
        # If another line tells tax, nobody knows whether the header's tax includes it.
        is_told_by_line = any(line.tells_tax for line in self.lines)
        net_of_header = None if is_half_told or is_told_by_line else self._net_of_header(document, tax)
        for line in worth:
            if line.tells_tax:
                continue
            if len(worth) == 1 and self.rest == 0 and net_of_header is not None:
                line.treatment, line.net = 'inclusive', net_of_header
            else:
                line.treatment, line.net = 'unknown', None

    def _may_hide_tax(self, document):
        """Whether the header does not tell the tax of a bill's lines, and their sums differ by more than discount and rounding."""
        if not hasattr(document, 'tax') or not any(line.tax for line in document.lines):
            return False
        untold = None if document.tax is None else self._untold(document, document.tax)
        if untold is not None and is_noise(document.currency, untold):
            return False
        return self.rest is None or min(abs(self.rest), abs(total([self.rest, document.discount or 0]))) > ROUNDING

    def _net_of_header(self, document, tax):
        """The subtotal, if it and the tax make the total; the total less the tax, if a discount is deducted too."""
        if document.sub_total is None or document.total is None:
            return None
        rest = less(document.total, document.sub_total, tax)
        if is_noise(document.currency, rest):
            return document.sub_total
        is_discount = is_noise(document.currency, less(rest, negative(document.discount or 0)))
        return less(document.total, tax) if is_discount else None

    def _untold(self, document, tax):
        """The part of the document's tax that its lines do not have."""
        told = [line.tax or 0 if line.is_known else None for line in document.lines]
        return less(tax, *told)

    def _is_on_top(self, document, worth, untold):
        """Whether the total exceeds the lines by the tax, or by the tax less the document's discount."""
        if self.rest is None or self.rest == 0:
            return False
        discount = document.discount or 0
        if not worth:
            return not any(line.tax for line in document.lines)
        return any(
            is_noise(document.currency, less(self.rest, untold, negative(other))) for other in (0, discount)
        )


def tells_half(document):
    """Whether a bill tells a subtotal and no tax, and its total is more for no known reason. The tax of its lines is a known reason."""
    if getattr(document, 'tax', 0) is not None or document.sub_total is None or document.total is None:
        return False
    before, discount = document.sub_total, document.discount or Decimal(0)
    taxes = total((line.tax or 0) if line.is_known else None for line in document.lines)
    may_be = [less(before, off) for off in (Decimal(0), discount)]
    may_be += [] if taxes is None else [total([one, taxes]) for one in may_be]
    if any(is_noise(document.currency, less(document.total, one)) for one in may_be):
        return False
    more = less(abs(document.total), min(abs(before), abs(less(before, discount))))
    return more > 0 and not is_noise(document.currency, more)


class SpendLine:
    def __init__(self, source_type, document, rate, line, position, gross, net, treatment):
        self.source_type, self.document, self.rate, self.line = source_type, document, rate, line
        self.position, self.gross, self.net, self.treatment = position, gross, net, treatment
        self.gross_base, self.net_base = rate.of(gross), rate.of(net)


def spend_of_lined(source_type, document, rate, sign):
    """The lines of a bill or credit, plus one for the rest if they are not the whole document."""
    found = []
    taxes = Taxes(document)
    for line, taxed in zip(document.lines, taxes.lines):
        gross, net = (taxed.gross, taxed.net) if sign > 0 else (negative(taxed.gross), negative(taxed.net))
        found.append(SpendLine(source_type, document, rate, line, line.position, gross, net, taxed.treatment))
    if taxes.rest is None or taxes.rest != 0 or not document.lines:
        gross, net = (taxes.rest, taxes.rest_net) if sign > 0 else (negative(taxes.rest), negative(taxes.rest_net))
        found.append(SpendLine(source_type, document, rate, None, -1, gross, net, 'balancing'))
    return found


def signed_lines(expense):
    """A refund is sent with positive lines and counts as a negative amount."""
    whole = total(line.worth for line in expense.lines)
    turns = expense.is_refund and whole is not None and whole > 0
    unknown = expense.is_refund and whole is None
    amounts = [None if unknown else negative(line.worth) if turns else line.worth for line in expense.lines]
    odd = expense.is_refund and not unknown and not turns and bool(expense.lines)
    return whole, amounts, odd


def spend_of_expense(expense, rate):
    _, amounts, _ = signed_lines(expense)
    source_type = 'refund' if expense.is_refund else 'expense'
    return [
        SpendLine(source_type, expense, rate, line, line.position, amount, None, 'unknown')
        for line, amount in zip(expense.lines, amounts)
    ]


class Ledger:
    """Every document of a book with its rate and its lines of spend."""

    def __init__(self, book, today):
        self.book, self.today = book, today
        self.bills = [(bill, Rate(book, bill)) for bill in book.bills]
        self.credits = [(credit, Rate(book, credit, has_rates=False)) for credit in book.credits]
        self.expenses = [(expense, Rate(book, expense)) for expense in book.expenses]
        self.rates = {id(document): rate for document, rate in self.bills + self.credits + self.expenses}
        self._date_credit_links()
        self.spend = []
        for bill, rate in self.bills:
            self.spend += spend_of_lined('bill', bill, rate, 1)
        for expense, rate in self.expenses:
            self.spend += spend_of_expense(expense, rate)
        for credit, rate in self.credits:
            self.spend += spend_of_lined('vendor_credit', credit, rate, -1)

    def _date_credit_links(self):
        """Gives each application that bill and credit both tell one date: the bill's, else the credit's. An application that only one
        of them tells has settled both.
        """
        bills = {bill.id: bill for bill in self.book.bills}
        credits = {credit.id: credit for credit in self.book.credits}
        pairs = {}
        for bill in self.book.bills:
            for entry in bill.credits:
                pairs.setdefault((bill.id, entry.linked_id), ([], []))[0].append(entry)
        for credit in self.book.credits:
            for entry in credit.allocations:
                pairs.setdefault((entry.linked_id, credit.id), ([], []))[1].append(entry)
        self.links_of_two_dates = set()
        recorded = {}
        for (bill_id, credit_id), (by_bill, by_credit) in pairs.items():
            if bill_id is None or credit_id is None:
                drop_undone(by_bill + by_credit)
                continue
            both = [one for one in (bills.get(bill_id), credits.get(credit_id)) if one is not None]
            all_entries = by_bill + by_credit
            for entry in all_entries:
                entry.parts = []
            by_bill, by_credit = drop_undone(by_bill), drop_undone(by_credit)
            for entry in all_entries:
                entry.parts = [(later(day, both), amount) for day, amount in entry.parts]
            is_one_currency = len({document.currency for document in both}) <= 1
            is_one_sided = not by_bill or not by_credit
            for size, one, other in match_applications(by_bill, by_credit, is_one_currency):
                days = [entry.date for entry in (one, other) if entry is not None and entry.date is not None]
                if len(set(days)) > 1:
                    self.links_of_two_dates.add(bill_id)
                when = later(days[0] if days else None, both)
                for entry in (one, other):
                    if entry is not None:
                        amount = entry.amount if size is None else size if entry.amount > 0 else -size
                        entry.parts.append((when, amount))
                # Entries matched only by position may be told there in another way.
                if len(both) == 2 and is_one_currency and None in (one, other) and (size is not None or is_one_sided):
                    bill, credit = both
                    recording, counterpart = (credit, bill) if one is None else (bill, credit)
                    if recording.is_posted:
                        entry = other if one is None else one
                        counterpart.told_by_other.append((when, amount))
                        recorded.setdefault(id(counterpart), []).append((entry.date, recording.id, entry, amount, when))
                        entry.alone.append((when, amount))
        for document in self.book.bills + self.book.credits:
            told = document.told_by_other
            document.told_by_other = unexplained_by_its_own(document)
            distribute(recorded.get(id(document), []), told, document.told_by_other)

    def base_total(self, document, rate):
        """The sum of its lines, each rounded once."""
        if rate.value is None:
            return None
        return total(line.gross_base for line in self.spend if line.document is document)


def later(when, both):
    """Moves a date to when both documents exist: nothing is applied before that."""
    if when is None or len(both) < 2:
        return when
    return max([when, *(document.date for document in both if document.date is not None)])


def in_order(entries):
    return sorted(entries, key=lambda one: (one.date is None, one.date or date.min, one.position))


def drop_undone(entries):
    """Leaves out entries of 0, and each pair of entries in which the second undoes the first. Such a pair counts on one day, and adds
    up to 0."""
    kept = []
    may_be_undone = False
    for entry in in_order(entries):
        if entry.amount == 0:
            entry.parts = [(entry.date, entry.amount)]
        elif may_be_undone and None not in (entry.amount, kept[-1].amount) and entry.amount == -kept[-1].amount:
            undone = kept.pop()
            when = max((one.date for one in (undone, entry) if one.date is not None), default=None)
            undone.parts, entry.parts = [(when, undone.amount)], [(when, entry.amount)]
            may_be_undone = False
        else:
            kept.append(entry)
            may_be_undone = True
    return kept


def match_applications(ones, others, is_one_currency):
    """Matches two lists of applications, ordered by date, by amount: (amount, one or None, other or None). If amounts cannot be
    compared, matches entry by entry: (None, …).
    """
    amounts = [entry.amount for entry in ones + others]
    has_measure = is_one_currency and bool(amounts) and None not in amounts and (min(amounts) > 0 or max(amounts) < 0)
    stacks = []
    for entries in (ones, others):
        stacks.append([[abs(entry.amount) if has_measure else 1, entry] for entry in reversed(in_order(entries))])
    while any(stacks):
        tops = [stack[-1] if stack else None for stack in stacks]
        size = min(top[0] for top in tops if top is not None)
        yield (size if has_measure else None, *(top and top[1] for top in tops))
        for stack in stacks:
            if stack and stack[-1][0] == size:
                stack.pop()
            elif stack:
                stack[-1][0] = less(stack[-1][0], size)


def open_at(document, when):
    """The amount open on a day, computed back from today's document. An allocation without a date counts as earlier."""
    told = document.due if hasattr(document, 'due') else document.remaining
    parts = document.parts
    to_come = total(amount for day, amount in parts if day is not None and day > when)
    amount = total([told, to_come])
    left = less(document.total, *(amount for day, amount in parts if day is None or day <= when))
    if amount is None or left is None:
        return amount
    # The source may or may not have deducted future settlements yet, so no more is undone than was settled.
    return min(amount, max(told, left)) if to_come > 0 else max(amount, min(told, left))


def left_of_its_own(document):
    """The amount that the document itself leaves unexplained: its total less its payments, its applications and what is due or
    remains."""
    now = document.due if hasattr(document, 'due') else document.remaining
    return less(document.total, *(entry.amount for entry in document.allocations), now)


def unexplained_by_its_own(document):
    """The settlements, by day, that only other documents tell: at most the amount that this document leaves unexplained. It tells the
    rest in another way, such as a payment. If they fall on several days, nobody knows which part is excluded.
    """
    told, rest = document.told_by_other, left_of_its_own(document)
    if rest is None:
        return [(day, None) for day, _ in told]
    if is_noise(document.currency, rest):
        return []
    whole = total(amount for _, amount in told)
    if whole is None:
        return told
    if whole == 0 or (whole > 0) != (rest > 0):
        return []
    more = less(abs(whole), abs(rest))
    if more <= 0 or is_noise(document.currency, more):
        return told
    days = {day for day, _ in told}
    return [(days.pop() if len(days) == 1 else None, rest)]


def distribute(recorded, told, counted):
    """Distributes the counted amount over the applications that other documents tell: each its own amount if all counts, else the
    earliest first until it is used up.
    """
    whole = total(amount for _, amount in counted)
    counts_all = counted == told
    so_far = Decimal(0)
    for _, _, entry, amount, when in sorted(recorded, key=lambda one: (one[0] is None, one[0] or date.min, one[1], one[2].position)):
        if whole is None:
            here = None
        elif not counted or counts_all:
            here = amount if counted else Decimal(0)
        else:
            within = min if whole > 0 else max
            before, so_far = so_far, total([so_far, amount])
            here = less(within(so_far, whole), within(before, whole))
        entry.elsewhere.append((when, here))


def credits_of(bill):
    """Includes applications that only the vendor credit tells, as far as they settled the bill."""
    return [entry.amount for entry in bill.credits] + [amount for _, amount in bill.told_by_other]


def applications_of(credit):
    """Includes applications that only the bill tells, as far as they were deducted from the credit."""
    return [entry.amount for entry in credit.allocations] + [amount for _, amount in credit.told_by_other]


def unexplained(bill):
    """The amount that settled the bill, or is due beyond it, and that neither the bill nor a vendor credit explains."""
    return less(left_of_its_own(bill), *(amount for _, amount in bill.told_by_other))


def undated_part(bill):
    """The amount that settled the bill on an unknown day."""
    return total(amount for day, amount in bill.parts if day is None)


def due_beyond_total(document, when, amount):
    """The amount due on a day beyond the total less the settlements known by then, such as a fee for late payment."""
    if not hasattr(document, 'due'):
        return Decimal(0)
    if amount is None:
        return None
    if amount <= 0:
        return Decimal(0)
    left = less(document.total, *(part for day, part in document.parts if day is None or day <= when))
    cost = document.total if left is None else left
    if cost is None:
        return None
    more = less(amount, max(cost, Decimal(0)))
    return more if more > 0 and not is_noise(document.currency, more) else Decimal(0)


def is_issued(document, when):
    return document.date is None or document.date <= when


def is_open_at(document, when):
    """Whether it is posted, issued by then, and not settled. An unknown amount does not count as settled."""
    return document.is_posted and is_issued(document, when) and is_due(document, when)


def is_due(document, when):
    """Whether more than noise is due; for a bill, above 0. An unknown amount does not count as settled."""
    amount = open_at(document, when)
    if amount is None:
        return True
    return not is_noise(document.currency, amount) and (amount > 0 or not hasattr(document, 'due'))


def is_owed_back_at(bill, when):
    """Whether the vendor owes the bill's amount: overpaid, or below 0 from the first."""
    if not bill.is_posted or not is_issued(bill, when):
        return False
    amount = open_at(bill, when)
    return amount is not None and amount < 0 and not is_noise(bill.currency, amount)


def is_dated_ahead(document, when):
    return document.is_posted and not is_issued(document, when) and is_due(document, when)


def credited_later(document, today):
    """The part of what is due or remains today that applications of credits settle on a later day, so that nobody pays it."""
    is_bill = hasattr(document, 'due')
    is_ahead = is_bill and is_dated_ahead(document, today)
    is_owed_back = is_bill and is_owed_back_at(document, today)
    if not is_ahead and not is_owed_back and not is_open_at(document, today):
        return Decimal(0)
    amount = open_at(document, today)
    own = document.credits if is_bill else document.allocations
    parts = [part for entry in own for part in entry.parts] + document.told_by_other
    to_come = total(part for day, part in parts if day is not None and day > today)
    # The part that the other document does not count is paid there, or remains.
    of_later = lambda some: total(amount for day, amount in some if day is not None and day > today)
    uncounted = [less(of_later(entry.alone), of_later(entry.elsewhere)) for entry in own]
    to_come = less(to_come, *uncounted)
    if to_come == 0:
        return to_come
    if amount is None or to_come is None:
        return None
    return min(max(to_come, Decimal(0)), amount) if amount > 0 else max(min(to_come, Decimal(0)), amount)


def paid_off(bill, today):
    """The day on which the payments and credits of a settled bill reached its total and stayed there, as of today. None if they did
    not, if the total is not above 0, or if some amount is not known.
    """
    if not bill.is_posted or is_open_at(bill, today) or is_dated_ahead(bill, today):
        return None
    settled = [part for part in bill.parts if part[0] is None or part[0] <= today]
    if bill.total is None or bill.total <= 0 or any(amount is None for _, amount in settled):
        return None
    enough = lambda amount: less(amount, bill.total) >= 0 or is_noise(bill.currency, less(amount, bill.total))
    so_far = total(amount for day, amount in settled if day is None)
    last = None
    for day in sorted({day for day, _ in settled if day is not None}):
        then = total([so_far, *(amount for when, amount in settled if when == day)])
        if not enough(then):
            last = None
        elif not enough(so_far):
            last = day
        so_far = then
    return last


def bills(ledger):
    today = ledger.today
    for bill, rate in ledger.bills:
        paid = total(entry.amount for entry in bill.payments)
        credited = total(credits_of(bill))
        computed = less(bill.total, paid, credited)
        line_total = total(line.gross for line in Taxes(bill).lines)
        days = [entry.date for entry in bill.payments if entry.date is not None]
        is_open = is_open_at(bill, today)
        overdue = is_open and bill.due_date is not None and bill.due_date < today
        paid_off_on = paid_off(bill, today)
        yield {
            'bill_id': bill.id,
            'platform_id': bill.platform_id,
            'document_number': bill.number,
            'vendor_id': bill.vendor,
            'account_id': bill.account_id,
            'payment_terms_id': bill.payment_terms_id,
            'subsidiary_id': bill.subsidiary_id,
            'issue_date': bill.date,
            'due_date': bill.due_date,
            'source_status': bill.status,
            'posting_status': bill.posting,
            'is_posted': bill.is_posted,
            'is_void': bill.status == 'void',
            'is_draft': bill.status == 'draft',
            'is_open': is_open,
            'open_amount': open_at(bill, today) if is_open else 0,
            'owed_back_amount': negative(open_at(bill, today)) if is_owed_back_at(bill, today) else 0,
            'is_dated_ahead': is_dated_ahead(bill, today),
            'dated_ahead_amount': open_at(bill, today) if is_dated_ahead(bill, today) else 0,
            'credited_later_amount': credited_later(bill, today),
            'currency_code': bill.currency,
            'total_amount': bill.total,
            'sub_total': bill.sub_total,
            'tax_amount': bill.tax,
            'total_discount': bill.discount,
            'amount_due': bill.due,
            'paid_amount': paid,
            'credited_amount': credited,
            'computed_amount_due': computed,
            'amount_due_variance': less(bill.due, computed),
            'unexplained_amount': unexplained(bill),
            'has_unexplained_amount': unexplained(bill) is not None and not is_noise(bill.currency, unexplained(bill)),
            'undated_amount': undated_part(bill),
            'line_count': len(bill.lines),
            'line_total': line_total,
            'line_variance': less(bill.total, line_total),
            'base_currency': rate.base,
            'fx_rate': rate.value,
            'fx_status': rate.status,
            'total_amount_base': ledger.base_total(bill, rate),
            'base_rounding_amount': less(ledger.base_total(bill, rate), rate.of(bill.total)),
            'amount_due_base': rate.of(bill.due),
            'first_payment_date': min(days, default=None),
            'last_payment_date': max(days, default=None),
            'paid_off_date': paid_off_on,
            'days_to_pay': (
                (paid_off_on - bill.date).days if paid_off_on and bill.date else None
            ),
            'is_overdue': overdue,
            'days_overdue': (today - bill.due_date).days if overdue else None,
            'as_of_date': today,
            'has_unfit_amount': bill.has_too_large,
            'awaits_deletion': bill.id in (ledger.book.data.get('waiting') or {}).get('bills', []),
            'memo': bill.memo,
            **_times(bill),
        }


def bill_lines(ledger):
    for bill, rate in ledger.bills:
        for line, taxed in zip(bill.lines, Taxes(bill).lines):
            yield {
                'bill_id': bill.id,
                'posting_status': bill.posting,
                'issue_date': bill.date,
                'vendor_id': bill.vendor,
                **_dimensions(line),
                'item_id': line.item_id,
                'tax_rate_id': line.tax_rate_id,
                'quantity': line.quantity,
                'unit_amount': line.unit_amount,
                'discount_amount': line.discount_amount,
                'discount_percentage': line.discount_percentage,
                'currency_code': bill.currency,
                'net_amount': taxed.net,
                'tax_amount': line.tax,
                'gross_amount': taxed.gross,
                'tax_treatment': taxed.treatment,
                'base_currency': rate.base,
                'net_amount_base': rate.of(taxed.net),
                'gross_amount_base': rate.of(taxed.gross),
                'fx_status': rate.status,
            }


def expenses(ledger):
    for expense, rate in ledger.expenses:
        whole, amounts, odd = signed_lines(expense)
        yield {
            'expense_id': expense.id,
            'platform_id': expense.platform_id,
            'source_type': expense.type_sent,
            'expense_type': 'refund' if expense.is_refund else 'expense',
            'transaction_date': expense.date,
            'vendor_id': expense.vendor,
            'account_id': expense.account_id,
            'subsidiary_id': expense.subsidiary_id,
            'currency_code': expense.currency,
            'total_amount': whole,
            'signed_amount': total(amounts),
            'has_unexpected_sign': odd,
            'line_count': len(expense.lines),
            'base_currency': rate.base,
            'fx_rate': rate.value,
            'fx_status': rate.status,
            'signed_amount_base': ledger.base_total(expense, rate),
            'awaits_deletion': expense.id in (ledger.book.data.get('waiting') or {}).get('expenses', []),
            'memo': expense.memo,
            **_times(expense),
        }


def expense_lines(ledger):
    for expense, rate in ledger.expenses:
        _, amounts, _ = signed_lines(expense)
        for line, amount in zip(expense.lines, amounts):
            yield {
                'expense_id': expense.id,
                'expense_type': 'refund' if expense.is_refund else 'expense',
                'transaction_date': expense.date,
                'vendor_id': expense.vendor,
                **_dimensions(line),
                'tax_rate_id': line.tax_rate_id,
                'currency_code': expense.currency,
                'total_amount': line.total,
                'signed_amount': amount,
                'base_currency': rate.base,
                'signed_amount_base': rate.of(amount),
                'fx_status': rate.status,
            }


def vendor_credits(ledger):
    today = ledger.today
    for credit, rate in ledger.credits:
        applied = total(applications_of(credit))
        computed = less(credit.total, applied)
        yield {
            'vendor_credit_id': credit.id,
            'platform_id': credit.platform_id,
            'document_number': credit.number,
            'vendor_id': credit.vendor,
            'account_id': credit.account_id,
            'issue_date': credit.date,
            'source_status': credit.status,
            'posting_status': credit.posting,
            'currency_code': credit.currency,
            'total_amount': credit.total,
            'remaining_amount': credit.remaining,
            'applied_amount': applied,
            'computed_remaining_amount': computed,
            'remaining_amount_variance': less(credit.remaining, computed),
            'is_unapplied': is_open_at(credit, today),
            'unapplied_amount': open_at(credit, today) if is_open_at(credit, today) else 0,
            'applied_later_amount': credited_later(credit, today),
            'age_days': None if credit.date is None else (today - credit.date).days,
            'as_of_date': today,
            'base_currency': rate.base,
            'fx_rate': rate.value,
            'fx_status': rate.status,
            'total_amount_base': negative(ledger.base_total(credit, rate)),
            'base_rounding_amount': less(negative(ledger.base_total(credit, rate)), rate.of(credit.total)),
            'remaining_amount_base': rate.of(credit.remaining),
            'awaits_deletion': credit.id in (ledger.book.data.get('waiting') or {}).get('bill_credit_memos', []),
            'memo': credit.memo,
            **_times(credit),
        }


def allocations(ledger):
    bill_ids = {bill.id for bill, _ in ledger.bills}
    credit_ids = {credit.id for credit, _ in ledger.credits}
    for bill, _ in ledger.bills:
        for entry in bill.payments:
            yield _allocation('bill', bill, 'payment', entry, bill.id, entry.linked_id, False)
        for entry in bill.credits:
            orphan = entry.linked_id not in credit_ids
            yield _allocation('bill', bill, 'credit', entry, bill.id, entry.linked_id, orphan)
    for credit, _ in ledger.credits:
        for entry in credit.allocations:
            orphan = entry.linked_id not in bill_ids
            yield _allocation('vendor_credit', credit, 'credit', entry, entry.linked_id, credit.id, orphan)


def _allocation(told_by, document, source_type, entry, bill_id, source_id, is_orphan):
    return {
        'told_by': told_by,
        'document_id': document.id,
        'source_type': source_type,
        'position': entry.position,
        'bill_id': bill_id,
        'source_id': source_id,
        'currency_code': document.currency,
        'posting_status': document.posting,
        'allocated_date': entry.date,
        'counted_date': entry.counted,
        'allocated_amount': entry.amount if told_by == 'bill' else None,
        'memo_side_amount': entry.amount if told_by == 'vendor_credit' else None,
        'bill_amount': entry.amount if told_by == 'bill' else total(amount for _, amount in entry.elsewhere),
        'credit_amount': entry.amount if told_by == 'vendor_credit' else total(amount for _, amount in entry.elsewhere),
        'is_orphan': is_orphan,
    }


def spend_lines(ledger):
    for found in ledger.spend:
        document, line, rate = found.document, found.line, found.rate
        if document.posting == 'excluded':
            continue
        yield {
            'source_type': found.source_type,
            'document_id': document.id,
            'document_number': document.number,
            'posting_status': document.posting,
            'spend_date': document.date,
            'spend_month': month_of(document.date),
            'is_in_future': document.date is not None and document.date > ledger.today,
            'vendor_id': document.vendor,
            **_dimensions(line),
            'position': found.position,
            'item_id': getattr(line, 'item_id', None),
            'currency_code': document.currency,
            'gross_amount': found.gross,
            'net_amount': found.net,
            'tax_treatment': found.treatment,
            'base_currency': rate.base,
            'fx_rate': rate.value,
            'fx_status': rate.status,
            'gross_amount_base': found.gross_base,
            'net_amount_base': found.net_base,
        }


_NAMES = ('position', 'account_id', 'class_id', 'department_id', 'location_id', 'customer_id', 'description')


def _dimensions(line):
    if line is None:
        return {**dict.fromkeys(_NAMES), 'description': 'Difference between the document and its lines'}
    return {name: getattr(line, name) for name in _NAMES}


def _times(document):
    return {name: document.sent.get(name) or None for name in ('created_at', 'updated_at', 'last_synced_at')}
