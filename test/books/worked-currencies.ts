import {
  addBill,
  changeSubscription,
  addCredit,
  addExpense,
  addSubscription,
  worked,
  type WorkedBook,
} from './worked-book.ts';

/** Currencies as platforms write them (lower case, not in ISO 4217, with large amounts), and habits of payers. */
export function workedCurrencies(): WorkedBook[] {
  const october = { issue_date: '2026-10-05' };
  const observed = { 1: 'complete', 0: 'complete' } as const;
  const yearly = { items: [{ interval: 'year', interval_count: 1, quantity: 1, amount: 1000 }] };
  return [
    worked(
      'no-minor-units',
      {
        0: [
          addBill('ounce', {
            ...october,
            due_date: '2026-10-20',
            currency_code: 'XAU',
            total_amount: 0.0049,
          }),
          addSubscription('s1', 'c1', 0.004, 'BTC'),
        ],
      },
      {
        'bills.open_amount where bill_id = ounce': 0.0049,
        'bills.is_overdue where bill_id = ounce': true,
        'subscription_mrr_monthly.mrr where subscription_id = s1 and month = 2026-11-01': 0.004,
      },
      { 0: 'complete' },
    ),
    worked(
      'lower-case',
      {
        1: [
          addSubscription('s1', 'c1', 1000, 'vnd'),
          changeSubscription('s1', yearly),
          addBill('small', { ...october, currency_code: 'nzd', total_amount: 5 }),
          addBill('capital', { ...october, vendor_id: 'b', total_amount: 7 }),
        ],
      },
      {
        'subscription_mrr_monthly.mrr where subscription_id = s1 and month = 2026-11-01': 83,
        'subscription_mrr_monthly.currency_code where subscription_id = s1 and month = 2026-11-01': 'VND',
        'ap_kpis_monthly.open_ap_end where month = 2026-11-01 and currency_code = NZD': 12,
      },
      observed,
    ),
    worked(
      'dong',
      {
        1: [
          addSubscription('s1', 'c1', 5, 'VND'),
          changeSubscription('s1', {
            items: [
              { interval: 'month', interval_count: 1, quantity: 1, amount: null, unit_amount: 150_000_000 },
            ],
          }),
        ],
      },
      {
        'subscription_mrr_monthly.mrr where subscription_id = s1 and month = 2026-11-01': 150_000_000,
        'subscription_mrr_monthly.mrr_status where subscription_id = s1 and month = 2026-11-01': 'priced',
      },
      observed,
    ),
    settledByCredits(),
    manySmallLines(),
    foreignRateOfOne(),
  ];
}

/** Each line loses 0.34 cents to rounding: 60 x 1.12 = 67.20, and 60 x 1.1234 = 67.40. */
function manySmallLines(): WorkedBook {
  const lines = (count: number, total_amount: number) =>
    Array.from({ length: count }, () => ({ total_amount }));
  const november = { issue_date: '2026-11-02', currency_code: 'SGD', currency_rate: '1.1234' };
  return worked(
    'many-small-lines',
    {
      0: [
        addBill('many', { ...november, total_amount: 60, line_items: lines(60, 1) }),
        addBill('one', { ...november, vendor_id: 'b', total_amount: 60 }),
        addBill('ours', { ...november, vendor_id: 'c', currency_code: 'NZD', total_amount: 1.005 }),
        addBill('unrated', { ...november, vendor_id: 'd', currency_rate: null, total_amount: 60 }),
      ],
    },
    {
      'bills.total_amount_base where bill_id = many': 67.2,
      'bills.amount_due_base where bill_id = many': 67.4,
      'bills.base_rounding_amount where bill_id = many': -0.2,
      'vendor_spend_monthly.spend_base where vendor_id = a': 67.2,
      'ap_open_items.open_amount_base where is_today = true and document_id = many': 67.4,
      'bills.base_rounding_amount where bill_id = one': 0,
      'bills.base_rounding_amount where bill_id = ours': 0,
      'bills.base_rounding_amount where bill_id = unrated': null,
    },
    { settings: { base_currency: 'NZD', fx_direction: 'multiply' } },
  );
}

/** The books are kept in SGD, and the seed says NZD. Rates of QuickBooks are in SGD, so a document in SGD has the rate 1. */
function foreignRateOfOne(): WorkedBook {
  const november = { issue_date: '2026-11-02', total_amount: 100 };
  return worked(
    'foreign-rate-of-one',
    {
      0: [
        addBill('home', { ...november, currency_code: 'SGD', currency_rate: '1' }),
        addBill('foreign', { ...november, vendor_id: 'b', currency_code: 'VND', currency_rate: '0.86' }),
        addBill('same', { ...november, vendor_id: 'c', currency_rate: '1' }),
        addBill('void', { ...november, currency_code: 'SGD', currency_rate: '1', status: 'void' }),
        addExpense('card', {
          ...{ vendor_id: 'd', transaction_date: '2026-11-02', currency_code: 'SGD', currency_rate: 1 },
          line_items: [{ total_amount: 5 }],
        }),
      ],
    },
    {
      'bills.total_amount_base where bill_id = home': 100,
      'data_quality.failed_rows where check_name = foreign_rate_is_one': 2,
      'data_quality.sample_ids where check_name = foreign_rate_is_one': 'card, home',
    },
    { settings: { base_currency: 'NZD', fx_direction: '' } },
  );
}

/** One bill was paid 10 days late. Two were wrong, and credits settled them on the next day. */
function settledByCredits(): WorkedBook {
  const settled = { issue_date: '2026-09-01', due_date: '2026-09-30', total_amount: 100, amount_due: 0 };
  const on = (id: string, date: string) => ({ id, allocated_date: date, allocated_amount: 100 });
  const reversed = ['1', '2'].flatMap((place) => [
    addBill(`wrong-${place}`, {
      ...{ ...settled, status: 'paid', linked_credit_memos: [on(`credit-${place}`, '2026-09-02')] },
    }),
    addCredit(`credit-${place}`, {
      ...{ issue_date: '2026-09-02', total_amount: 100, remaining_amount: 0, status: 'paid' },
      linked_bills: [on(`wrong-${place}`, '2026-09-02')],
    }),
  ]);
  return worked(
    'settled-by-credits',
    {
      0: [
        addBill('late', { ...settled, status: 'paid', linked_payments: [on('p1', '2026-10-10')] }),
        ...reversed,
        addBill('next', { issue_date: '2026-11-20', due_date: '2026-12-20', total_amount: 5000 }),
      ],
    },
    {
      'cash_requirements.expected_amount where due_bucket = w05': 5000,
      'cash_requirements.expected_amount where due_bucket = w00': undefined,
      'bills.paid_off_date where bill_id = wrong-1': '2026-09-02',
    },
  );
}
