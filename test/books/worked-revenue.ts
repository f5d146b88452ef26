import {
  changeSubscription,
  deleteSubscription,
  monthlyItem,
  addSubscription,
  worked,
  type BookEvent,
  type DatedEvents,
  type Values,
  type WorkedBook,
} from './worked-book.ts';

/** Subscriptions of which history knows more, or less, than month ends show. */
export function workedRevenue(): WorkedBook[] {
  return [
    ...[emptied(), large(), ...paidWithinAMonth(), recordedAfterTheLastReading(), recordedOnceRead()],
    ...[prunedOfAMonthReadInPart(), prunedWithinAMonth(), learnedLate()],
  ];
}

const everyMonth = { 3: 'complete', 2: 'complete', 1: 'complete', 0: 'complete' } as const;

/** Amounts so large that a quotient takes all digits that an engine has. */
function large(): WorkedBook {
  return worked(
    'large',
    { 1: [addSubscription('s0', 'c0', 200_000_000_000), addSubscription('s1', 'c1', 9_000_000_000_000_000)] },
    {
      'subscription_mrr_monthly.mrr where month = 2026-11-01 and subscription_id = s0': 200_000_000_000,
      'subscription_mrr_monthly.mrr where month = 2026-11-01 and subscription_id = s1': 9_000_000_000_000_000,
    },
    everyMonth,
  );
}

/** A platform that empties the list of items on cancellation reveals no less than one that keeps it: who paid before is unknown. */
function emptied(): WorkedBook {
  return worked(
    'emptied',
    {
      3: [
        addSubscription('s0', 'c0', 1),
        ...addInactive('s1', 'c1', 'canceled'),
        ...addInactive('s2', 'c2', 'odd'),
      ],
      2: [...addInactive('s3', 'c3', 'paused'), ...addInactive('s4', 'c4', 'in_trial')],
      1: ['s1', 's2', 's3', 's4'].map((id) =>
        changeSubscription(id, { status: 'active', items: [monthlyItem(100)] }),
      ),
      0: [changeSubscription('s1', { status: 'canceled', items: [] })],
    },
    {
      ...Object.fromEntries(
        ['c1', 'c2', 'c3'].flatMap((customer) => {
          const of = `where month = 2026-10-01 and platform_customer_id = ${customer}`;
          return [
            [`mrr_movements_monthly.opening ${of}`, 0],
            [`mrr_movements_monthly.new ${of}`, null],
            [`mrr_movements_monthly.reactivation ${of}`, null],
            [`mrr_movements_monthly.expansion ${of}`, 0],
            [`mrr_movements_monthly.closing ${of}`, 100],
          ];
        }),
      ),
      'mrr_movements_monthly.new where month = 2026-10-01 and platform_customer_id = c4': 100,
      'mrr_movements_monthly.churn where month = 2026-11-01 and platform_customer_id = c1': -100,
      // A subscription without items has no row.
      'subscription_mrr_monthly.mrr where month = 2026-08-01': 1,
      'subscription_mrr_monthly.mrr where month = 2026-11-01 and subscription_id = s1': undefined,
      'mrr_movements_monthly.closing where month = 2026-08-01': 1,
      'mrr_movements_monthly.closing where currency_code = null': undefined,
    },
    everyMonth,
  );
}

function addInactive(id: string, customer: string, status: string): BookEvent[] {
  return [addSubscription(id, customer, 100), changeSubscription(id, { status, items: [] })];
}

/** An amount paid during October, and no longer at its end, was paid before November. */
function paidWithinAMonth(): WorkedBook[] {
  return [
    worked(
      'paid-within-a-month',
      [
        {
          monthsAgo: 2,
          at: 0,
          events: ['s1', 's2', 's3'].map((id, of) => addSubscription(id, `c${of + 1}`, 0)),
        },
        {
          ...{ monthsAgo: 1, at: 0.2 },
          events: [
            changePrice('s1', 100),
            changeSubscription('s2', { status: 'odd', items: [monthlyItem(100)] }),
          ],
        },
        {
          monthsAgo: 1,
          at: 0.7,
          events: [changePrice('s1', 0), changeSubscription('s2', { status: 'in_trial' })],
        },
        {
          monthsAgo: 0,
          at: 0.2,
          events: [
            changePrice('s1', 100),
            changeSubscription('s2', { status: 'active' }),
            changePrice('s3', 30),
          ],
        },
        { monthsAgo: 0, at: 0.5, events: [changePrice('s3', 0)] },
        { monthsAgo: 0, at: 0.9, events: [changePrice('s3', 40)] },
      ],
      {
        'mrr_movements_monthly.new where month = 2026-10-01': 0,
        'mrr_movements_monthly.closing where month = 2026-10-01': 0,
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c1': 0,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c1': 100,
        // Whether an odd status is paid is unknown.
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c2': null,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c2': null,
        // Nothing had been paid when November began.
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c3': 40,
      },
      everyMonth,
    ),
    worked(
      'paused-in-its-first-month',
      [
        { monthsAgo: 3, at: 0, events: [addSubscription('s0', 'c0', 1)] },
        {
          monthsAgo: 1,
          at: 0.1,
          events: [addSubscription('s1', 'c1', 100), changeSubscription('s1', { status: 'in_trial' })],
        },
        { monthsAgo: 1, at: 0.2, events: [changeSubscription('s1', { status: 'active' })] },
        { monthsAgo: 1, at: 0.7, events: [changeSubscription('s1', { status: 'paused' })] },
        { monthsAgo: 0, at: 0, events: [changeSubscription('s1', { status: 'active' })] },
      ],
      {
        'mrr_movements_monthly.closing where month = 2026-10-01 and platform_customer_id = c1': 0,
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c1': 0,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c1': 100,
      },
      everyMonth,
    ),
  ];
}

function changePrice(id: string, amount: number): BookEvent {
  return changeSubscription(id, { items: [monthlyItem(amount)] });
}

/**
 * A sync of October 16 landed a page and failed, as did all others until November, and all after its third day. Each month is shown as of
 * its third day.
 */
function recordedAfterTheLastReading(): WorkedBook {
  return worked(
    'recorded-after-the-last-reading',
    [
      {
        ...{ monthsAgo: 2, at: 0 },
        events: [
          addSubscription('s1', 'c1', 100),
          addSubscription('s2', 'c2', 20),
          addSubscription('s3', 'c3', 3),
        ],
      },
      {
        monthsAgo: 1,
        at: 0.5,
        events: [addSubscription('s4', 'c4', 50), changePrice('s2', 25), deleteSubscription('s3')],
      },
      // Before the third of November.
      { monthsAgo: 0, at: 0.05, events: [changePrice('s2', 30)] },
      { monthsAgo: 0, at: 0.5, events: [addSubscription('s5', 'c5', 7), changePrice('s4', 60)] },
    ],
    {
      'mrr_movements_monthly.observed_until where month = 2026-10-01': '2026-10-03',
      'mrr_movements_monthly.closing where month = 2026-10-01': 123,
      'mrr_movements_monthly.new where month = 2026-10-01': 0,
      'mrr_movements_monthly.closing where platform_customer_id = c4 and month = 2026-10-01': undefined,
      'subscription_mrr_monthly.mrr where month = 2026-10-01': 123,
      'mrr_movements_monthly.opening where month = 2026-11-01 and platform_customer_id = c2': 20,
      'mrr_movements_monthly.expansion where month = 2026-11-01 and platform_customer_id = c2': 10,
      'mrr_movements_monthly.churn where month = 2026-11-01': -3,
      'mrr_movements_monthly.new where month = 2026-11-01': 50,
      'mrr_movements_monthly.closing where month = 2026-11-01': 180,
      'subscription_mrr_monthly.mrr where month = 2026-11-01': 180,
    },
    { ...everyMonth, observedUntil: { 1: 3, 0: 3 } },
  );
}

/** The month after was not read either. It opens with the state in history, and reports no movement. */
function recordedOnceRead(): WorkedBook {
  const datedEvents: DatedEvents[] = [
    { monthsAgo: 3, at: 0, events: [addSubscription('s1', 'c1', 100)] },
    { monthsAgo: 2, at: 0.5, events: [changePrice('s1', 150)] },
    { monthsAgo: 0, at: 0.5, events: [changePrice('s1', 160)] },
  ];
  return worked(
    'recorded-once-read',
    datedEvents,
    {
      'mrr_movements_monthly.closing where month = 2026-09-01': 100,
      'mrr_movements_monthly.closing where month = 2026-10-01': null,
      'mrr_movements_monthly.opening where month = 2026-11-01': 150,
      'mrr_movements_monthly.expansion where month = 2026-11-01': 10,
      'mrr_movements_monthly.closing where month = 2026-11-01': 160,
    },
    { 3: 'complete', 2: 'complete', 1: 'incomplete', 0: 'complete', observedUntil: { 2: 3 } },
  );
}

/** The state at the end of October, as of the third, was replaced by versions that a sync landed on the 16th before it failed, and is gone. */
function prunedOfAMonthReadInPart(): WorkedBook {
  return worked(
    'pruned-of-a-month-read-in-part',
    [
      { monthsAgo: 2, at: 0, events: [addSubscription('s1', 'c1', 100)] },
      { monthsAgo: 1, at: 0.5, events: [changePrice('s1', 150)] },
      { monthsAgo: 0, at: 0.5, events: [changePrice('s1', 160)] },
    ],
    {
      'mrr_movements_monthly.closing where month = 2026-10-01': null,
      'mrr_movements_monthly.is_observed where month = 2026-10-01': false,
      'mrr_movements_monthly.is_baseline where month = 2026-11-01': true,
      'mrr_movements_monthly.opening where month = 2026-11-01': 160,
      'mrr_movements_monthly.new where month = 2026-11-01': 0,
      'mrr_movements_monthly.closing where month = 2026-11-01': 160,
    },
    { 2: 'complete', 1: 'complete', 0: 'complete', observedUntil: { 1: 3 }, prunedAgainUntil },
  );
}

/** The version paid during October, and no longer at its end, is gone. Every month is shown, but who is new is unknown. */
function prunedWithinAMonth(): WorkedBook {
  return worked(
    'pruned-within-a-month',
    [
      { monthsAgo: 2, at: 0, events: [addSubscription('s0', 'c0', 7)] },
      { monthsAgo: 1, at: 0.1, events: [addSubscription('s1', 'c1', 100)] },
      { monthsAgo: 1, at: 0.6, events: [changePrice('s1', 0)] },
      { monthsAgo: 0, at: 0.5, events: [changePrice('s1', 100)] },
    ],
    {
      'mrr_movements_monthly.closing where month = 2026-09-01': 7,
      'mrr_movements_monthly.closing where month = 2026-10-01': 7,
      'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c1': null,
      'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c1': null,
      'mrr_movements_monthly.expansion where month = 2026-11-01 and platform_customer_id = c1': 0,
      'mrr_movements_monthly.closing where month = 2026-11-01': 107,
    },
    { 2: 'complete', 1: 'complete', 0: 'complete', prunedAgainUntil },
  );
}

const prunedAgainUntil = '2026-10-25';

/** A service copies old records in batches, over days. Those that came after the month in which history begins are new only to Daybook. */
function learnedLate(): WorkedBook {
  const created = (id: string, customer: string, on: string, values: Values = {}): BookEvent =>
    addSubscription(id, customer, 100, 'NZD', { created_at: `${on}Z`, ...values });
  const of = (customer: string, month = '2026-10-01'): string =>
    `where month = ${month} and platform_customer_id = ${customer}`;
  return worked(
    'learned-late',
    {
      2: [created('s0', 'c0', '2024-05-05T00:00:00')],
      1: [
        created('s1', 'c1', '2024-05-05T00:00:00'),
        created('s2', 'c2', '2026-09-01T00:00:00'),
        created('s3', 'c3', '2026-08-31T23:59:59'),
        created('s4', 'c4', '2024-05-05T00:00:00', { status: 'in_trial' }),
        // A customer who already paid is not new, whatever record came late.
        created('s5', 'c0', '2024-05-05T00:00:00'),
        addSubscription('s6', 'c6', 100),
      ],
      0: [deleteSubscription('s1'), changeSubscription('s4', { status: 'active' })],
    },
    {
      [`mrr_movements_monthly.opening ${of('c1')}`]: 0,
      [`mrr_movements_monthly.new ${of('c1')}`]: null,
      [`mrr_movements_monthly.reactivation ${of('c1')}`]: null,
      [`mrr_movements_monthly.expansion ${of('c1')}`]: 0,
      [`mrr_movements_monthly.closing ${of('c1')}`]: 100,
      // The same holds for a deleted one.
      [`mrr_movements_monthly.churn ${of('c1', '2026-11-01')}`]: -100,
      [`mrr_movements_monthly.new ${of('c2')}`]: 100,
      [`mrr_movements_monthly.new ${of('c3')}`]: null,
      [`mrr_movements_monthly.new ${of('c4', '2026-11-01')}`]: 100,
      [`mrr_movements_monthly.expansion ${of('c0')}`]: 100,
      [`mrr_movements_monthly.new ${of('c6')}`]: 100,
      'data_quality.failed_rows where check_name = subscription_learned_late': 3,
      'data_quality.sample_ids where check_name = subscription_learned_late': 's3, s4, s5',
    },
    { 2: 'complete', 1: 'complete', 0: 'complete' },
  );
}
