import fc from 'fast-check';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import { streamNames } from '../../resources/index.ts';
import type { CommandInput } from '../../sandbox/world/command.ts';
import { arbitraryAmounts, type Amounts, type Taxed } from './arbitrary-amounts.ts';
import { arbitraryDays, type Days } from './arbitrary-days.ts';
import { list, object, text, type Fields } from '../support/finance-records.ts';

/** One step of a book: the commands for the sandbox, and the time in its month at which they are executed. */
export interface BookStep {
  /** The number of months before the day of the build. */
  readonly monthsAgo: number;
  readonly commands: readonly CommandInput[];
  /** The elapsed part of the month, 0 to 1; for the current month, of its time until now. */
  readonly at?: number;
}

/** The books of a company: every kind of document, as consistent and as inconsistent as in real books. */
export interface RandomBook {
  readonly name: string;
  readonly platform: string;
  readonly steps: readonly BookStep[];
  /** Whether subscriptions were read completely, by number of months ago. Months without an entry were not observed. */
  readonly observed: Readonly<Record<number, 'complete' | 'incomplete'>>;
  /** Lists that no run has read yet; their records here came as webhooks. */
  readonly unread?: readonly string[];
  /** The day of a month on which subscriptions were last read completely. Default: its last day. */
  readonly observedUntil?: Readonly<Record<number, number>>;
  /** IDs, by resource, of records that a reconcile found gone and asked about. */
  readonly waiting?: Readonly<Record<string, readonly string[]>>;
  /** Lists that have stalled, with the age of their watermark in days. Null: no watermark. */
  readonly stalled?: Readonly<Record<string, number | null>>;
  /** Lists that the service no longer offers, with the days since they were last read to their end. Null: never. */
  readonly withdrawn?: Readonly<Record<string, number | null>>;
  /** The days since all lists were last read to their end. Default: today. */
  readonly readDaysAgo?: number;
  /** Versions are kept from the first day of the month this many months ago. */
  readonly prunedUntil?: number;
  /** A day up to which a prune ran that was not the first, so that what it removed is known. The same in every book that has one. */
  readonly prunedAgainUntil?: string;
  readonly settings: { readonly base_currency: string; readonly fx_direction: string } | null;
  readonly vendorNames: Readonly<Record<string, string>>;
  readonly accountNames: Readonly<
    Record<string, { readonly account_name: string; readonly account_type: string }>
  >;
}

type Gen = fc.GeneratorValue;

interface BookInput {
  readonly name: string;
  readonly today: string;
  readonly documents: number;
}

/** Books with some `documents` of each kind, as seen on `today`. */
export function arbitraryBook(input: BookInput): fc.Arbitrary<RandomBook> {
  return fc.gen().map((gen) => new BookGenerator(gen, input).generate());
}

/** A record as it is now: names and raw JSON texts. */
interface Entry {
  readonly resource: ResourceName;
  readonly id: string;
  fields: Record<string, string | undefined>;
  isDeleted: boolean;
}

/** Generates a book: creates documents, and changes them month by month. */
class BookGenerator {
  private readonly entries: Entry[] = [];
  private readonly amounts: Amounts;
  private readonly days: Days;
  private commands: CommandInput[] = [];
  private readonly platform: string;

  private readonly gen: Gen;
  private readonly input: BookInput;

  constructor(gen: Gen, input: BookInput) {
    this.gen = gen;
    this.input = input;
    this.platform = this.oneOf(['QUICKBOOKS', 'NETSUITE', 'XERO', 'SOMETHING_NEW']);
    this.amounts = arbitraryAmounts(gen);
    this.days = arbitraryDays(gen, input.today);
  }

  generate(): RandomBook {
    const { name, documents } = this.input;
    const steps: BookStep[] = [];
    const months = this.between(1, 5);
    for (let monthsAgo = months - 1; monthsAgo >= 0; monthsAgo -= 1) {
      // With two steps in a month, the state between them is never a month's end.
      const moments = this.chance(20) ? [0, this.oneOf([0.5, 1])] : [this.oneOf([0, 0.5, 1])];
      for (const at of moments) {
        this.commands = [];
        if (steps.length === 0) this.openBooks(documents);
        else {
          for (let edit = this.between(1, documents); edit > 0; edit -= 1) this.edit();
          if (this.chance(60))
            this.add('subscriptions', `subscription-late-${steps.length}`, this.laterSubscription());
          this.moveCurrencies();
        }
        steps.push({ monthsAgo, commands: this.commands, at });
      }
    }
    return {
      name,
      platform: this.platform,
      steps,
      observed: this.observedMonths(months),
      observedUntil: this.chance(40) ? { [this.between(0, months - 1)]: this.oneOf([1, 3, 28]) } : {},
      unread: this.chance(25) ? [this.oneOf(streamNames), this.oneOf(streamNames)] : [],
      waiting: this.chance(30)
        ? {
            bills: ['bill-0', 'bill-1', 'bill-2'],
            expenses: ['expense-0', 'expense-2'],
            bill_credit_memos: ['credit-0'],
            subscriptions: ['subscription-0'],
          }
        : {},
      // May also fall on the last day of the previous month, at this hour.
      ...(this.chance(15) && { readDaysAgo: this.oneOf([1, 20, 45, 90, Number(this.input.today.slice(8))]) }),
      settings: this.chance(60)
        ? {
            base_currency: this.oneOf(['USD', 'EUR', 'JPY', 'KWD', 'CLF']),
            fx_direction: this.oneOf(['', 'multiply']),
          }
        : null,
      vendorNames: this.chance(50)
        ? {
            [vendors[0]]: 'Paper & Co',
            [vendors[1]]: this.oneOf(['Paper & Co', ' Paper & Co ', 'Ink', 'Vendor vendor-4', '(none)']),
          }
        : {},
      accountNames: this.chance(50)
        ? {
            'account-1': { account_name: 'Payables', account_type: 'liability' },
            'account-2': { account_name: '', account_type: 'cost' },
          }
        : {},
      stalled: this.chance(20)
        ? { [this.oneOf(streamNames)]: this.oneOf([null, 0, 1, 20, 45, Number(this.input.today.slice(8))]) }
        : {},
      withdrawn: this.chance(15) ? { [this.oneOf(streamNames)]: this.oneOf([null, 8, 60]) } : {},
    };
  }

  private openBooks(documents: number): void {
    for (let count = 0; count < documents; count += 1) {
      this.add('bills', `bill-${count}`, this.bill());
      if (count % 2 === 0) this.add('expenses', `expense-${count}`, this.expense());
      if (count % 3 === 0) this.add('bill_credit_memos', `credit-${count}`, this.credit(`credit-${count}`));
      if (count % 5 === 0) this.add('customers', `customer-${count}`, this.customer());
      if (count % 5 === 0) this.add('items', `item-${count}`, this.item());
      if (count % 4 === 0) this.add('subscriptions', `subscription-${count}`, this.subscription());
      if (count % 4 === 0) this.addPair(count);
    }
    for (const customer of twoCurrencies)
      for (const currency of ['"USD"', '"EUR"'])
        this.add(
          'subscriptions',
          `${customer}-${currency.slice(1, -1)}`,
          this.inCurrency(customer, currency),
        );
    if (this.chance(20))
      for (const [id, name] of readAlike) {
        this.add('customers', id, { ...this.customer(), customer_name: text(name) });
        this.add('items', id, { ...this.item(), name: text(name) });
      }
  }

  /** Changes a customer who pays in two currencies: to only one of them, back, or to items in one currency whose revenue is unknown. */
  private moveCurrencies(): void {
    for (const entry of this.entries.filter(({ id }) => twoCurrencies.some((one) => id.startsWith(one)))) {
      const currency = entry.fields.iso_currency_code ?? 'null';
      const action = this.oneOf(['stay', 'stay', 'leave', 'come back', 'nobody knows', 'change'] as const);
      if (entry.isDeleted || action === 'stay') continue;
      const other = currency === '"USD"' ? '"EUR"' : '"USD"';
      this.change(entry, {
        status: action === 'leave' ? '"canceled"' : '"active"',
        ...(action === 'change' && { iso_currency_code: other, items: list(this.plainItem(other)) }),
        ...(action === 'come back' && { items: list(this.plainItem(currency)) }),
        ...(action === 'nobody knows' && {
          items: list(this.plainItem(currency).replace('"month"', '"quarter"')),
        }),
      });
    }
  }

  private inCurrency(customer: string, currency: string): Fields {
    return {
      ...this.subscription(),
      platform_customer_id: text(customer),
      iso_currency_code: currency,
      status: '"active"',
      items: list(this.plainItem(currency)),
    };
  }

  private observedMonths(months: number): RandomBook['observed'] {
    if (this.chance(20)) return {};
    const observed: Record<number, 'complete' | 'incomplete'> = {};
    // Subscriptions may have been read before any existed.
    for (let month = months - 1 + this.oneOf([0, 0, 1, 2]); month >= 0; month -= 1) {
      const outcome = this.oneOf(['complete', 'complete', 'complete', 'incomplete', null] as const);
      if (outcome !== null) observed[month] = outcome;
    }
    return observed;
  }

  private bill(): Fields {
    const { currency, lines, header, due, payments, credits, status } = this.settled();
    return {
      ...this.document(),
      payment_terms_id: this.oneOf(['null', '"terms-1"']),
      subsidiary_id: this.oneOf(['null', '"subsidiary-1"']),
      ...this.issuedAndDue(),
      document_number: this.documentNumber(),
      currency_code: currency,
      status,
      ...header,
      amount_due: due,
      currency_rate: this.oneOf([
        'null',
        undefined,
        '""',
        '"1.0"',
        '"0.9137"',
        '"151.33"',
        '"N/A"',
        '"0"',
        '"-2"',
        '"1.12345678901234"',
        '"3.0e-1"',
      ]),
      linked_purchase_orders: '[]',
      linked_payments: list(...payments),
      linked_credit_memos: list(...credits),
      line_items: lines,
    };
  }

  private credit(id: string): Fields {
    const { currency, lines, header, due, credits, status } = this.settled();
    const mirrored = this.chance(70) ? this.mirrored(id) : [];
    const signed = this.chance(8) ? negated : (json: string): string => json;
    return {
      ...this.document(),
      issue_date: this.days.issued(),
      document_number: this.documentNumber(),
      currency_code: currency,
      status,
      total_amount: signed(header.total_amount),
      remaining_amount: signed(due),
      linked_bills: list(
        ...mirrored,
        ...credits.map((entry) => signed(entry.replaceAll('"credit-', '"bill-'))),
      ),
      line_items: signed(lines),
    };
  }

  /** Adds a bill and a credit applied to it. Each lists all of the applications, the first or none, and leaves more or less unexplained. */
  private addPair(count: number): void {
    const [billId, creditId] = [`pair-bill-${count}`, `pair-credit-${count}`];
    const currency = this.oneOf(['"USD"', '"EUR"', '"JPY"', 'null']);
    const amount = this.between(2, 9) * 10;
    const parts = this.oneOf<readonly (number | null)[]>([
      ...[[amount], [amount / 2, amount / 2], [amount / 2, amount / 2]],
      ...[
        [amount, -amount / 2],
        [amount, -amount / 2],
        [amount, null],
      ],
    ]).map((part) => ({ amount: String(part), date: this.days.allocated() }));
    const listApplications = (how: string, id: string): string =>
      list(
        ...parts
          .slice(0, { all: parts.length, first: 1, nothing: 0 }[how])
          .map((part) => object({ id: text(id), allocated_date: part.date, allocated_amount: part.amount })),
      );
    const applied = parts.reduce((sum, part) => sum + Number(part.amount === 'null' ? 0 : part.amount), 0);
    const anyStatus = (): string => this.oneOf(['"paid"', '"open"', '"partially_paid"', '"void"']);
    const due = amount + 100 - applied * this.oneOf([1, 1, 0.5, 0]);
    this.add('bills', billId, {
      ...this.bill(),
      currency_code: currency,
      status: anyStatus(),
      ...{ total_amount: String(amount + 100), amount_due: String(due), linked_payments: '[]' },
      linked_credit_memos: listApplications(this.oneOf(['all', 'nothing', 'nothing', 'first']), creditId),
    });
    this.add('bill_credit_memos', creditId, {
      ...this.credit(creditId),
      currency_code: currency,
      status: anyStatus(),
      total_amount: String(amount),
      remaining_amount: String(amount - applied * this.oneOf([1, 1, 0.5])),
      linked_bills: listApplications(this.oneOf(['all', 'all', 'nothing', 'first']), billId),
    });
  }

  /** The bills' entries of a credit, as the credit lists them: sometimes on another day, or in two parts. */
  private mirrored(creditId: string): string[] {
    return this.entries
      .filter(({ resource }) => resource === 'bills')
      .flatMap(({ id, fields }) =>
        [...(fields.linked_credit_memos ?? '').matchAll(/\{"id":"([^"]*)"[^}]*\}/g)]
          .filter(([, linked]) => linked === creditId)
          .map(([entry]) => {
            const ours = entry.replace(text(creditId), text(id));
            return this.chance(50) ? ours : this.onAnotherDay(ours);
          })
          .flatMap((entry) => (this.chance(75) ? [entry] : this.inTwo(entry))),
      );
  }

  private onAnotherDay(entry: string): string {
    return entry.replace(/"allocated_date":("[^"]*"|null)/, `"allocated_date":${this.days.allocated()}`);
  }

  private inTwo(entry: string): string[] {
    const [, amount = ''] = /"allocated_amount":([^,}]*)/.exec(entry) ?? [];
    if (!Number.isFinite(Number(amount))) return [entry];
    const half = (Number(amount) / 2).toFixed(2);
    const rest = (Number(amount) - Number(half)).toFixed(2);
    return [half, rest].map((part) =>
      this.onAnotherDay(entry.replace(/"allocated_amount":[^,}]*/, `"allocated_amount":${part}`)),
    );
  }

  /** Lines, a header and its settlements, which mostly agree. */
  private settled(): {
    currency: string;
    lines: string;
    header: { total_amount: string; sub_total: string; tax_amount: string; total_discount: string };
    due: string;
    payments: string[];
    credits: string[];
    status: string;
  } {
    const currency = this.currency();
    const taxed = this.oneOf<Taxed>([
      ...(['by lines', 'by lines', 'by lines'] as const),
      ...(['on top', 'inside', 'in prices', 'not charged', 'discounted', 'beside nothing'] as const),
      ...(['in fives', 'in fives'] as const),
    ]);
    const lines = Array.from({ length: this.oneOf([0, 1, 1, 2, 3]) }, () =>
      this.amounts.drawLine(taxed, currency),
    );
    const { total, ...taxes } = this.amounts.drawHeader(lines, { currency, taxed });
    const parts = this.amounts.drawParts(total, this.oneOf([0, 0, 1, 1, 2, 3]), currency);
    const due = this.amounts.rest(total, parts, currency);
    const allocations = parts.map((amount) => ({ amount, date: this.days.allocated() }));
    // The rest is scheduled, and not yet deducted.
    if (this.chance(10)) allocations.push({ amount: due, date: this.days.ahead() });
    const entries = allocations.map((one) => ({ isCredit: this.chance(40), ...one }));
    // A payment that bounced.
    if (this.chance(10))
      for (const amount of [total, negated(total)])
        entries.push({ isCredit: false, amount, date: this.days.allocated() });
    const buildEntry = (kind: string, { amount, date }: { amount: string; date: string }): string =>
      object({
        // Every third id exists.
        id: text(
          `${kind}-${this.between(0, Math.floor(this.input.documents / 3)) * 3 + this.oneOf([0, 0, 0, 1])}`,
        ),
        allocated_date: date,
        allocated_amount: amount,
      });
    return {
      currency,
      lines: list(...lines.map((line) => this.billLine(line))),
      header: {
        total_amount: total,
        ...taxes,
      },
      due,
      payments: entries.filter(({ isCredit }) => !isCredit).map((one) => buildEntry('payment', one)),
      credits: entries.filter(({ isCredit }) => isCredit).map((one) => buildEntry('credit', one)),
      status: this.settledStatus(total, due),
    };
  }

  private settledStatus(total: string, due: string): string {
    if (this.chance(25)) return this.oneOf(statuses);
    if (Number(due) === 0) return '"paid"';
    return due === total ? '"open"' : '"partially_paid"';
  }

  private billLine(line: { total: string; net: string; tax: string; discount?: string }): string {
    return object({
      ...this.dimensions(),
      discount_amount: line.discount ?? this.oneOf(['null', '0', '1.5']),
      discount_percentage: this.oneOf(['null', '10', '33.3333333333333']),
      sub_total: line.net,
      tax_amount: line.tax,
      total_amount: line.total,
      item: this.oneOf([
        'null',
        undefined,
        '{"id":"item-0","quantity":3,"unit_amount":0.1234567890123456}',
        '{"id":"item-5","quantity":null,"unit_amount":12}',
      ]),
    });
  }

  private dimensions(): Fields {
    const some = (kind: string): string | undefined =>
      this.oneOf(['null', text(`${kind}-1`), text(`${kind}-2`), undefined]);
    return {
      account_id: this.oneOf(accounts),
      class_id: some('class'),
      customer_id: this.oneOf(['null', '"customer-0"', '"customer-2"', undefined]),
      department_id: some('department'),
      location_id: some('location'),
      tax_rate_id: some('tax'),
      description: this.oneOf(['null', '"Paper"', '""', '"Café, “quoted”"']),
    };
  }

  private expense(): Fields {
    const currency = this.currency();
    const lines = Array.from({ length: this.oneOf([0, 1, 1, 2, 3]) }, () =>
      object({ ...this.dimensions(), total_amount: this.amounts.any(currency) }),
    );
    return {
      ...this.document(),
      subsidiary_id: 'null',
      transaction_date: this.days.issued(),
      currency_code: currency,
      expense_type: this.oneOf(['"expense"', '"expense"', '"refund"', '"refund"', '"chargeback"']),
      currency_rate: this.oneOf([
        'null',
        undefined,
        '1.0',
        '0.9137',
        '151.33',
        '0',
        '-2',
        '1.12345678901234',
      ]),
      line_items: list(...lines),
    };
  }

  private document(): Fields {
    const vendor = this.oneOf([...vendors.map(text), 'null', '""']);
    return {
      platform_id: this.oneOf(['"p-1"', '""', '"p-2"']),
      account_id: this.oneOf(accounts),
      vendor_id: vendor,
      memo: this.oneOf(['null', '"a memo"', '""']),
      ...this.times(),
    };
  }

  private times(): Fields {
    const some = (): string =>
      this.oneOf(['null', '"2024-01-15T09:30:00.000Z"', '"2025-07-01T23:59:59.999+02:00"']);
    return { created_at: some(), updated_at: some() };
  }

  private issuedAndDue(): Fields {
    return this.days.issuedAndDue();
  }

  private documentNumber(): string {
    return this.oneOf([
      'null',
      '""',
      '"INV-0042"',
      '"inv 42"',
      '"INV-43"',
      '"N/A"',
      '"000"',
      '"7"',
      '"007"',
      '"A-1/9"',
      '"1-11"',
      '"11-1"',
      '"01/11."',
      '"1-1-1-1"',
      '"A19"',
      text(`N-${this.between(1, 9999)}`),
    ]);
  }

  private customer(): Fields {
    const parent = text(`customer-${this.between(0, 4) * 5}`);
    return {
      platform_id: '"pc"',
      parent_id: this.oneOf([undefined, 'null', parent, parent]),
      subsidiary_id: 'null',
      status: this.oneOf(['"ACTIVE"', '"INACTIVE"', '"UNKNOWN"', '"ASLEEP"']),
      contact_name: '"Ann"',
      currency_code: this.oneOf(['"USD"', 'null', '"null"']),
      customer_name: this.oneOf(['"Example Ltd"', '"Example Ltd"', 'null', '""', '"Other"']),
      email: '"a@example.com"',
      phone: 'null',
      registration_number: 'null',
      tax_number: 'null',
      addresses: this.oneOf([
        '[]',
        '[{"type":"billing","address1":"1 High Street","city":"Leeds","country":"GB"}]',
        '[{"type":"shipping","address1":"2"},{"type":"shipping","address1":"3"},{"type":"BILLING","region":"X"}]',
        '[{"type":"other","address1":"9"}]',
      ]),
      updated_at: '"2024-01-15T09:30:00.000Z"',
    };
  }

  private item(): Fields {
    const price = (): string =>
      this.oneOf([
        'null',
        '"20.5"',
        '"0"',
        '"N/A"',
        '"1,5"',
        '" 25.0625 "',
        '"0.12345678901234567"',
        '"-3"',
        '""',
      ]);
    return {
      platform_id: '"pi"',
      status: this.oneOf(['"active"', '"archived"', '"odd"']),
      type: this.oneOf(['"inventory"', '"service"', '"new_type"']),
      code: this.oneOf(['"SKU"', 'null']),
      name: this.oneOf(['"Paper"', '"Paper"', 'null', '"Ink"']),
      quantity_on_hand: this.oneOf(['null', '12', '0.1000000000000000055']),
      subsidiaries: '[]',
      bill_item: object({ description: '"in"', unit_price: price() }),
      invoice_item: object({ description: '"out"', unit_price: price() }),
      updated_at: '"2024-01-15T09:30:00.000Z"',
    };
  }

  private subscription(): Fields {
    const currency = this.currency();
    return {
      platform_id: '"ps"',
      platform_customer_id: this.oneOf(['"c-1"', '"c-2"', '"c-3"', 'null', undefined]),
      iso_currency_code: currency,
      status: this.oneOf([
        '"active"',
        '"active"',
        '"active"',
        '"in_trial"',
        '"paused"',
        '"canceled"',
        '"odd"',
      ]),
      items: this.chance(6)
        ? this.oneOf(['null', undefined])
        : list(...Array.from({ length: this.oneOf([1, 1, 2, 0]) }, () => this.subscriptionItem(currency))),
      ...this.times(),
      created_at: this.days.begun(),
      updated_at: `"2024-01-${10 + this.between(0, 9)}T09:30:00.000Z"`,
    };
  }

  /** Adds a subscription for a customer who has one already, in any currency. */
  private laterSubscription(): Fields {
    const others = this.entries.filter(
      ({ resource, isDeleted }) => resource === 'subscriptions' && !isDeleted,
    );
    const fields = this.subscription();
    if (others.length === 0) return fields;
    return {
      ...fields,
      platform_customer_id: this.oneOf(others).fields.platform_customer_id,
      status: '"active"',
      items: list(this.plainItem(fields.iso_currency_code ?? 'null')),
    };
  }

  private plainItem(currency: string): string {
    const amount = this.amounts.plain(currency);
    return object({ platform_id: '"x"', interval: '"month"', interval_count: '1', quantity: '1', amount });
  }

  private subscriptionItem(currency: string): string {
    if (this.chance(40)) return this.plainItem(currency);
    return object({
      platform_id: '"x"',
      interval: this.oneOf(['"day"', '"week"', '"month"', '"month"', '"year"', '"quarter"', 'null']),
      interval_count: this.oneOf(['1', '1', '2', '3', '12', '0', '-1', 'null']),
      quantity: this.oneOf(['1', '2', '2.5', 'null', '0']),
      amount: this.oneOf(['null', this.amounts.any(currency), this.amounts.plain(currency)]),
      unit_amount: this.oneOf(['null', this.amounts.plain(currency)]),
    });
  }

  private currency(): string {
    const usual = ['"USD"', '"USD"', '"EUR"', '"JPY"', '"KWD"', '"CLF"', 'null', '"null"'];
    return this.oneOf([...usual, '"usd"', '"XAU"']);
  }

  /** Changes a document later. */
  private edit(): void {
    const entry = this.oneOf(this.entries);
    const { resource, id } = entry;
    if (entry.isDeleted) {
      if (this.chance(50)) return;
      entry.isDeleted = false;
      this.commands.push({ kind: 'recreate', connection: this.input.name, resource, id });
      // A subscription's version is its time on the platform, which only a change moves.
      if (resource === 'subscriptions') this.change(entry, {});
      return;
    }
    const action = this.oneOf(edits);
    if (action === 'delete') {
      entry.isDeleted = true;
      this.commands.push({ kind: 'delete', connection: this.input.name, resource, id });
    } else if (action === 'touch') {
      this.commands.push({ kind: 'touch', connection: this.input.name, resource, ids: [id] });
    } else this.change(entry, this.buildPatch(entry, action));
  }

  private buildPatch(
    { resource, id, fields }: Entry,
    action: 'void' | 'pay' | 'rewrite' | 'pay back',
  ): Fields {
    const isDue = resource === 'bills' || resource === 'bill_credit_memos';
    if (action === 'void' && isDue) return { status: '"void"' };
    if (action === 'pay' && resource === 'bills') {
      // A payment of the due amount; sometimes the platform forgets to lower what is due.
      const { amount_due: due = '0', linked_payments: payments = '[]' } = fields;
      const payment = object({
        id: '"payment-late"',
        allocated_date: this.days.allocated(),
        allocated_amount: due,
      });
      return {
        linked_payments: `[${[payments.slice(1, -1), payment].filter((one) => one !== '').join(',')}]`,
        ...(this.chance(80) && { amount_due: '0', status: '"paid"' }),
      };
    }
    if (action === 'pay back' && resource === 'bills')
      return { linked_payments: '[]', amount_due: fields.total_amount };
    const again: Partial<Record<ResourceName, () => Fields>> = {
      bills: () => this.bill(),
      bill_credit_memos: () => this.credit(id),
      expenses: () => this.expense(),
      customers: () => this.customer(),
      items: () => this.item(),
      // A subscription's version is its time on the platform, which the sandbox moves.
      subscriptions: () => withoutTimes(this.subscription()),
    };
    return again[resource]?.() ?? {};
  }

  private add(resource: ResourceName, id: string, fields: Fields): void {
    this.entries.push({ resource, id, fields: { ...fields }, isDeleted: false });
    const record = object({ id: text(id), ...fields });
    this.commands.push({ kind: 'add', connection: this.input.name, resource, record });
  }

  private change(entry: Entry, patch: Fields): void {
    entry.fields = { ...entry.fields, ...patch };
    const { resource, id } = entry;
    const remove = Object.keys(patch).filter((name) => patch[name] === undefined);
    this.commands.push({
      kind: 'change',
      connection: this.input.name,
      resource,
      id,
      patch: object(patch),
      remove,
    });
  }

  private oneOf<Value>(values: readonly Value[]): Value {
    return this.gen(fc.constantFrom<Value[]>, ...values);
  }

  private between(min: number, max: number): number {
    return this.gen(fc.integer, { min, max });
  }

  private chance(percent: number): boolean {
    return this.between(1, 100) <= percent;
  }
}

/** Returns an amount, or the amounts of a JSON text, with the opposite sign. */
function negated(json: string): string {
  return json.replace(
    /(^|"(?:sub_total|tax_amount|total_amount|allocated_amount)":)(-?)(\d)/g,
    (_, before: string, sign: string, digit: string) => `${before}${sign === '' ? '-' : ''}${digit}`,
  );
}

function withoutTimes(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.endsWith('_at')));
}

/** IDs and names of which some read the same once the ID follows the name in parentheses. */
const readAlike = [
  ['p) (q', 'X'],
  ['z', 'X'],
  ['q', 'X (p)'],
  ['y', 'X (p)'],
] as const;

const statuses = [
  '"open"',
  '"partially_paid"',
  '"paid"',
  '"void"',
  '"draft"',
  '"submitted"',
  '"unknown"',
  '"approved"',
  '""',
];

/** Time-ordered IDs begin with the same characters. */
const vendors = [
  '018cf6a9-f266-7000-8000-000000000001',
  '018cf6a9-f266-7000-8000-000000000002',
  '018cf6a9-f277-7000-8000-000000000003',
  'vendor-4',
] as const;

/** Customers with a subscription in each of two currencies. */
const twoCurrencies = ['c-two-1', 'c-two-2'];

const accounts = ['"account-1"', '"account-2"', '"018cf6a9-0001"', '"018cf6a9-0002"', 'null', '""'];

const edits = ['delete', 'touch', 'void', 'pay', 'pay', 'rewrite', 'rewrite', 'pay back'] as const;
