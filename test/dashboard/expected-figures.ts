import type { Calculated, Value } from '../books/calculate.ts';
import { greatestFirst, negative, shown, sum, whole, type Whole } from './whole-amounts.ts';

/** The expected content of a chart for a choice, computed from documents and, where possible, from other marts than the chart reads. */
export interface Expected {
  readonly rows: readonly (readonly string[])[];
  /** The amounts in the sentence, in this order. */
  readonly told: readonly string[];
  /** The counts and amounts in the sentence about what is left out, in this order, without counts of 0. */
  readonly gap: readonly string[];
}

export interface Choice {
  /** Empty: all connections. */
  readonly connection: string;
  /** Empty: documents without a currency. */
  readonly currency: string;
}

type Row = Readonly<Record<string, Value>>;

/** Expected content by the id of the chart. */
export function expectedFigures(
  calculated: Calculated,
  { today, utcDay = today, connection, currency }: Choice & { today: string; utcDay?: string },
): Record<string, Expected> {
  const all = (mart: string): Row[] =>
    (calculated[mart] ?? []).filter((row) => connection === '' || row.connection_id === connection);
  const of = (mart: string): Row[] => all(mart).filter((row) => (row.currency_code ?? '') === currency);
  const show = (amount: Whole): string => shown(amount, currency);
  const month = `${today.slice(0, 7)}-01`;
  const names = new Map((calculated.vendors ?? []).map((row) => [vendorOf(row), String(row.vendor_name)]));
  const spend = of('spend_lines').filter(
    (row) => row.posting_status === 'posted' && row.spend_month !== null && row.is_in_future !== true,
  );
  /** The number of documents, and their sums above 0 and below 0. */
  const leftOut = (documents: readonly Whole[]): string[] => {
    if (documents.length === 0) return [];
    const unknown = documents.filter((amount) => amount === null).length;
    const sides = [1n, -1n].map((sign) => sum(documents.filter((amount) => (amount ?? 0n) * sign > 0n)));
    const others = sides.filter((side) => side !== 0n);
    const unknownTold = unknown === 0 ? [] : [unknown === 1 ? 'an unknown amount' : String(unknown)];
    const sums = [...others.map(told), ...unknownTold];
    return [String(documents.length), ...(sums.length === 0 ? [told(0n)] : sums)];
  };
  const each = (rows: readonly Row[], column: string): Whole[] => rows.map((row) => whole(row[column]));
  const costOfEach = (lines: readonly Row[]): Whole[] =>
    [...grouped(lines, documentOf).values()].map((rows) => amounts(rows, 'gross_amount'));
  const odd = of('bills').filter((row) => row.posting_status === 'unknown');
  const ofUnknownStatus = leftOut(each(odd, 'amount_due'));
  const oddCredits = of('vendor_credits').filter((row) => row.posting_status === 'unknown');
  const ofUnknownCredits = leftOut(each(oddCredits, 'remaining_amount'));
  const isOfMonthBefore = (row: Row): boolean => row.issue_date === null || String(row.issue_date) < month;
  const unexplained = of('bills').filter(
    (row) => row.is_posted === true && row.has_unexplained_amount === true && isOfMonthBefore(row),
  );
  const isMoreDue = (row: Row): boolean => (whole(row.unexplained_amount) ?? 0n) < 0n;
  const settledUndated = each(
    of('bills').filter(
      (row) => row.is_posted === true && whole(row.undated_amount) !== 0n && isOfMonthBefore(row),
    ),
    'undated_amount',
  );
  const undatedDocuments = leftOut(
    costOfEach(
      of('spend_lines').filter((row) => row.posting_status === 'posted' && row.spend_month === null),
    ),
  );
  const unknownSpend = (months: readonly string[], isMeant: (row: Row) => boolean = () => true): string[] => {
    const lines = of('spend_lines').filter(
      (row) =>
        row.posting_status === 'unknown' &&
        row.is_in_future !== true &&
        isMeant(row) &&
        (row.spend_month === null || months.includes(String(row.spend_month))),
    );
    return leftOut(costOfEach(lines));
  };
  const settling = (months: readonly string[], isMeant: (row: Row) => boolean = () => true): string[] => {
    const accounts = all('accounts').filter((row) =>
      ['ap_credit', 'payment_source'].includes(String(row.role)),
    );
    const isSettling = new Set(accounts.map((row) => `${row.connection_id} ${row.account_id}`));
    const lines = of('spend_lines').filter(
      (row) =>
        row.posting_status === 'posted' &&
        row.is_in_future !== true &&
        isMeant(row) &&
        isSettling.has(`${row.connection_id} ${row.account_id}`) &&
        whole(row.gross_amount) !== 0n &&
        months.includes(String(row.spend_month)),
    );
    return leftOut(costOfEach(lines));
  };
  const isGone = (row: Row): boolean => row.awaits_deletion === true;
  const isBill = (row: Row): boolean => row.is_credit === false;
  const goneDue = leftOut([
    ...openItemsOf(of('bills').filter(isGone), 'bill_id', 'bill'),
    ...openItemsOf(of('vendor_credits').filter(isGone), 'vendor_credit_id', 'vendor_credit'),
  ]);
  /** Amounts owed back are not open. */
  const goneOpen = leftOut([
    ...openItemsOf(of('bills').filter(isGone), 'bill_id', 'bill', isBill),
    ...openItemsOf(of('vendor_credits').filter(isGone), 'vendor_credit_id', 'vendor_credit', isBill),
  ]);
  const goneSpend = (months: readonly string[], isMeant: (row: Row) => boolean = () => true): string[] => {
    const gone = new Set(
      [
        ...of('bills').map((row) => ({ ...row, document_id: row.bill_id, source_type: 'bill' })),
        ...of('expenses').map((row) => ({
          ...row,
          document_id: row.expense_id,
          source_type: row.expense_type,
        })),
        ...of('vendor_credits').map((row) => ({
          ...row,
          ...{ document_id: row.vendor_credit_id, source_type: 'vendor_credit' },
        })),
      ]
        .filter(isGone)
        .map(documentOf),
    );
    return leftOut(
      costOfEach(
        spend.filter(
          (row) => gone.has(documentOf(row)) && isMeant(row) && months.includes(String(row.spend_month)),
        ),
      ),
    );
  };
  const goneRevenue = leftOut(
    [
      ...grouped(
        of('subscription_mrr_monthly').filter((row) => isGone(row) && row.month === month),
        (row) => `${row.connection_id} ${row.subscription_id}`,
      ).values(),
    ]
      .map((rows) => amounts(rows, 'mrr'))
      .filter((amount) => amount !== 0n),
  );
  const goneAhead = (isMeant: (row: Row) => boolean, isToPay = false): string[] =>
    leftOut(
      of('bills')
        .filter((row) => isGone(row) && row.is_dated_ahead === true && isMeant(row))
        .map((row) =>
          sum([whole(row.dated_ahead_amount), isToPay ? negative(whole(row.credited_later_amount)) : 0n]),
        ),
    );
  /** The largest open amounts of documents on earlier days, for those that `isMeant` chooses by today's open amount and that one. */
  const goneOpenBefore = (isMeant: (now: Whole | undefined, before: Whole) => boolean): string[] =>
    leftOut(
      [
        ...grouped(
          of('ap_open_items').filter((row) => {
            const name = row.document_type === 'bill' ? 'bill' : 'vendor_credit';
            const document = of(`${name}s`).find(
              (one) => one.connection_id === row.connection_id && one[`${name}_id`] === row.document_id,
            );
            return document !== undefined && isGone(document) && row.is_credit === false;
          }),
          (row) => `${row.connection_id} ${row.document_type} ${row.document_id}`,
        ).values(),
      ].flatMap((days) => {
        const now = days.find((row) => row.is_today === true);
        const before = days.filter(
          (row) => row.is_today !== true && String(row.as_of_date) >= monthsBefore(month, 24),
        );
        const most = largest(before.map((row) => whole(row.open_amount)));
        return before.length > 0 && isMeant(now && whole(now.open_amount), most) ? [most] : [];
      }),
    );
  const isMore = (before: Whole, now: Whole): boolean =>
    before === null || now === null ? now !== null : before > now;
  const openItems = of('ap_open_items');

  /** The amounts of some documents that are open today, one each. Amounts that vendors owe back are below 0. */
  function openItemsOf(
    documents: readonly Row[],
    id: string,
    type: string,
    isMeant: (item: Row) => boolean = () => true,
  ): Whole[] {
    const ids = new Set(documents.map((row) => `${row.connection_id} ${row[id]}`));
    return of('ap_open_items')
      .filter(
        (row) =>
          row.is_today === true &&
          row.document_type === type &&
          isMeant(row) &&
          ids.has(`${row.connection_id} ${row.document_id}`),
      )
      .map((row) => whole(row.open_amount));
  }

  return {
    'key-figures': keyFigures(),
    'ap-ageing': ageing(),
    'ap-trend': trend(),
    'cash-requirements': cash(),
    'spend-by-month': spendByMonth(),
    'spend-by-vendor': spendByVendor(),
    'recurring-revenue': recurring(),
    duplicates: duplicates(),
    'data-quality': quality(),
    'sync-health': health(),
  };

  function keyFigures(): Expected {
    const bills = of('bills').filter((row) => row.is_open === true);
    const overdue = bills.filter((row) => row.is_overdue === true);
    // A credit below 0 is an amount to pay.
    const creditsOwed = of('vendor_credits').filter((row) => (whole(row.unapplied_amount) ?? 0n) < 0n);
    const openBills = sum([
      amounts(bills, 'open_amount'),
      negative(amounts(creditsOwed, 'unapplied_amount')),
    ]);
    const payable = openBills;
    const late = amounts(overdue, 'open_amount');
    const soon = of('bills').filter(isDueSoon);
    // Nobody pays what credits settle later.
    const toPay = (rows: readonly Row[], column: string): Whole =>
      sum([amounts(rows, column), negative(amounts(rows, 'credited_later_amount'))]);
    const ahead = toPay(
      soon.filter((row) => row.is_dated_ahead === true),
      'dated_ahead_amount',
    );
    const spentIn = (wanted: string): Whole =>
      amounts(
        spend.filter((row) => row.spend_month === wanted),
        'gross_amount',
      );
    const before = monthsBefore(month, 1);
    const moved = of('mrr_movements_monthly').filter((row) => row.month === month);
    const count = [
      ...(bills.length > 0 || creditsOwed.length === 0 ? [counted(bills.length, 'bill', 'bills')] : []),
      ...(creditsOwed.length === 0 ? [] : [`${counted(creditsOwed.length, 'credit', 'credits')} below 0`]),
    ].join(' and ');
    const creditedOf = (some: readonly Row[], owed: readonly Row[] = []): string => {
      const later = sum([
        amounts(some, 'credited_later_amount'),
        negative(amounts(owed, 'applied_later_amount')),
      ]);
      return later === 0n ? '' : `; credits settle ${told(later)} of it from a later day on`;
    };
    // The open amounts of credits, and of bills below 0, until they are settled.
    const used = creditsUsed(creditsOwed);
    const percent =
      payable === null || late === null || payable === 0n
        ? ''
        : `${tenths(late, payable)} % of what is to be paid${creditedOf(overdue)}`;
    return {
      rows: [
        ['Open bills', show(openBills), `${count}${creditedOf(bills, creditsOwed)}`],
        ['Overdue', show(amounts(overdue, 'open_amount')), percent],
        [
          'Due within 14 days',
          show(
            sum([
              toPay(
                soon.filter((row) => row.is_open === true),
                'open_amount',
              ),
              ahead,
            ]),
          ),
          `today included${ahead === 0n ? '' : `; ${told(ahead)} of it dated ahead`}`,
        ],
        [
          'Unapplied credits',
          show(
            negative(
              sum([
                amounts(
                  of('vendor_credits').filter((row) => !creditsOwed.includes(row)),
                  'unapplied_amount',
                ),
                amounts(of('bills'), 'owed_back_amount'),
              ]),
            ),
          ),
          `and bills below 0 or overpaid; not taken off open bills${used === 0n ? '' : `; ${told(used)} of it settles bills from a later day on, and cannot be taken off what is due within 14 days`}`,
        ],
        [
          `Spend in ${monthName(today)}`,
          show(spentIn(month)),
          `the month is not over; ${told(spentIn(before))} in the month before`,
        ],
        of('mrr_movements_monthly').some((row) => row.month === month)
          ? ['Monthly recurring revenue', show(amounts(moved, 'closing')), recurringWords(moved)]
          : ['Monthly recurring revenue', '–', 'no subscriptions'],
      ],
      told: [told(openBills), ...[...count.matchAll(/\d+/g)].map(String)],
      gap: [
        ...some(
          unknownIn(of('cash_requirements')) +
            spend.filter(
              (row) => (row.spend_month === month || row.spend_month === before) && row.gross_amount === null,
            ).length,
        ),
        ...ofUnknownStatus,
        ...ofUnknownCredits,
        ...unknownSpend([month, before]),
        ...undatedDocuments,
        ...settling([month, before]),
        ...goneDue,
        ...goneAhead(isDueSoon, true),
        ...goneSpend([month, before]),
        ...goneRevenue,
        ...nameless('bill', 'vendor_credit', 'expense', 'refund', 'subscription'),
        ...some(unpriced(month)),
        ...some(roundedRecords(all('data_quality'))),
      ],
    };
  }

  function creditsUsed(creditsOwed: readonly Row[]): Whole {
    return sum([
      amounts(
        of('vendor_credits').filter((row) => !creditsOwed.includes(row)),
        'applied_later_amount',
      ),
      negative(
        amounts(
          of('bills').filter((row) => whole(row.owed_back_amount) !== 0n),
          'credited_later_amount',
        ),
      ),
    ]);
  }

  /** The numbers of documents and of subscriptions without a currency. The figures without a currency contain all of them. */
  function nameless(...kinds: readonly string[]): string[] {
    if (currency !== '') return some(namelessDocuments(kinds), namelessSubscriptions(kinds));
    return [];
  }

  function namelessDocuments(kinds: readonly string[]): number {
    const lines = all('spend_lines').filter(
      (row) => row.currency_code === null && kinds.includes(String(row.source_type)),
    );
    return new Set(lines.map(documentOf)).size;
  }

  function namelessSubscriptions(kinds: readonly string[]): number {
    if (!kinds.includes('subscription')) return 0;
    const items = all('subscription_mrr_monthly').filter(
      (row) => row.currency_code === null && row.month === month,
    );
    return new Set(items.map((row) => `${String(row.connection_id)} ${String(row.subscription_id)}`)).size;
  }

  /** The content of an empty chart: the numbers without a currency and, for all companies, the number of companies. */
  function nothing(...kinds: readonly string[]): Expected {
    const counts = nameless(...kinds);
    const lines = [
      ...all('spend_lines'),
      ...all('subscription_mrr_monthly').filter((row) => row.month === month),
    ];
    const companies = lines
      .filter(
        (row) => row.currency_code === null && kinds.includes(String(row.source_type ?? 'subscription')),
      )
      .map((row) => row.connection_id);
    const told =
      counts.length > 0 && connection === '' ? [...counts, String(new Set(companies).size)] : counts;
    return { rows: [], told, gap: [] };
  }

  /** Whether it is open or dated ahead, and due today or in the next 13 days. */
  function isDueSoon(row: Row): boolean {
    if (row.due_date === null || (row.is_open !== true && row.is_dated_ahead !== true)) return false;
    const issued = row.is_dated_ahead === true ? String(row.issue_date) : '';
    const due = String(row.due_date) > issued ? String(row.due_date) : issued;
    return due >= today && due <= daysAfter(today, 13);
  }

  function ageing(): Expected {
    const items = openItems.filter((row) => row.is_today === true);
    const columns = (rows: readonly Row[]): Whole[] => [
      ...['not_due', '1-30', '31-60', '61-90', '90+', 'no_due_date'].map((bucket) =>
        amounts(
          rows.filter((row) => isBill(row) && row.bucket === bucket),
          'open_amount',
        ),
      ),
      amounts(
        rows.filter((row) => !isBill(row)),
        'open_amount',
      ),
      amounts(rows, 'open_amount'),
    ];
    const ranked = rankedBy(
      items,
      (rows) => amounts(rows.filter(isBill), 'open_amount'),
      (rows) => amounts(rows, 'open_amount'),
    );
    const gap = [...ofUnknownStatus, ...ofUnknownCredits, ...goneDue];
    const withheld = nameless('bill', 'vendor_credit');
    if (ranked.length === 0 && gap.length === 0) return nothing('bill', 'vendor_credit');
    if (ranked.length === 0) return { rows: [], told: [told(0n), '0', told(0n)], gap: [...gap, ...withheld] };
    const overdue = items.filter((row) => isBill(row) && Number(row.days_past_due ?? 0) > 0);
    const balances = [...grouped(items, vendorOf).values()].map((rows) => amounts(rows, 'open_amount'));
    return {
      rows: [...ranked.map(({ label, id, rows }) => [label, ...columns(rows).map(show), id])].concat([
        ['All vendors', ...columns(items).map(show), vendorsIn(items).length === 1 ? idOf(items) : ''],
      ]),
      told: [
        told(amounts(items, 'open_amount')),
        String(balances.filter((balance) => balance === null || balance > 0n).length),
        ...some(balances.filter((balance) => balance !== null && balance < 0n).length),
        told(amounts(overdue, 'open_amount')),
      ],
      gap: [...some(items.filter((row) => row.open_amount === null).length), ...gap, ...withheld],
    };
  }

  /** For each bill, the most that was due beyond its total and its settlements. */
  function overstatedOn(days: readonly string[]): Whole[] {
    const beyond = openItems.filter(
      (row) => days.includes(String(row.as_of_date)) && (whole(row.due_beyond_total) ?? 0n) > 0n,
    );
    return [...grouped(beyond, documentOf).values()].map((rows) =>
      each(rows, 'due_beyond_total').reduce((most, one) => ((one ?? 0n) > (most ?? 0n) ? one : most)),
    );
  }

  function trend(): Expected {
    const days = [...Array(24).keys()]
      .map((back) => daysAfter(monthsBefore(month, back), -1))
      .reverse()
      .concat(today);
    const on = (day: string): Row[] => openItems.filter((row) => row.as_of_date === day);
    const gap = [
      ...[...ofUnknownStatus, ...ofUnknownCredits],
      ...leftOut(unexplained.filter((row) => !isMoreDue(row)).map((row) => whole(row.unexplained_amount))),
      ...leftOut(overstatedOn(days.slice(0, -1))),
      ...leftOut(settledUndated),
      ...goneOpen,
      ...goneOpenBefore((now, before) => now !== undefined && isMore(before, now)),
      ...goneOpenBefore((now) => now === undefined),
    ];
    if (!days.some((day) => on(day).length > 0) && gap.length === 0) return nothing('bill', 'vendor_credit');
    const columns = (day: string): Whole[] => [
      ...['not_due', '1-30', '31-60', '61-90', '90+', 'no_due_date'].map((bucket) =>
        amounts(
          on(day).filter((row) => isBill(row) && row.bucket === bucket),
          'open_amount',
        ),
      ),
      amounts(on(day).filter(isBill), 'open_amount'),
    ];
    const yearBefore = daysAfter(monthsBefore(month, 11), -1);
    return {
      rows: days.map((day) => [day, ...columns(day).map(show)]),
      told: [told(columns(today).at(-1) ?? null), told(columns(yearBefore).at(-1) ?? null)],
      gap: [
        ...some(Math.max(...days.map((day) => on(day).filter((row) => row.open_amount === null).length))),
        ...gap,
        ...nameless('bill', 'vendor_credit'),
      ],
    };
  }

  function cash(): Expected {
    const required = of('cash_requirements');
    const gap = [...ofUnknownStatus, ...ofUnknownCredits, ...goneDue, ...goneAhead(() => true)];
    const credited = sum([
      amounts(
        of('bills').filter((row) => row.is_open === true || row.is_dated_ahead === true),
        'credited_later_amount',
      ),
      negative(
        amounts(
          of('vendor_credits').filter((row) => (whole(row.unapplied_amount) ?? 0n) < 0n),
          'applied_later_amount',
        ),
      ),
    ]);
    if (required.length === 0 && gap.length === 0) return nothing('bill', 'vendor_credit');
    const weeks = [...Array(13).keys()].map((week) => [
      `w${String(week).padStart(2, '0')}`,
      dayName(daysAfter(today, week * 7)),
    ]);
    const lines = [
      ['overdue', 'Overdue'],
      ...weeks,
      ...[
        ['later', 'Later'],
        ['no_date', 'No due date'],
        ['unapplied_credits', 'Unapplied credits'],
      ],
    ];
    const within = (bucket: string): Row[] => required.filter((row) => row.due_bucket === bucket);
    const due = (bucket: string): Whole => amounts(within(bucket), 'amount_due');
    return {
      rows: lines.map(([bucket = '', label = '']) => [
        label,
        show(due(bucket)),
        show(amounts(within(bucket), 'dated_ahead')),
        show(amounts(within(bucket), 'expected_amount')),
        String(within(bucket).reduce((count, row) => count + Number(row.document_count), 0)),
      ]),
      told: [
        ...[told(due('overdue')), told(due('w00'))],
        told(negative(amounts(within('unapplied_credits'), 'expected_amount'))),
      ],
      gap: [
        ...some(unknownIn(required)),
        ...gap,
        ...nameless('bill', 'vendor_credit'),
        ...(credited === 0n ? [] : [told(credited)]),
      ],
    };
  }

  function spendByMonth(): Expected {
    const months = [...Array(24).keys()].map((back) => monthsBefore(month, back)).reverse();
    const lines = spend.filter((row) => months.includes(String(row.spend_month)));
    const columns = (rows: readonly Row[]): Whole[] => [
      amounts(rows, 'gross_amount'),
      ...months.map((wanted) =>
        amounts(
          rows.filter((row) => row.spend_month === wanted),
          'gross_amount',
        ),
      ),
    ];
    const ranked = rankedBy(lines, (rows) => amounts(rows, 'gross_amount'));
    const gap = [...unknownSpend(months), ...undatedDocuments, ...settling(months), ...goneSpend(months)];
    if (ranked.length === 0 && gap.length === 0) return nothing(...spent);
    if (ranked.length === 0)
      return { rows: [], told: [told(0n), told(0n)], gap: [...gap, ...nameless(...spent)] };
    return {
      rows: ranked
        .map(({ label, rows }) => [label, ...columns(rows).map(show)])
        .concat([['All vendors', ...columns(lines).map(show)]]),
      told: [told(columns(lines)[0] ?? null), told(columns(lines).at(-1) ?? null)],
      gap: [...some(lines.filter((row) => row.gross_amount === null).length), ...gap, ...nameless(...spent)],
    };
  }

  function spendByVendor(): Expected {
    const last = monthsBefore(month, 1);
    const months = [...Array(24).keys()].map((back) => monthsBefore(last, back));
    // Leaves out each month that was not read to its end, and the same month a year before.
    const lines = spend.filter((row) => {
      const place = months.indexOf(String(row.spend_month));
      return place >= 0 && isRead(row.connection_id, months[place % 12] ?? '');
    });
    const within = (rows: readonly Row[], wanted: readonly string[]): Whole =>
      amounts(
        rows.filter((row) => wanted.includes(String(row.spend_month))),
        'gross_amount',
      );
    const columns = (rows: readonly Row[]): Whole[] => [
      within(rows, months.slice(0, 12)),
      within(rows, months.slice(12)),
    ];
    const ranked = rankedBy(lines, (rows) => within(rows, months.slice(0, 12)));
    const isCompared = (row: Row): boolean => {
      const place = months.indexOf(String(row.spend_month));
      return place < 0 || isRead(row.connection_id, months[place % 12] ?? '');
    };
    const gap = [
      ...[...unknownSpend(months, isCompared), ...undatedDocuments, ...settling(months, isCompared)],
      ...goneSpend(months, isCompared),
    ];
    if (ranked.length === 0 && gap.length === 0) return nothing(...spent);
    const isAnyRead = all('connections').some((row) =>
      months.slice(0, 12).some((wanted) => isRead(row.connection_id, wanted)),
    );
    if (ranked.length === 0)
      return { rows: [], told: isAnyRead ? [told(0n), told(0n)] : [], gap: [...gap, ...nameless(...spent)] };
    return {
      rows: ranked
        .map(({ label, id, rows }) => [label, ...columns(rows).map(show), id])
        .concat([
          ['All vendors', ...columns(lines).map(show), vendorsIn(lines).length === 1 ? idOf(lines) : ''],
        ]),
      told: columns(lines).map(told),
      gap: [...some(lines.filter((row) => row.gross_amount === null).length), ...gap, ...nameless(...spent)],
    };
  }

  function isRead(name: Value, wanted: string): boolean {
    const of = (calculated.connections ?? []).find((row) => row.connection_id === name);
    const until = of?.spend_read_until ?? null;
    return until !== null && daysAfter(monthsBefore(wanted, -1), -1) <= String(until);
  }

  function recurring(): Expected {
    const all = of('mrr_movements_monthly');
    // For all connections together, a month is unknown if it precedes the first observed month of any connection that had data then.
    const firsts = [...grouped(all, (row) => String(row.connection_id)).entries()].map(([name, rows]) => ({
      name,
      first: rows.map((row) => String(row.month)).sort()[0] ?? '',
      began: rows.filter((row) => row.is_baseline === true).map((row) => String(row.month))[0],
    }));
    const since = firsts
      .flatMap(({ began }) => began ?? [])
      .sort()
      .at(-1);
    const neverSeen = firsts.filter(
      ({ name }) =>
        !(calculated.mrr_movements_monthly ?? []).some(
          (row) => row.connection_id === name && row.is_observed === true,
        ),
    );
    const isKnown = (wanted: string): boolean => connection !== '' || since === undefined || wanted >= since;
    const moved = all.filter((row) => String(row.month) > monthsAgo(today, 24) && isKnown(String(row.month)));
    const months = [...new Set(moved.map((row) => String(row.month)))].sort();
    if (months.length === 0) return nothing('subscription');
    const within = (wanted: string): Row[] => moved.filter((row) => row.month === wanted);
    const isObserved = (wanted: string): boolean => within(wanted).every((row) => row.is_observed === true);
    const figures = ['opening', 'new', 'reactivation', 'expansion', 'contraction', 'churn', 'closing'];
    const cell = (wanted: string, figure: string): string => {
      const amount = amounts(within(wanted), figure);
      return amount === null && !isObserved(wanted) ? 'not observed' : show(amount);
    };
    // Observed, but not on its last day, for at least one connection.
    const isToldEarlier = (wanted: string): boolean =>
      wanted < month && isObserved(wanted) && within(wanted).some((row) => row.is_complete === false);
    const final = months.at(-1) ?? '';
    const mostOf = (isOne: (row: Row) => boolean): string[] => {
      const counts = months.map((wanted) => within(wanted).filter(isOne).length).filter((count) => count > 0);
      return some(counts.length, Math.max(0, ...counts));
    };
    return {
      rows: months.map((wanted) => [monthName(wanted), ...figures.map((figure) => cell(wanted, figure))]),
      told: isObserved(final)
        ? ['closing', 'opening'].map((figure) => told(amounts(within(final), figure)))
        : [],
      gap: [
        ...goneRevenue,
        ...nameless('subscription'),
        ...some(
          connection === '' && months[0] === since && firsts.some(({ first }) => first < (since ?? ''))
            ? firsts.filter(({ began }) => began !== undefined && began === since).length - 3
            : 0,
        ),
        ...some(
          connection === '' && neverSeen.some(({ first }) => first > (months[0] ?? ''))
            ? neverSeen.length - 3
            : 0,
        ),
        ...some(months.filter(isToldEarlier).length - 3),
        ...some(months.filter((wanted) => unpriced(wanted) > 0).length, Math.max(...months.map(unpriced))),
        ...mostOf((row) => isUnknownMove(row) && !mayHavePaid(row)),
        ...mostOf((row) => isUnknownMove(row) && mayHavePaid(row)),
      ],
    };
  }

  function recurringWords(moved: readonly Row[]): string {
    const known = of('subscription_mrr_monthly').filter((row) => row.month === month && row.mrr !== null);
    const [until = utcDay] = moved
      .flatMap((row) => (row.observed_until === null ? [] : [String(row.observed_until)]))
      .sort();
    const ofDay = `of active subscriptions${until < utcDay ? `, as last read on ${dayName(until)}` : ''}`;
    if (amounts(moved, 'closing') === null && known.length > 0)
      return `${ofDay}; ${told(amounts(known, 'mrr'))} without those that are not known`;
    const isObserved = moved.every((row) => row.is_observed === true);
    return `${ofDay}${isObserved ? '' : '; this month was not observed yet'}`;
  }

  function unpriced(wanted: string): number {
    const without = of('subscription_mrr_monthly').filter(
      (row) => row.month === wanted && row.mrr === null && row.mrr_status !== 'not_observed',
    );
    return without.length;
  }

  function duplicates(): Expected {
    const isIn = (code: Value): boolean => (code ?? '') === currency;
    const amountHere = (row: Row): Whole =>
      unsigned(whole(isIn(row.currency_code) ? row.amount_a : row.amount_b));
    const pairs = all('duplicate_bills')
      .filter((row) => isIn(row.currency_code) || isIn(row.currency_code_b))
      .sort(
        (one, other) =>
          Number(other.score) - Number(one.score) ||
          greatestFirst(amountHere(one), amountHere(other)) ||
          inOrder(one.connection_id, other.connection_id) ||
          inOrder(one.bill_id_a, other.bill_id_a) ||
          inOrder(one.document_id_b, other.document_id_b),
      );
    const why: Readonly<Record<string, string>> = {
      same_number: 'same vendor and number',
      paid_twice: 'bill and expense of one amount',
      same_amount: 'same vendor and amount',
      other_vendor: 'same number and amount, other or no vendor',
    };
    if (pairs.length === 0) return nothing('bill', 'expense');
    const leaving = pairs.filter((row) => Number(row.alike_count) > 11 && leavesOutPairs(row));
    const mostAlike = Math.max(0, ...leaving.map((row) => Number(row.alike_count)));
    return {
      rows: pairs
        .slice(0, 25)
        .map((row) => [
          why[String(row.rule)] ?? '',
          String(row.score),
          names.get(`${String(row.connection_id)} ${String(row.vendor_id_a)}`) ?? '',
          isIn(row.currency_code) ? show(whole(row.amount_a)) : named(row.amount_a, row.currency_code),
          isIn(row.currency_code_b) ? show(whole(row.amount_b)) : named(row.amount_b, row.currency_code_b),
          String(row.day_gap ?? ''),
          String(row.bill_id_a),
          `${String(row.document_type_b)} ${String(row.document_id_b)}`,
          String(row.connection_id),
        ]),
      told: [String(pairs.length), ...(pairs.length > 25 ? ['25'] : [])],
      gap: [...nameless('bill', 'expense'), ...some(mostAlike)],
    };
  }

  /** For one number, all documents are alike; for one amount, those of a few days. Ten of its kind between two leave the pair out. */
  function leavesOutPairs(pair: Row): boolean {
    if (pair.rule === 'same_number' || pair.rule === 'other_vendor') return true;
    const alike = (mart: string, amount: string, day: string): string[] =>
      all(mart)
        .filter(
          (row) =>
            row.connection_id === pair.connection_id &&
            row.vendor_id === pair.vendor_id_a &&
            row.currency_code === pair.currency_code &&
            whole(row[amount]) === whole(pair.amount_a) &&
            row[day] !== null,
        )
        .filter((row) => row.source_status !== 'void' && row.expense_type !== 'refund')
        .map((row) => String(row[day]));
    const bills = alike('bills', 'total_amount', 'issue_date');
    const expenses = alike('expenses', 'signed_amount', 'transaction_date');
    const within = (days: readonly string[], from: string, length: number): number =>
      days.filter((day) => day >= from && day <= daysAfter(from, length)).length;
    return [...bills, ...expenses].some(
      (day) => within(bills, day, 7) > 11 || (within(bills, day, 5) > 10 && within(expenses, day, 5) > 10),
    );
  }

  function quality(): Expected {
    const checks = grouped(all('data_quality'), (row) => String(row.check_name));
    const found = [...checks]
      .map(([check, rows]) => ({
        finding: check.replaceAll('_', ' '),
        records: rows.reduce((count, row) => count + Number(row.failed_rows), 0),
        where:
          connection === ''
            ? rows
                .filter((row) => Number(row.failed_rows) > 0)
                .map((row) => String(row.connection_id))
                .sort()
                .join(', ')
            : String(rows[0]?.sample_ids ?? ''),
      }))
      .filter(({ records }) => records > 0)
      .sort((one, other) => other.records - one.records || inOrder(one.finding, other.finding));
    return {
      rows: found.map(({ finding, records, where }) => [finding, String(records), where]),
      told: [String(found.length), String(checks.size)],
      gap: [],
    };
  }

  function health(): Expected {
    const lists = all('sync_health').sort(
      (one, other) =>
        inOrder(one.connection_id, other.connection_id) || inOrder(one.resource, other.resource),
    );
    const words: Readonly<Record<string, string>> = {
      fresh: 'fresh',
      stale: 'stale',
      stalled: 'stalled',
      never_complete: 'not complete yet',
    };
    return {
      rows: lists.map((row) => [
        ...[String(row.connection_id), String(row.resource).replaceAll('_', ' ')],
        words[String(row.freshness_status)] ?? '',
        ...['record_count', 'deleted_records', 'quarantined_records'].map((column) => String(row[column])),
        ...['last_success_at', 'last_reconcile_at'].map((column) => String(row[column] ?? '').slice(0, 16)),
      ]),
      told: [String(lists.filter((row) => row.freshness_status === 'fresh').length), String(lists.length)],
      gap: [],
    };
  }

  function told(amount: Whole): string {
    return amount === null ? 'an unknown amount' : show(amount);
  }

  /** The 15 vendors with the largest amounts, each with its rows, and all others combined. */
  function rankedBy(
    rows: readonly Row[],
    amountOf: (rows: readonly Row[]) => Whole,
    otherwise: (rows: readonly Row[]) => Whole = amountOf,
  ): { label: string; id: string; rows: readonly Row[] }[] {
    const vendors = [...grouped(rows, vendorOf)].sort(
      ([one, ofOne], [other, ofOther]) =>
        greatestFirst(amountOf(ofOne), amountOf(ofOther)) ||
        greatestFirst(otherwise(ofOne), otherwise(ofOther)) ||
        inOrder(one, other),
    );
    const first = vendors.slice(0, 15);
    const others = vendors.slice(15).flatMap(([, rest]) => rest);
    const labels = first.map(([vendor]) => names.get(vendor) ?? '');
    return [
      ...first.map(([vendor, ofVendor], place) => {
        const label = labels[place] ?? '';
        const isAlone = labels.filter((another) => another === label).length === 1;
        return {
          label: isAlone ? label : `${label} · ${vendor.split(' ')[0] ?? ''}`,
          id: vendor.split(' ')[1] ?? '',
          rows: ofVendor,
        };
      }),
      ...(others.length === 0
        ? []
        : [
            {
              label: counted(vendors.length - 15, 'other', 'others'),
              id: vendors.length === 16 ? idOf(others) : '',
              rows: others,
            },
          ]),
    ];
  }
}

const spent = ['bill', 'vendor_credit', 'expense', 'refund'];

function amounts(rows: readonly Row[], column: string): Whole {
  return sum(rows.map((row) => whole(row[column])));
}

function grouped(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

function named(amount: Value, currency: Value): string {
  const code = String(currency ?? '');
  if (amount === null) return `an unknown amount${code === '' ? '' : ` of ${code}`}`;
  return `${code === '' ? '' : `${code} `}${shown(whole(amount), code)}`;
}

/** Whether both ends of the month are known and differ, but the kind of movement is unknown. */
function isUnknownMove(row: Row): boolean {
  const { opening, closing } = row;
  const moves = ['new', 'reactivation', 'expansion', 'contraction', 'churn'].map((kind) => row[kind]);
  const isKnown = opening !== null && closing !== null;
  return isKnown && whole(opening) !== whole(closing) && moves.includes(null);
}

/** Whether the customer may have paid at the beginning of the month, and may since have stopped, or pay more or less. */
function mayHavePaid(row: Row): boolean {
  return [row.expansion, row.contraction, row.churn].includes(null);
}

function some(...counts: readonly number[]): string[] {
  return counts.filter((count) => count > 0).map(String);
}

function roundedRecords(checks: readonly Row[]): number {
  const rounded = checks.filter((row) => row.check_name === 'amount_rounded');
  return rounded.reduce((count, row) => count + Number(row.failed_rows), 0);
}

function unknownIn(rows: readonly Row[]): number {
  return rows.reduce((count, row) => count + Number(row.unknown_count), 0);
}

function largest(values: readonly Whole[]): Whole {
  return values.reduce((one, other) => (one === null || other === null ? null : one > other ? one : other));
}

function unsigned(amount: Whole): Whole {
  return amount !== null && amount < 0n ? -amount : amount;
}

/** The percentage to one decimal, rounded half away from zero. */
function tenths(part: bigint, of: bigint): string {
  const rounded = (2000n * part + of) / (2n * of);
  return `${rounded / 10n}.${rounded % 10n}`;
}

function vendorOf(row: Row): string {
  return `${String(row.connection_id)} ${String(row.vendor_id)}`;
}

function documentOf(row: Row): string {
  return [row.source_type, row.connection_id, row.document_id].map(String).join(' ');
}

function vendorsIn(rows: readonly Row[]): string[] {
  return [...new Set(rows.map(vendorOf))];
}

function idOf(rows: readonly Row[]): string {
  return String(rows[0]?.vendor_id);
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function inOrder(one: Value, other: Value): number {
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function monthsBefore(month: string, count: number): string {
  const [year = 0, place = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, place - 1 - count, 1)).toISOString().slice(0, 10);
}

/** The same day of an earlier month, or the last day of a shorter month. */
function monthsAgo(day: string, count: number): string {
  const first = monthsBefore(`${day.slice(0, 7)}-01`, count);
  const last = daysAfter(monthsBefore(first, -1), -1);
  const same = `${first.slice(0, 8)}${day.slice(8)}`;
  return same < last ? same : last;
}

function daysAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}

function monthName(day: string): string {
  return new Date(day).toLocaleDateString('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' });
}

function dayName(day: string): string {
  const month = new Date(day).toLocaleDateString('en-US', { month: 'short', timeZone: 'UTC' });
  return `${Number(day.slice(8))} ${month}`;
}
