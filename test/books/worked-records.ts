import {
  addBill,
  changeSubscription,
  addCredit,
  addExpense,
  deleteSubscription,
  addItem,
  monthlyItem,
  addSubscription,
  worked,
  type BookEvent,
  type Values,
  type WorkedBook,
} from './worked-book.ts';

/** Records with missing, odd or empty values, with how they are shown and where they are counted. */
export function workedRecords(): WorkedBook[] {
  return [
    ...duplicates(),
    ...counted(),
    ...foreignCredits(),
    creditedBeforeBought(),
    ...correctedAtSource(),
    named(),
    resumed(),
    halfRead(),
    lastReadWithinAMonth(),
    ...lastReadAroundAMonthEnd(),
    firstOfAll(),
    readOnItsThirdDay(),
    ...stalledLists(),
    notOfferedAnyMore(),
    ...readInPartAndNotOfferedAnyMore(),
    billingAlone(),
    billingNotAsked(),
    mistypedYears(),
    noNumbers(),
    ofUnknown(),
    awaitingDeletion(),
    ...companyTwice(),
    cardPaidOff(),
  ];
}

function duplicates(): WorkedBook[] {
  const noCurrency = { total_amount: 555, currency_code: null };
  return [
    worked(
      'alike-without-a-currency',
      {
        0: [
          addBill('n1', { ...noCurrency, issue_date: '2026-10-05', document_number: 'A-1' }),
          addBill('n2', { ...noCurrency, issue_date: '2026-10-06', document_number: 'B-2' }),
          addBill('n3', { ...noCurrency, issue_date: '2026-01-06', document_number: 'a 1', vendor_id: null }),
          addExpense('n4', {
            ...{ vendor_id: 'a', transaction_date: '2026-10-06', currency_code: 'null' },
            line_items: [{ total_amount: 555 }],
          }),
          addCredit('n5', { issue_date: '2026-10-07', total_amount: 30, currency_code: null }),
        ],
      },
      {
        'duplicate_bills.rule where bill_id_a = n1 and document_id_b = n2': 'same_amount',
        'duplicate_bills.rule where bill_id_a = n1 and document_id_b = n3': 'other_vendor',
        'duplicate_bills.rule where bill_id_a = n1 and document_id_b = n4': 'paid_twice',
        'data_quality.failed_rows where check_name = no_currency': 5,
      },
    ),
    worked(
      'letters-of-any-alphabet',
      {
        0: [
          addBill('k1', { issue_date: '2026-01-05', total_amount: 10, document_number: 'СФ-12' }),
          addBill('k2', { issue_date: '2026-09-05', total_amount: 99, document_number: 'АБ-12' }),
          addBill('k3', { issue_date: '2026-05-05', total_amount: 98, document_number: 'СФ – 012' }),
          addBill('u1', {
            vendor_id: 'u',
            issue_date: '2026-01-05',
            total_amount: 11,
            document_number: 'Ä-7',
          }),
          addBill('u2', {
            vendor_id: 'u',
            issue_date: '2026-09-05',
            total_amount: 97,
            document_number: 'Ö-7',
          }),
        ],
      },
      {
        'duplicate_bills.rule where bill_id_a = k1 and document_id_b = k2': undefined,
        'duplicate_bills.rule where bill_id_a = k1 and document_id_b = k3': 'same_number',
        'duplicate_bills.rule where bill_id_a = u1': undefined,
      },
    ),
    numberedByDate(),
    worked(
      'alike-in-a-row',
      {
        0: [
          ...numbers(13).map((i) =>
            addBill(`m${i}`, {
              issue_date: `2026-10-${i}`,
              total_amount: 100 - Number(i),
              document_number: 'M-1',
            }),
          ),
          ...numbers(12).map((i) =>
            addBill(`p${i}`, {
              issue_date: '2026-01-05',
              total_amount: 70,
              vendor_id: 'p',
              document_number: `P-${i}`,
            }),
          ),
          ...numbers(12).map((i) =>
            addExpense(`q${i}`, {
              ...{ vendor_id: 'p', transaction_date: '2026-01-06' },
              line_items: [{ total_amount: 70 }],
            }),
          ),
          ...numbers(12).map((i) =>
            addBill(`s${i}`, {
              ...{ issue_date: `2026-05-${i}`, total_amount: 55, vendor_id: `s${Number(i) % 2}` },
              document_number: 'S-1',
            }),
          ),
        ],
      },
      {
        // Ordered by amount, so the last one comes first.
        'duplicate_bills.rule where bill_id_a = m03 and document_id_b = m13': 'same_number',
        'duplicate_bills.rule where bill_id_a = m02 and document_id_b = m13': undefined,
        'duplicate_bills.alike_count where bill_id_a = m03 and document_id_b = m13': 13,
        'duplicate_bills.day_gap where bill_id_a = m03 and document_id_b = m13': 10,
        'duplicate_bills.rule where bill_id_a = p01 and document_id_b = p11': 'same_amount',
        'duplicate_bills.rule where bill_id_a = p01 and document_id_b = p12': undefined,
        'duplicate_bills.alike_count where bill_id_a = p01 and document_id_b = p11': 12,
        'duplicate_bills.rule where bill_id_a = p01 and document_id_b = q10': 'paid_twice',
        'duplicate_bills.rule where bill_id_a = p01 and document_id_b = q11': undefined,
        'duplicate_bills.rule where bill_id_a = p03 and document_id_b = q12': 'paid_twice',
        'duplicate_bills.rule where bill_id_a = p02 and document_id_b = q12': undefined,
        'duplicate_bills.alike_count where bill_id_a = p01 and document_id_b = q10': 24,
        'duplicate_bills.rule where bill_id_a = s01 and document_id_b = s10': 'other_vendor',
        'duplicate_bills.rule where bill_id_a = s01 and document_id_b = s12': undefined,
        'duplicate_bills.rule where bill_id_a = s01 and document_id_b = s11': 'same_number',
        'duplicate_bills.alike_count where bill_id_a = s01 and document_id_b = s10': 12,
        'duplicate_bills.alike_count where bill_id_a = s01 and document_id_b = s11': 6,
      },
    ),
  ];
}

/** Characters between two digits make two numbers. Between letters and digits people type anything. */
function numberedByDate(): WorkedBook {
  const documentNumbers = {
    ...{ january: '2026-1-11', november: '2026-11-1', again: '2026/01/11', plain: '2026111' },
    ...{
      told: 'INV-0042',
      spaced: 'inv 0042',
      bare: 'INV-42',
      run: 'INV42',
      parts: 'INV-4-2',
      dotted: 'inv. 4 /2',
    },
  };
  const bills = Object.entries(documentNumbers).map(([id, document_number], index) =>
    addBill(id, { document_number, issue_date: '2026-01-11', total_amount: 100 + index }),
  );
  const buildRuleQuestion = (one: string, other: string): string => {
    const [a, b] = [one, other].sort();
    return `duplicate_bills.rule where bill_id_a = ${a} and document_id_b = ${b}`;
  };
  return worked(
    'numbered-by-date',
    { 0: bills },
    {
      [buildRuleQuestion('january', 'november')]: undefined,
      [buildRuleQuestion('january', 'again')]: 'same_number',
      [buildRuleQuestion('january', 'plain')]: undefined,
      [buildRuleQuestion('november', 'plain')]: undefined,
      [buildRuleQuestion('told', 'spaced')]: 'same_number',
      [buildRuleQuestion('told', 'bare')]: 'same_number',
      [buildRuleQuestion('told', 'run')]: 'same_number',
      [buildRuleQuestion('run', 'parts')]: undefined,
      [buildRuleQuestion('parts', 'dotted')]: 'same_number',
    },
  );
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1).padStart(2, '0'));
}

function counted(): WorkedBook[] {
  return [
    worked(
      'of-nothing',
      {
        0: [
          addBill('hundred', { issue_date: '2026-11-05', total_amount: 100 }),
          addBill('nothing', { issue_date: '2026-11-05', total_amount: 0, line_items: [] }),
          addBill('cancelled', {
            ...{ status: 'void', issue_date: '2026-11-01', total_amount: 40 },
            line_items: [{ account_id: 'only-void', total_amount: 40 }],
          }),
        ],
      },
      {
        'vendor_spend_monthly.bill_count where spend_month = 2026-11-01': 2,
        'vendor_spend_monthly.average_bill where spend_month = 2026-11-01': 50,
        'accounts.spend_lines where account_id = only-void': 0,
      },
    ),
    worked(
      'void-credit',
      {
        0: [
          addBill('bill', {
            ...{ issue_date: '2026-10-01', due_date: '2026-10-31', total_amount: 100, amount_due: 70 },
            status: 'partially_paid',
            linked_credit_memos: [{ id: 'memo', allocated_date: '2026-10-10', allocated_amount: 30 }],
          }),
          addCredit('memo', {
            ...{ issue_date: '2026-10-05', total_amount: 30, remaining_amount: 0, status: 'void' },
            linked_bills: [{ id: 'bill', allocated_date: '2026-10-10', allocated_amount: 30 }],
          }),
        ],
      },
      { 'data_quality.failed_rows where check_name = unposted_credit_applied': 1 },
    ),
  ];
}

/** The API has no rate for a credit. Without a seeded rate its month has no sum in the base currency. */
function foreignCredits(): WorkedBook[] {
  const foreign = (id: string, values: Values): BookEvent =>
    addCredit(id, { issue_date: '2026-10-05', total_amount: 30, currency_code: 'SGD', ...values });
  const found = (failed: number): WorkedBook['figures'] => ({
    'data_quality.failed_rows where check_name = unconverted_vendor_credit': failed,
  });
  const credits = [
    foreign('memo', {}),
    foreign('cancelled', { status: 'void' }),
    foreign('seeded', { currency_code: 'EUR' }),
    foreign('own', { currency_code: 'USD' }),
  ];
  return [
    worked('foreign-credit', { 0: credits }, found(1), {
      settings: { base_currency: 'USD', fx_direction: '' },
    }),
    worked('no-base-currency', { 0: credits }, found(0)),
  ];
}

/** A vendor gave back in January something that was not bought from it here, and was paid from February on. */
function creditedBeforeBought(): WorkedBook {
  return worked(
    'credited-before-bought',
    {
      0: [
        addCredit('memo', { vendor_id: 'v', issue_date: '2026-01-05', total_amount: 10 }),
        addBill('below', { vendor_id: 'v', issue_date: '2026-02-05', total_amount: -20 }),
        addBill('first', { vendor_id: 'v', issue_date: '2026-03-05', total_amount: 100 }),
        addBill('void', { vendor_id: 'v', issue_date: '2026-03-06', total_amount: 40, status: 'void' }),
        addBill('draft', { vendor_id: 'v', issue_date: '2026-03-06', total_amount: 40, status: 'draft' }),
        addBill('ahead', { vendor_id: 'v', issue_date: '2027-01-05', total_amount: 7 }),
        addCredit('only', { vendor_id: 'w', issue_date: '2026-01-05', total_amount: 10 }),
        addExpense('unknown', {
          ...{ vendor_id: 'x', transaction_date: '2026-02-05' },
          line_items: [{ total_amount: 1e17 }],
        }),
        addBill('known', { vendor_id: 'x', issue_date: '2026-03-05', total_amount: 1 }),
      ],
    },
    {
      'vendor_spend_monthly.first_spend_month where vendor_id = v and spend_month = 2026-01-01': '2026-03-01',
      'vendor_spend_monthly.first_spend_month where vendor_id = v and spend_month = 2026-03-01': '2026-03-01',
      'vendor_spend_monthly.first_spend_month where vendor_id = w and spend_month = 2026-01-01': null,
      // What was bought then is unknown, but something may have been.
      'vendor_spend_monthly.first_spend_month where vendor_id = x and spend_month = 2026-03-01': '2026-02-01',
      'vendor_spend_monthly.bill_count where vendor_id = v and spend_month = 2026-03-01': 1,
      'vendors.bill_count where vendor_id = v': 5,
    },
  );
}

/** Odd in August, and since then corrected at the source, or deleted. Checks report what is odd today, observed or not. */
function correctedAtSource(): WorkedBook[] {
  const odd = {
    s1: { items: [{ ...monthlyItem(100), amount: 90 }] },
    s2: { items: [{ ...monthlyItem(50), interval: 'forever' }] },
  };
  const observed = { 3: 'complete', 2: 'complete', 1: 'complete', 0: 'incomplete' } as const;
  const added = [
    addSubscription('s1', 'c1', 100),
    addSubscription('s2', 'c2', 50),
    addSubscription('s3', 'c3', 50),
  ];
  const august = [
    changeSubscription('s1', odd.s1),
    changeSubscription('s2', odd.s2),
    changeSubscription('s3', { status: 'past_due' }),
  ];
  const found = (failed: number): WorkedBook['figures'] => ({
    'data_quality.failed_rows where check_name = item_amount_unexplained': failed,
    'data_quality.failed_rows where check_name = unpriced_subscription': failed,
    'data_quality.failed_rows where check_name = unknown_subscription_status': failed,
  });
  return [
    worked(
      'mended',
      {
        3: [...added, ...august],
        2: [
          changeSubscription('s1', { items: [monthlyItem(100)] }),
          changeSubscription('s2', { items: [monthlyItem(50)] }),
          deleteSubscription('s3'),
        ],
      },
      {
        ...found(0),
        'subscription_mrr_monthly.mrr_status where month = 2026-08-01 and subscription_id = s3':
          'unknown_status',
      },
      observed,
    ),
    worked('odd-since', { 3: added, 0: august }, found(1), observed),
  ];
}

function named(): WorkedBook {
  const vendorNames = {
    ...{ m1: 'Acme', m2: '\u2003Acme\u00a0', m3: '\u00a0\u3000' },
    // If the ID followed the name unescaped, the first and the third would read the same.
    ...{ 'p) (q': 'X', z: 'X', q: 'X (p)', y: 'X (p)' },
    ...{ 'a%28b': 'Y', 'a(b': 'Y' },
  };
  const bills = Object.keys(vendorNames).map((vendor) =>
    addBill(vendor, { vendor_id: vendor, issue_date: '2026-11-01', total_amount: 1 }),
  );
  const book = worked(
    'names-with-spaces',
    { 0: bills },
    {
      'vendors.vendor_name where vendor_id = m1': 'Acme (m1)',
      'vendors.vendor_name where vendor_id = m2': 'Acme (m2)',
      'vendors.known_name where vendor_id = m2': 'Acme',
      'vendors.vendor_name where vendor_id = m3': 'Vendor m3',
      'vendors.vendor_name where vendor_id = p) (q': 'X (p) %28q)',
      'vendors.vendor_name where vendor_id = q': 'X (p) (q)',
      'vendors.vendor_name where vendor_id = a%28b': 'Y (a%2528b)',
      'vendors.vendor_name where vendor_id = a(b': 'Y (a%28b)',
    },
  );
  return { ...book, book: { ...book.book, vendorNames } };
}

function resumed(): WorkedBook {
  return worked(
    'resumed',
    {
      2: [
        addSubscription('s0', 'c0', 1),
        ...['paused', 'canceled', 'in_trial'].flatMap((status) => [
          addSubscription(status, status, 100),
          changeSubscription(status, { status }),
        ]),
      ],
      1: ['paused', 'canceled', 'in_trial'].map((status) => changeSubscription(status, { status: 'active' })),
    },
    {
      'mrr_movements_monthly.new where month = 2026-10-01 and platform_customer_id = paused': null,
      'mrr_movements_monthly.reactivation where month = 2026-10-01 and platform_customer_id = paused': null,
      'mrr_movements_monthly.churn where month = 2026-10-01 and platform_customer_id = paused': 0,
      'mrr_movements_monthly.expansion where month = 2026-10-01 and platform_customer_id = canceled': 0,
      'mrr_movements_monthly.contraction where month = 2026-10-01 and platform_customer_id = canceled': 0,
      'mrr_movements_monthly.new where month = 2026-10-01 and platform_customer_id = canceled': null,
      'mrr_movements_monthly.new where month = 2026-10-01 and platform_customer_id = in_trial': 100,
      'mrr_movements_monthly.closing where month = 2026-11-01': 301,
    },
    { 2: 'complete', 1: 'complete', 0: 'complete' },
  );
}

/** Bills and expenses were read to the end; no run has read refunds or customers. */
function halfRead(): WorkedBook {
  return worked(
    'half-read',
    { 0: [addBill('b', { issue_date: '2026-11-05', total_amount: 100 })] },
    {
      'connections.freshness_status where name = half-read': 'never_complete',
      'connections.last_success_at where name = half-read': null,
      'sync_health.freshness_status where resource = expenses': 'never_complete',
      'sync_health.capability where resource = expenses': 'supported',
      'sync_health.freshness_status where resource = customers': 'never_complete',
      'sync_health.capability where resource = customers': 'unknown',
      'sync_health.last_success_at where resource = customers': null,
    },
    { unread: ['refunds', 'customers'] },
  );
}

/**
 * The list of bills was read to its end today, without showing what the service has since October 15. The list of expenses is empty,
 * although the service has some.
 */
function stalledLists(): WorkedBook[] {
  const bills = ['2025-09', '2025-10', '2026-09', '2026-10'].map((month) =>
    addBill(month, { vendor_id: 'v', issue_date: `${month}-05`, total_amount: 100 }),
  );
  return [
    worked(
      'stalled',
      { 0: bills },
      {
        'connections.freshness_status where name = stalled': 'stalled',
        'connections.days_since_success where name = stalled': 38,
        'connections.spend_read_until where name = stalled': '2026-10-14',
        'sync_health.freshness_status where resource = bills': 'stalled',
        'sync_health.days_since_success where resource = bills': 38,
        'sync_health.freshness_status where resource = bill_credit_memos': 'fresh',
        'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-09-01': true,
        'vendor_spend_monthly.year_over_year where vendor_id = v and spend_month = 2026-09-01': 0,
        'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-10-01': false,
        'vendor_spend_monthly.year_over_year where vendor_id = v and spend_month = 2026-10-01': null,
        'ap_kpis_monthly.is_complete where month = 2026-10-01 and currency_code = NZD': false,
      },
      { stalled: { bills: 38 } },
    ),
    worked(
      'stalled-empty',
      { 0: bills },
      {
        'connections.freshness_status where name = stalled-empty': 'stalled',
        'connections.last_success_at where name = stalled-empty': null,
        'connections.spend_read_until where name = stalled-empty': null,
        'sync_health.freshness_status where resource = expenses': 'stalled',
        'sync_health.last_success_at where resource = expenses': null,
        'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-09-01': false,
      },
      { stalled: { expenses: null } },
    ),
  ];
}

/** Bills were last read on September 23, so the ones here are no longer updated. Subscriptions were never listed. */
function notOfferedAnyMore(): WorkedBook {
  const name = 'not-offered-any-more';
  const { book, figures } = worked(
    name,
    { 0: [addBill('b', { issue_date: '2026-09-05', total_amount: 100 })] },
    {
      [`connections.freshness_status where name = ${name}`]: 'stale',
      [`connections.days_since_success where name = ${name}`]: 60,
      [`connections.spend_read_until where name = ${name}`]: '2026-09-22',
      'sync_health.freshness_status where resource = bills': 'stale',
      'sync_health.capability where resource = bills': 'unsupported',
      'sync_health.days_since_success where resource = bills': 60,
      'sync_health.freshness_status where resource = expenses': 'stale',
      'sync_health.capability where resource = expenses': 'supported',
      'sync_health.freshness_status where resource = subscriptions': 'unsupported',
      'sync_health.last_success_at where resource = subscriptions': null,
    },
    { withdrawn: { bills: 60, refunds: 20, subscriptions: null } },
  );
  return { figures, book: { ...book, platform: withoutSubscriptions } };
}

/** A platform for which the sandbox makes no subscriptions of its own. */
const withoutSubscriptions = 'SOMETHING_NEW';

/** The list answered 404 before it was ever read to its end. Its records here are incomplete and no longer updated. */
function readInPartAndNotOfferedAnyMore(): WorkedBook[] {
  const refund = addExpense('r', {
    ...{ vendor_id: 'a', transaction_date: '2026-11-02', expense_type: 'refund' },
    line_items: [{ total_amount: 5 }],
  });
  const bill = addBill('b', { issue_date: '2026-09-05', total_amount: 100 });
  const inPart = (name: string, resource: string): WorkedBook['figures'] => ({
    [`connections.freshness_status where name = ${name}`]: 'never_complete',
    [`connections.last_success_at where name = ${name}`]: null,
    [`connections.spend_read_until where name = ${name}`]: null,
    [`sync_health.freshness_status where resource = ${resource}`]: 'never_complete',
    [`sync_health.last_success_at where resource = ${resource}`]: null,
  });
  return [
    worked(
      'bills-in-part',
      { 0: [bill] },
      {
        ...inPart('bills-in-part', 'bills'),
        'sync_health.capability where resource = bills': 'unsupported',
        'sync_health.freshness_status where resource = bill_credit_memos': 'fresh',
        'vendor_spend_monthly.is_complete where vendor_id = a and spend_month = 2026-09-01': false,
      },
      { readDaysAgo: 0, withdrawn: { bills: null } },
    ),
    worked('refunds-in-part', { 0: [refund] }, inPart('refunds-in-part', 'expenses'), {
      ...{ readDaysAgo: 0, withdrawn: { refunds: null } },
    }),
    worked(
      'refunds-never-offered',
      { 0: [bill] },
      {
        'connections.freshness_status where name = refunds-never-offered': 'fresh',
        'connections.spend_read_until where name = refunds-never-offered': '2026-11-21',
        'sync_health.freshness_status where resource = expenses': 'fresh',
      },
      { readDaysAgo: 0, withdrawn: { refunds: null } },
    ),
  ];
}

/** Nothing is bought there: no list of purchases was ever offered, and none is missing. */
export function billingAlone(): WorkedBook {
  const { figures, book } = worked(
    'billing-alone',
    { 1: [addSubscription('s1', 'c1', 9)] },
    {
      'connections.is_spend_offered where name = billing-alone': false,
      'connections.spend_read_until where name = billing-alone': null,
      'connections.freshness_status where name = billing-alone': 'fresh',
    },
    {
      ...{ 1: 'complete', 0: 'complete', readDaysAgo: 0 },
      withdrawn: { bills: null, expenses: null, refunds: null, bill_credit_memos: null },
    },
  );
  return { figures, book: { ...book, platform: 'STRIPE' } };
}

/** Until each list was requested, it is unknown whether anything is bought there. */
export function billingNotAsked(): WorkedBook {
  const { figures, book } = worked(
    'billing-not-asked',
    { 1: [addSubscription('s1', 'c1', 9)] },
    {
      'connections.is_spend_offered where name = billing-not-asked': true,
      'connections.spend_read_until where name = billing-not-asked': null,
      'connections.freshness_status where name = billing-not-asked': 'never_complete',
    },
    {
      ...{ 1: 'complete', 0: 'complete', readDaysAgo: 0, unread: ['bills'] },
      withdrawn: { expenses: null, refunds: null, bill_credit_memos: null },
    },
  );
  return { figures, book: { ...book, platform: 'STRIPE' } };
}

function mistypedYears(): WorkedBook {
  return worked(
    'mistyped-years',
    {
      0: [
        addBill('b', { issue_date: '1926-11-05', total_amount: 10 }),
        addCredit('c', { issue_date: '1926-11-05', total_amount: 70 }),
        addExpense('e', { transaction_date: '2096-11-05', line_items: [{ total_amount: 90 }] }),
        addExpense('f', { transaction_date: '2026-11-05', line_items: [{ total_amount: 90 }] }),
      ],
    },
    { 'data_quality.failed_rows where check_name = date_out_of_range': 3 },
  );
}

/** Bills were last read on October 15, and today is November 22. The rest of October is unknown. */
function lastReadWithinAMonth(): WorkedBook {
  const of = (month: string, total_amount: number): BookEvent =>
    addBill(month, { vendor_id: 'v', issue_date: `${month}-05`, total_amount });
  return worked(
    'last-read',
    { 0: [of('2025-09', 100), of('2025-10', 100), of('2026-09', 50), of('2026-10', 20)] },
    {
      'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-09-01': true,
      'vendor_spend_monthly.year_over_year where vendor_id = v and spend_month = 2026-09-01': -0.5,
      'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-10-01': false,
      'vendor_spend_monthly.year_over_year where vendor_id = v and spend_month = 2026-10-01': null,
      'vendor_spend_monthly.spend_year_before where vendor_id = v and spend_month = 2026-10-01': 100,
      'ap_kpis_monthly.is_complete where month = 2026-09-01 and currency_code = NZD': true,
      'ap_kpis_monthly.is_complete where month = 2026-10-01 and currency_code = NZD': false,
    },
    { readDaysAgo: 38 },
  );
}

/** If read at noon of October 31, the rest of that day is unknown. If read as November begins, October is known. */
function lastReadAroundAMonthEnd(): WorkedBook[] {
  const bills = ['2025-10', '2026-10'].map((month) =>
    addBill(month, { vendor_id: 'v', issue_date: `${month}-05`, total_amount: 100 }),
  );
  return [
    { name: 'read-on-the-last-day', readDaysAgo: 22, isComplete: false },
    { name: 'read-after-the-last-day', readDaysAgo: 21.5, isComplete: true },
  ].map(({ name, readDaysAgo, isComplete }) =>
    worked(
      name,
      { 0: bills },
      {
        'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-10-01': isComplete,
        'vendor_spend_monthly.year_over_year where vendor_id = v and spend_month = 2026-10-01': isComplete
          ? 0
          : null,
        'spend_by_dimension_monthly.is_complete where dimension = class and spend_month = 2026-10-01':
          isComplete,
        'ap_kpis_monthly.is_complete where month = 2026-10-01 and currency_code = NZD': isComplete,
        'ap_kpis_monthly.is_complete where month = 2026-09-01 and currency_code = NZD': true,
      },
      { readDaysAgo },
    ),
  );
}

/** Two months were read to the end without any subscription, so the first one is new. */
function firstOfAll(): WorkedBook {
  const { book, figures } = worked(
    'first-subscription',
    {
      2: [addBill('b', { issue_date: '2026-09-05', total_amount: 1 })],
      0: [addSubscription('s1', 'c1', 100)],
    },
    {
      'mrr_movements_monthly.is_baseline where month = 2026-11-01': false,
      'mrr_movements_monthly.opening where month = 2026-11-01': 0,
      'mrr_movements_monthly.new where month = 2026-11-01': 100,
      'mrr_movements_monthly.closing where month = 2026-11-01': 100,
      'subscription_mrr_monthly.is_baseline where month = 2026-11-01': false,
    },
    { 2: 'complete', 1: 'complete', 0: 'complete' },
  );
  return { figures, book: { ...book, platform: withoutSubscriptions } };
}

/** Subscriptions were read on October 3, and then in November. Changes of October after its third day count in November. */
function readOnItsThirdDay(): WorkedBook {
  return worked(
    'read-on-the-third',
    { 2: [addSubscription('s1', 'c1', 100)], 0: [addSubscription('s2', 'c2', 50)] },
    {
      'mrr_movements_monthly.is_complete where month = 2026-09-01': true,
      'mrr_movements_monthly.observed_until where month = 2026-09-01': '2026-09-30',
      'mrr_movements_monthly.is_complete where month = 2026-10-01': false,
      'mrr_movements_monthly.is_observed where month = 2026-10-01': true,
      'mrr_movements_monthly.observed_until where month = 2026-10-01': '2026-10-03',
      'mrr_movements_monthly.closing where month = 2026-10-01': 100,
      'mrr_movements_monthly.new where month = 2026-11-01': 50,
      'mrr_movements_monthly.is_complete where month = 2026-11-01': false,
      'subscription_mrr_monthly.is_complete where month = 2026-09-01': true,
      'subscription_mrr_monthly.is_complete where month = 2026-10-01': false,
      'subscription_mrr_monthly.observed_until where month = 2026-10-01': '2026-10-03',
    },
    { 2: 'complete', 1: 'complete', 0: 'complete', observedUntil: { 1: 3 } },
  );
}

/** Rates and prices that are not numbers are unknown, and no seeded rate replaces them. */
function noNumbers(): WorkedBook {
  const foreign = (id: string, rate: string | null): BookEvent =>
    addBill(id, {
      ...{ issue_date: '2026-10-05', total_amount: 30 },
      ...{ currency_code: 'EUR', currency_rate: rate },
    });
  const priced = (id: string, bought: string, sold: string): BookEvent =>
    addItem(id, { bill_item: { unit_price: bought }, invoice_item: { unit_price: sold } });
  return worked(
    'no-numbers',
    {
      0: [
        ...[foreign('garbled', '1,0843'), foreign('seeded', null), foreign('empty', '')],
        ...[priced('pen', '1,234.50', 'ask'), priced('ink', '', '5')],
      ],
    },
    {
      'data_quality.failed_rows where check_name = unconverted_bill': 1,
      'data_quality.sample_ids where check_name = unconverted_bill': 'garbled',
      'data_quality.failed_rows where check_name = decimal_text_unreadable': 2,
      'data_quality.sample_ids where check_name = decimal_text_unreadable': 'garbled, pen',
      'items.has_unreadable_price where item_id = pen': true,
      'items.has_unreadable_price where item_id = ink': false,
      'items.sales_unit_price where item_id = pen': null,
    },
    { settings: { base_currency: 'USD', fx_direction: '' } },
  );
}

/** Lines of customers and items that are not here, and of no account. Joins must keep such lines. */
function ofUnknown(): WorkedBook {
  const buildLine = (item: string | null, customer: string | null): Values => ({
    ...{ total_amount: 10, customer_id: customer },
    ...(item !== null && { item: { id: item } }),
  });
  const bought = (id: string, line: Values): BookEvent =>
    addBill(id, { issue_date: '2026-10-05', total_amount: 10, line_items: [line] });
  return worked(
    'of-unknown',
    {
      0: [
        addItem('pen', {}),
        ...[bought('b1', buildLine('pen', null)), bought('b2', buildLine('ink', 'nobody'))],
        bought('b3', { ...buildLine(null, null), account_id: 'x' }),
        addExpense('e', { transaction_date: '2026-10-05', line_items: [buildLine(null, 'nobody')] }),
      ],
    },
    {
      'data_quality.failed_rows where check_name = line_of_unknown_item': 1,
      'data_quality.sample_ids where check_name = line_of_unknown_item': 'b2',
      'data_quality.failed_rows where check_name = line_of_unknown_customer': 2,
      'data_quality.sample_ids where check_name = line_of_unknown_customer': 'b2, e',
      'accounts.account_name where account_id = (none)': '(none)',
      'accounts.spend_lines where account_id = (none)': 3,
      'accounts.role where account_id = (none)': null,
      'accounts.spend_lines where account_id = x': 1,
    },
  );
}

/** A reconcile found three of five records gone, and asked. Until someone answers, they are in every figure, and marked. */
function awaitingDeletion(): WorkedBook {
  return worked(
    'awaiting-deletion',
    {
      0: [
        ...[addSubscription('ended', 'c1', 60), addSubscription('goes-on', 'c2', 40)],
        addBill('gone', { issue_date: '2026-11-05', total_amount: 100 }),
        addBill('there', { issue_date: '2026-11-05', total_amount: 10 }),
        addExpense('spent', {
          ...{ vendor_id: 'a', transaction_date: '2026-11-02' },
          line_items: [{ total_amount: 5 }],
        }),
      ],
    },
    {
      'data_quality.failed_rows where check_name = deletion_awaits_approval': 3,
      'data_quality.sample_ids where check_name = deletion_awaits_approval': 'ended, gone, spent',
      'subscription_mrr_monthly.awaits_deletion where subscription_id = ended': true,
      'subscription_mrr_monthly.awaits_deletion where subscription_id = goes-on': false,
      'subscription_mrr_monthly.mrr where month = 2026-11-01': 100,
      'bills.awaits_deletion where bill_id = gone': true,
      'bills.awaits_deletion where bill_id = there': false,
      'expenses.awaits_deletion where expense_id = spent': true,
      'vendor_spend_monthly.spend where spend_month = 2026-11-01': 115,
      'ap_ageing.open_bills where is_today = true': 110,
    },
    { 0: 'complete', waiting: { bills: ['gone'], expenses: ['spent'], subscriptions: ['ended'] } },
  );
}

/** One company authorized again, as a second connection. Everything in it counts twice, but bill 146 of another company does not. */
function companyTwice(): WorkedBook[] {
  const authorized = (name: string, other: number): WorkedBook =>
    worked(
      name,
      {
        0: [
          addBill('twice', { platform_id: '145', issue_date: '2026-10-05', total_amount: 1000 }),
          addBill('once', { platform_id: '146', issue_date: '2026-10-05', total_amount: other }),
          addBill('void', {
            ...{ platform_id: '147', issue_date: '2026-10-05', total_amount: 9, status: 'void' },
          }),
          addBill('undated', { platform_id: '148', issue_date: null, total_amount: 9 }),
        ],
      },
      {
        'bills.open_amount where bill_id = twice': 1000,
        'data_quality.failed_rows where check_name = company_twice': 1,
        'data_quality.sample_ids where check_name = company_twice': 'twice',
      },
    );
  return [authorized('authorized', 71), authorized('authorized-again', 72)];
}

/** A card buys for 100 and is paid off, and an expense pays a bill. The check reports the documents that repeat spend. */
function cardPaidOff(): WorkedBook {
  const spent = (id: string, account: string, line: string, amount: number): BookEvent =>
    addExpense(id, {
      ...{ vendor_id: id, account_id: account, transaction_date: '2026-10-10' },
      line_items: [{ account_id: line, total_amount: amount }],
    });
  return worked(
    'card-paid-off',
    {
      0: [
        addBill('b', { issue_date: '2026-10-05', account_id: 'ap', total_amount: 40 }),
        spent('trip', 'card', 'travel', 100),
        spent('pay-card', 'bank', 'card', 100),
        spent('pay-bill', 'bank', 'ap', 40),
        spent('remark', 'bank', 'card', 0),
      ],
    },
    {
      'vendor_spend_monthly.spend where spend_month = 2026-10-01': 280,
      'data_quality.failed_rows where check_name = spend_on_payment_account': 2,
      'data_quality.sample_ids where check_name = spend_on_payment_account': 'pay-bill, pay-card',
      'accounts.role where account_id = card': 'payment_source',
      'accounts.role where account_id = ap': 'ap_credit',
    },
  );
}
