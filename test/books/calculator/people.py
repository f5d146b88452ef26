"""Marts that the others refer to: vendors, accounts, customers, items, connections, dates."""

from collections import Counter, defaultdict
from datetime import date, timedelta

from amounts import is_unreadable, less, share
from records import code, currency, enum, last_of_month, month_of, months_on
from records import Reader


def vendors(ledger):
    """The vendors that documents name, and (none)."""
    seen = defaultdict(list)
    seen['(none)'] = []
    for kind, documents in (('bill', ledger.bills), ('expense', ledger.expenses), ('credit', ledger.credits)):
        for document, _ in documents:
            seen[document.vendor].append((kind, document.date))
    names = ledger.book.vendor_names
    labels = labels_of('Vendor', {vendor: '(none)' if vendor == '(none)' else names.get(vendor) for vendor in seen})
    for vendor, documents in seen.items():
        days = [when for _, when in documents if when is not None]
        kinds = Counter(kind for kind, _ in documents)
        yield {
            'vendor_id': vendor,
            'vendor_name': labels[vendor],
            'known_name': strip_name(names.get(vendor)) if vendor != '(none)' else None,
            'first_seen': min(days, default=None),
            'last_seen': max(days, default=None),
            'bill_count': kinds['bill'],
            'expense_count': kinds['expense'],
            'vendor_credit_count': kinds['credit'],
            'is_inferred': strip_name(names.get(vendor)) is None,
        }


def accounts(ledger):
    ap, source, debit = Counter(), Counter(), Counter()
    for document, _ in ledger.bills + ledger.credits:
        ap[document.account_id] += 1
    for document, _ in ledger.expenses:
        source[document.account_id] += 1
    for document, _ in ledger.bills + ledger.credits + ledger.expenses:
        for line in document.lines:
            # The account exists, though no spend is on it.
            debit[line.account_id] += 0 if document.posting == 'excluded' else 1
    # Documents and lines without an account share one of their own. It includes what lines lack to their document.
    debit[None] = sum(
        one.document.posting != 'excluded' and (one.line is None or one.line.account_id is None) for one in ledger.spend
    )
    for counts in (ap, source, debit):
        counts['(none)'] += counts.pop(None, 0)
    found = {*ap, *source, *debit}
    names = {one: (ledger.book.accounts.get(one) or {}).get('account_name') for one in found}
    labels = labels_of('Account', names | {'(none)': strip_name(names['(none)']) or '(none)'})
    for account in found:
        named = ledger.book.accounts.get(account) or {}
        yield {
            'account_id': account,
            'account_name': labels[account],
            'known_name': strip_name(named.get('account_name')),
            'account_type': named.get('account_type') or None,
            'role': None if account == '(none)' else 'ap_credit' if ap[account] else 'payment_source' if source[account] else 'expense_debit',
            'ap_documents': ap[account],
            'expense_documents': source[account],
            'spend_lines': debit[account],
            'is_inferred': strip_name(named.get('account_name')) is None,
        }


def customers(ledger):
    sent = {one['id']: one for one in ledger.book.sent['customers']}
    parents = {key: code(one.get('parent_id')) for key, one in sent.items()}
    labels = labels_of('Customer', {key: one.get('customer_name') for key, one in sent.items()})
    for key, one in sent.items():
        top, circle = top_of(key, parents)
        status = enum(one.get('status'))
        yield {
            'customer_id': key,
            'platform_id': code(one.get('platform_id')),
            'customer_name': one.get('customer_name'),
            'customer_label': labels[key],
            'contact_name': one.get('contact_name'),
            'source_status': status,
            'status': {'ACTIVE': 'active', 'INACTIVE': 'inactive'}.get(status, 'unknown'),
            'parent_id': parents[key],
            'top_parent_id': top,
            'has_cyclic_parents': circle,
            'subsidiary_id': code(one.get('subsidiary_id')),
            'currency_code': currency(one.get('currency_code')),
            **{name: one.get(name) for name in ('email', 'phone', 'registration_number', 'tax_number')},
            **address(one, 'billing'),
            **address(one, 'shipping'),
            'updated_at': one.get('updated_at') or None,
            'last_synced_at': one.get('last_synced_at') or None,
        }


def top_of(key, parents):
    line = [key]
    while parents.get(line[-1]) in parents:
        above = parents[line[-1]]
        if above in line:
            return None, True
        line.append(above)
    return line[-1], False


def address(customer, kind):
    names = ('address1', 'address2', 'city', 'region', 'postal_code', 'country')
    found = next((one for one in customer.get('addresses') or [] if lowered(one.get('type')) == kind), {})
    return {f'{kind}_{name}': found.get(name) for name in names}


def items(ledger):
    sent = ledger.book.sent['items']
    labels = labels_of('Item', {one['id']: strip_name(one.get('name')) or one.get('code') for one in sent})
    for one in sent:
        reader = Reader(ledger.book, 'items', one['id'])
        bought, sold = one.get('bill_item') or {}, one.get('invoice_item') or {}
        cost = reader.decimal_text(bought, 'unit_price', column='bill_unit_price')
        price = reader.decimal_text(sold, 'unit_price', column='invoice_unit_price')
        status = enum(one.get('status'))
        margin = less(price, cost)
        yield {
            'item_id': one['id'],
            'platform_id': code(one.get('platform_id')),
            'code': one.get('code'),
            'name': one.get('name'),
            'item_label': labels[one['id']],
            'type': enum(one.get('type')),
            'source_status': status,
            'status': status if status in ('active', 'archived') else 'unknown',
            'purchase_description': bought.get('description'),
            'purchase_unit_price': cost,
            'sales_description': sold.get('description'),
            'sales_unit_price': price,
            'unit_margin': margin,
            'margin_share': share(margin, price),
            'has_unreadable_price': any(is_unreadable(side.get('unit_price')) for side in (bought, sold)),
            'quantity_on_hand': reader.money(one, 'quantity_on_hand'),
            'updated_at': one.get('updated_at') or None,
            'last_synced_at': one.get('last_synced_at') or None,
        }


def dates(today, fiscal_start=1):
    when, last = date(2000, 1, 1), months_on(today, 60)
    while when <= last:
        month = month_of(when)
        fiscal_month = (when.month - fiscal_start) % 12
        yield {
            'date': when,
            'month': month,
            'quarter': date(when.year, (when.month - 1) // 3 * 3 + 1, 1),
            'year': when.year,
            'month_of_year': when.month,
            'day_of_week': when.isoweekday(),
            'week': when - timedelta(days=when.weekday()),
            'fiscal_year': when.year if when.month >= fiscal_start else when.year - 1,
            'fiscal_quarter': fiscal_month // 3 + 1,
            'is_month_end': when == last_of_month(month),
            'is_weekend': when.isoweekday() > 5,
            'is_today': when == today,
        }
        when += timedelta(days=1)


# All white space of Unicode.
WHITE_SPACE = '\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000' + ''.join(map(chr, range(0x2000, 0x200B)))


def lowered(word):
    # Lowers only A to Z, as a database does whatever its locale.
    return ''.join(one.lower() if one.isascii() else one for one in word or '')


def strip_name(text):
    return (text or '').strip(WHITE_SPACE) or None


def labels_of(kind, names):
    """A unique label for each ID: its name, followed by the ID if another one would have the same label."""
    short = {key: (strip_name(name) or '')[:1000] or f'{kind} {key}' for key, name in names.items()}
    # The last opening parenthesis always precedes the ID, so the end of the name is unambiguous.
    long = {key: f'{label} ({key.replace("%", "%25").replace("(", "%28")})' for key, label in short.items()}
    times = Counter(short.values())
    return {
        key: long[key] if times[label] > 1 or label in long.values() else label for key, label in short.items()
    }
