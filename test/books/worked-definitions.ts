import {
  addBill,
  changeSubscription,
  addCredit,
  addExpense,
  deleteSubscription,
  addSubscription,
  worked,
  type WorkedBook,
} from './worked-book.ts';

/** Documents for which models and calculator agreed and were both wrong, because the definition was. */
export function workedDefinitions(): WorkedBook[] {
  return [...recurringRevenue(), ...owed(), ...creditLinks(), ...spend(), ...payments()];
}

const everyMonth = { 3: 'complete', 2: 'complete', 1: 'complete', 0: 'complete' } as const;

function recurringRevenue(): WorkedBook[] {
  return [
    worked(
      'status-nobody-knows',
      {
        3: [addSubscription('s1', 'c1', 100), addSubscription('s2', 'c2', 30)],
        2: [changeSubscription('s1', { status: 'past_due' })],
        1: [changeSubscription('s1', { status: 'active' })],
        0: [changeSubscription('s1', { status: 'canceled' })],
      },
      {
        'subscription_mrr_monthly.mrr where month = 2026-09-01 and subscription_id = s1': null,
        'subscription_mrr_monthly.mrr_status where month = 2026-09-01 and subscription_id = s1':
          'unknown_status',
        'mrr_movements_monthly.opening where month = 2026-09-01 and platform_customer_id = c1': 100,
        'mrr_movements_monthly.churn where month = 2026-09-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.closing where month = 2026-09-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.unpriced_items where month = 2026-09-01': 1,
        'mrr_movements_monthly.reactivation where month = 2026-10-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.closing where month = 2026-10-01 and platform_customer_id = c1': 100,
        'mrr_movements_monthly.churn where month = 2026-11-01': -100,
        'mrr_movements_monthly.closing where month = 2026-09-01 and platform_customer_id = c2': 30,
        'data_quality.failed_rows where check_name = unknown_subscription_status': 0,
      },
      everyMonth,
    ),
    worked(
      'once-in-an-eon',
      {
        1: [
          addSubscription('s1', 'c1', 100),
          changeSubscription('s1', { items: hugeIntervals }),
          addSubscription('s2', 'c2', 30),
        ],
        0: [changeSubscription('s1', { items: [itemPerInterval('year', 1200)] })],
      },
      {
        ...Object.fromEntries(
          [0, 1, 2, 3].map((position) => [
            `subscription_mrr_monthly.mrr_status where month = 2026-10-01 and subscription_id = s1 and position = ${position}`,
            'unknown_interval',
          ]),
        ),
        'subscription_mrr_monthly.interval_count where month = 2026-10-01 and position = 4': 9999,
        'subscription_mrr_monthly.mrr where month = 2026-10-01 and position = 4': 0.01,
        'mrr_movements_monthly.unpriced_items where month = 2026-10-01': 4,
        'mrr_movements_monthly.closing where month = 2026-10-01 and platform_customer_id = c2': 30,
        'mrr_movements_monthly.closing where month = 2026-11-01 and platform_customer_id = c1': 100,
      },
      everyMonth,
    ),
    worked(
      'setup-for-nothing',
      {
        1: [addSubscription('s1', 'c1', 100)],
        0: [
          changeSubscription('s1', {
            items: [itemPerInterval('month', 100), itemPerInterval('once', 0), discounted],
          }),
        ],
      },
      {
        'mrr_movements_monthly.closing where month = 2026-11-01': 124,
        'mrr_movements_monthly.unpriced_items where month = 2026-11-01': 0,
        'subscription_mrr_monthly.period_amount_variance where month = 2026-11-01 and position = 2': -6,
        'data_quality.failed_rows where check_name = unpriced_subscription': 0,
        'data_quality.failed_rows where check_name = item_amount_unexplained': 1,
      },
      everyMonth,
    ),
    worked(
      'a-quarter',
      {
        2: [addSubscription('s1', 'c1', 100)],
        1: [changeSubscription('s1', { items: [itemPerInterval('quarter', 300)] })],
        0: [changeSubscription('s1', { items: [itemPerInterval('month', 100)] })],
      },
      {
        'mrr_movements_monthly.churn where month = 2026-10-01': null,
        'mrr_movements_monthly.closing where month = 2026-10-01': null,
        'mrr_movements_monthly.unpriced_items where month = 2026-10-01': 1,
        'mrr_movements_monthly.reactivation where month = 2026-11-01': null,
        'mrr_movements_monthly.closing where month = 2026-11-01': 100,
        'data_quality.failed_rows where check_name = unpriced_subscription': 0,
      },
      everyMonth,
    ),
    worked(
      'lost-or-not',
      {
        2: [addSubscription('s1', 'c1', 100), addSubscription('s2', 'c1', 40, 'SGD')],
        1: [deleteSubscription('s1'), changeSubscription('s2', { status: 'odd' })],
        0: [deleteSubscription('s2'), addSubscription('s3', 'c2', 5, 'NZD')],
      },
      {
        'mrr_movements_monthly.closing where month = 2026-10-01 and currency_code = NZD': 0,
        'mrr_movements_monthly.churn where month = 2026-10-01 and currency_code = NZD': null,
        'mrr_movements_monthly.contraction where month = 2026-10-01 and currency_code = NZD': null,
        'mrr_movements_monthly.churn where month = 2026-11-01 and currency_code = SGD': null,
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c2': 5,
      },
      everyMonth,
    ),
    worked(
      'new-or-back',
      {
        2: [addSubscription('s0', 'c0', 1), addSubscription('s1', 'c1', 100)],
        1: [deleteSubscription('s0')],
        0: [addSubscription('s2', 'c0', 7)],
      },
      {
        'mrr_movements_monthly.churn where month = 2026-10-01 and platform_customer_id = c0': -1,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c0': 7,
      },
      everyMonth,
    ),
    worked(
      'paused',
      {
        2: [addSubscription('s1', 'c1', 100)],
        1: [changeSubscription('s1', { status: 'paused' })],
        0: [changeSubscription('s1', { status: 'active' })],
      },
      {
        'mrr_movements_monthly.churn where month = 2026-10-01': -100,
        'mrr_movements_monthly.reactivation where month = 2026-11-01': 100,
      },
      everyMonth,
    ),
  ];
}

function owed(): WorkedBook[] {
  const due = { issue_date: '2026-10-01', due_date: '2026-10-31' };
  return [
    worked(
      'owed-back',
      {
        0: [
          addBill('owed', { ...due, total_amount: 100 }),
          addBill('negative', { ...due, vendor_id: 'b', total_amount: -100 }),
          addBill('overpaid', {
            ...{ ...due, vendor_id: 'c', total_amount: 50, amount_due: -80, status: 'paid' },
            linked_payments: [{ id: 'p1', allocated_date: '2026-10-31', allocated_amount: 130 }],
          }),
          addBill('ahead', { issue_date: '2026-11-28', due_date: '2026-11-30', total_amount: 20 }),
          addBill('negative-ahead', { issue_date: '2026-11-28', due_date: '2026-11-30', total_amount: -5 }),
          addCredit('memo', { issue_date: '2026-10-01', total_amount: 7 }),
        ],
      },
      {
        'ap_ageing.overdue_amount where is_today = true': 100,
        'ap_ageing.overdue_share where is_today = true and vendor_id = a': 1,
        'ap_ageing.overdue_share where is_today = true and vendor_id = b': null,
        'ap_ageing.days_1_30 where is_today = true': 100,
        'ap_ageing.open_bills where is_today = true': 100,
        'ap_ageing.unapplied_credits where is_today = true': -187,
        'ap_ageing.no_due_date where is_today = true': -187,
        'ap_ageing.total_open where is_today = true': -87,
        'ap_open_items.is_credit where is_today = true and document_id = negative': true,
        'ap_open_items.is_credit where is_today = true and document_id = owed': false,
        'ap_open_items.days_past_due where is_today = true and document_id = overpaid': null,
        'ap_kpis_monthly.open_ap_end where month = 2026-11-01': 100,
        'ap_kpis_monthly.unapplied_credits where month = 2026-11-01': -187,
        'ap_kpis_monthly.overdue_share where month = 2026-11-01': 1,
        'cash_requirements.amount_due where due_bucket = overdue': 100,
        'cash_requirements.amount_due where due_bucket = unapplied_credits': -187,
        'cash_requirements.dated_ahead where due_bucket = w01': 20,
        'bills.open_amount where is_open = true': 100,
        'bills.owed_back_amount where bill_id = negative': 100,
        'bills.owed_back_amount where bill_id = overpaid': 80,
        'bills.owed_back_amount where bill_id = owed': 0,
        'bills.owed_back_amount where bill_id = negative-ahead': 0,
        'bills.is_overdue where bill_id = negative': false,
      },
    ),
  ];
}

function creditLinks(): WorkedBook[] {
  const applied = (id: string, date: string, amount: number): object => ({
    ...{ id, allocated_date: date, allocated_amount: amount },
  });
  const lowered = (
    name: string,
    byBill: readonly object[],
    byCredit: readonly object[],
    open: readonly number[],
  ) =>
    worked(
      name,
      {
        0: [
          addBill('bill', {
            ...{ issue_date: '2026-10-01', total_amount: 100, amount_due: 70, status: 'partially_paid' },
            linked_credit_memos: byBill,
          }),
          addCredit('memo', {
            ...{ issue_date: '2026-10-05', total_amount: 30, remaining_amount: 0, status: 'paid' },
            linked_bills: byCredit,
          }),
        ],
      },
      {
        'ap_ageing.open_bills where as_of_date = 2026-10-31': open[0],
        'ap_ageing.unapplied_credits where as_of_date = 2026-10-31': open[1],
        'ap_ageing.total_open where as_of_date = 2026-10-31': 70,
        'ap_ageing.total_open where is_today = true': 70,
        'data_quality.failed_rows where check_name = credit_allocation_one_sided': 0,
      },
    );
  const [october, november] = ['2026-10-10', '2026-11-10'];
  const between = (name: string, days: { bill: string; credit: string; applied: string }, total: number) =>
    worked(
      name,
      {
        0: [
          addBill('bill', {
            ...{ issue_date: days.bill, total_amount: 100, amount_due: 70, status: 'partially_paid' },
            linked_credit_memos: [applied('memo', days.applied, 30)],
          }),
          addCredit('memo', {
            ...{ issue_date: days.credit, total_amount: 30, remaining_amount: 0, status: 'paid' },
            linked_bills: [applied('bill', days.applied, 30)],
          }),
        ],
      },
      {
        'ap_ageing.total_open where as_of_date = 2026-10-31': total,
        'ap_ageing.total_open where is_today = true': 70,
      },
    );
  return [
    lowered(
      'split-by-the-credit',
      [applied('memo', october, 30)],
      [applied('bill', october, 15), applied('bill', november, 15)],
      [70, 0],
    ),
    lowered(
      'split-by-the-bill',
      [applied('memo', october, 15), applied('memo', november, 15)],
      [applied('bill', october, 30)],
      [85, -15],
    ),
    lowered(
      'split-otherwise',
      [applied('memo', october, 10), applied('memo', november, 20)],
      [applied('bill', october, 20), applied('bill', november, 10)],
      [90, -20],
    ),
    between('before-the-credit', { bill: '2026-10-01', credit: '2026-11-05', applied: october }, 100),
    between('before-the-bill', { bill: '2026-11-15', credit: '2026-10-01', applied: '2026-10-01' }, -30),
  ];
}

function spend(): WorkedBook[] {
  const reversed = { total_amount: 100, sub_total: 100, issue_date: '2026-10-05' };
  const line = { account_id: 'office', sub_total: 100, tax_amount: 19, total_amount: 100 };
  return [
    worked(
      'credit-with-more',
      {
        0: [
          addCredit('memo', {
            issue_date: '2026-10-06',
            total_amount: 119,
            line_items: [{ total_amount: 100 }],
          }),
        ],
      },
      {
        'spend_lines.gross_amount where document_id = memo': -119,
        'spend_lines.net_amount where document_id = memo and position = 0': -100,
        'spend_lines.net_amount where document_id = memo': null,
        'data_quality.failed_rows where check_name = credit_lines_differ_from_header': 1,
      },
    ),
    worked(
      'reverse-charge',
      {
        0: [
          addBill('silent', { ...reversed, line_items: [line] }),
          addBill('told', { ...reversed, tax_amount: 19, line_items: [line] }),
          addBill('on-top', { ...reversed, total_amount: 119, tax_amount: 19, line_items: [line] }),
          addCredit('back', { issue_date: '2026-10-06', total_amount: 100, line_items: [line] }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = silent': 100,
        'spend_lines.net_amount where document_id = told': 100,
        'spend_lines.net_amount where document_id = on-top': 100,
        // A credit may also have prices that include tax.
        'spend_lines.net_amount where document_id = back': null,
        'spend_lines.gross_amount where document_id = back': -100,
        'bill_lines.gross_amount where bill_id = silent': 100,
        'bill_lines.tax_treatment where bill_id = silent': 'not_charged',
        'spend_by_dimension_monthly.spend where dimension = account and dimension_id = office': 219,
        'data_quality.failed_rows where check_name = lines_differ_from_header': 0,
      },
    ),
    worked(
      'subtotal-of-a-line',
      {
        0: [
          addBill('more', {
            ...{ issue_date: '2026-10-05', total_amount: 119 },
            line_items: [{ sub_total: 100, total_amount: 119 }],
          }),
        ],
      },
      {
        'bill_lines.gross_amount where bill_id = more': 119,
        'bill_lines.net_amount where bill_id = more': null,
        'data_quality.failed_rows where check_name = unknown_tax_treatment': 1,
      },
    ),
    worked(
      'one-id',
      {
        0: [
          addBill('x', { issue_date: '2026-10-05', total_amount: 10 }),
          addExpense('x', {
            vendor_id: 'a',
            transaction_date: '2026-10-20',
            line_items: [{ total_amount: 3 }],
          }),
        ],
      },
      { 'vendor_spend_monthly.document_count where spend_month = 2026-10-01': 2 },
    ),
    worked(
      'two-currencies',
      {
        0: [
          addBill('one', { document_number: 'INV-0042', issue_date: '2026-10-05', total_amount: 100 }),
          addBill('two', {
            ...{
              document_number: 'INV-42',
              issue_date: '2026-10-08',
              total_amount: 90,
              currency_code: 'SGD',
            },
          }),
        ],
      },
      {
        'duplicate_bills.rule where bill_id_a = one': 'same_number',
        'duplicate_bills.currency_code where bill_id_a = one': 'NZD',
        'duplicate_bills.currency_code_b where bill_id_a = one': 'SGD',
        'duplicate_bills.amount_b where bill_id_a = one': 90,
      },
    ),
  ];
}

function payments(): WorkedBook[] {
  const settled = {
    issue_date: '2026-09-10',
    due_date: '2026-10-10',
    total_amount: 100,
    amount_due: 0,
    status: 'paid',
  };
  const paid = (id: string, date: string | null, amount: number): object => ({
    ...{ id, allocated_date: date, allocated_amount: amount },
  });
  return [
    worked(
      'habit',
      {
        0: [
          addBill('zero', {
            ...settled,
            linked_payments: [paid('p1', '2026-10-10', 100), paid('p2', '2026-11-20', 0)],
          }),
          addBill('undone', {
            ...{ ...settled, vendor_id: 'b' },
            linked_payments: [
              paid('p3', '2026-10-10', 100),
              paid('p4', '2026-11-15', 100),
              paid('p5', '2026-11-15', -100),
            ],
          }),
          addBill('twice', {
            ...{ ...settled, vendor_id: 'c' },
            linked_payments: [
              paid('p6', '2026-10-10', 100),
              paid('p7', '2026-11-14', 100),
              paid('p8', '2026-11-15', -100),
            ],
          }),
          addBill('bounced', {
            ...{ ...settled, vendor_id: 'd' },
            linked_payments: [
              paid('p9', '2026-10-10', 100),
              paid('p10', '2026-10-12', -100),
              paid('p11', '2026-10-20', 100),
            ],
          }),
          ...['a', 'b', 'c', 'd'].map((vendor) =>
            addBill(`open-${vendor}`, {
              ...{ vendor_id: vendor, issue_date: '2026-11-20', due_date: '2026-11-24', total_amount: 7 },
            }),
          ),
        ],
      },
      {
        'cash_requirements.expected_amount where due_bucket = w00': 21,
        'cash_requirements.expected_amount where due_bucket = w01': 7,
        'bills.paid_off_date where bill_id = zero': '2026-10-10',
        'bills.paid_off_date where bill_id = bounced': '2026-10-20',
        'bills.last_payment_date where bill_id = zero': '2026-11-20',
        'bills.days_to_pay where bill_id = undone': 30,
      },
    ),
    worked(
      'deposit',
      {
        0: [
          addBill('half', {
            ...{ vendor_id: 'h', issue_date: '2026-09-10', due_date: '2026-10-10', total_amount: 100 },
            ...{ amount_due: 60, status: 'partially_paid', linked_payments: [paid('p1', '2026-10-10', 40)] },
          }),
          addBill('done', {
            ...{ ...settled, issue_date: '2026-09-01', due_date: '2026-10-10' },
            linked_payments: [paid('p2', '2026-09-01', 5)],
            linked_credit_memos: [paid('memo', '2026-11-20', 95)],
          }),
          addCredit('memo', {
            ...{ issue_date: '2026-11-19', total_amount: 95, remaining_amount: 0, status: 'paid' },
            linked_bills: [paid('done', '2026-11-20', 95)],
          }),
          addBill('cancelled', {
            ...{ ...settled, vendor_id: 'v', due_date: '2026-10-10', status: 'void' },
            linked_payments: [paid('p3', '2026-10-01', 100)],
          }),
          addBill('next', { issue_date: '2026-11-20', due_date: '2026-12-29', total_amount: 5000 }),
        ],
      },
      {
        'bills.paid_off_date where bill_id = half': null,
        'bills.paid_off_date where bill_id = done': '2026-11-20',
        'bills.days_to_pay where bill_id = done': 80,
        'bills.paid_off_date where bill_id = cancelled': null,
        'cash_requirements.expected_amount where due_bucket = w00': undefined,
      },
    ),
    worked(
      'settled-without-a-link',
      {
        0: [
          addBill('discounted', {
            ...{ ...settled, issue_date: '2026-10-01' },
            linked_payments: [paid('p1', '2026-11-10', 98)],
          }),
        ],
      },
      {
        'bills.has_unexplained_amount where bill_id = discounted': true,
        'bills.unexplained_amount where bill_id = discounted': 2,
        'ap_ageing.open_bills where as_of_date = 2026-10-31': 98,
      },
    ),
    worked(
      'untold-payments',
      {
        0: ['08', '09', '10'].map((month) =>
          addBill(`b${month}`, {
            ...{ issue_date: `2026-${month}-05`, due_date: `2026-${month}-28` },
            ...{ total_amount: 1000, amount_due: 0, status: 'paid', linked_payments: [] },
          }),
        ),
      },
      {
        'ap_kpis_monthly.open_ap_end where month = 2026-10-01': 0,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 3,
        'ap_kpis_monthly.unexplained_count where month = 2026-08-01': 1,
        'ap_kpis_monthly.unexplained_count where month = 2026-11-01': 0,
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-10-01': null,
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': null,
      },
    ),
    ...(['linked_payments', 'linked_credit_memos'] as const).map((by) =>
      worked(
        `settled-by-undated-${by.replaceAll('_', '-')}`,
        {
          0: ['08', '09', '10'].map((month) =>
            addBill(`b${month}`, {
              ...{ issue_date: `2026-${month}-05`, due_date: `2026-${month}-28` },
              ...{ total_amount: 1000, amount_due: 0, status: 'paid', [by]: [paid(`p${month}`, null, 1000)] },
            }),
          ),
        },
        {
          'ap_kpis_monthly.open_ap_end where month = 2026-10-01': 0,
          'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 3,
          'ap_kpis_monthly.unexplained_count where month = 2026-11-01': 0,
          'ap_kpis_monthly.days_payable_outstanding where month = 2026-10-01': null,
          'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': null,
        },
      ),
    ),
    worked(
      'settled-in-silence-before',
      {
        0: [
          addBill('silent', {
            ...{ issue_date: '2026-06-01', due_date: '2026-06-30', total_amount: 300, amount_due: 0 },
            ...{ status: 'paid', linked_payments: [] },
          }),
          addBill('at-once', {
            ...{ issue_date: '2026-10-05', due_date: '2026-10-28', total_amount: 100, amount_due: 0 },
            ...{ status: 'paid', linked_payments: [paid('p1', '2026-10-05', 100)] },
          }),
        ],
      },
      {
        // 0 days if it was settled by September; 600 / 3 / 100 x 83 = 166 if in November.
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': null,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
      },
    ),
    worked(
      'discounted-before',
      {
        0: [
          addBill('discounted', {
            ...{ issue_date: '2026-06-01', due_date: '2026-06-30', total_amount: 300, amount_due: 0 },
            ...{ status: 'paid', linked_payments: [paid('p1', '2026-06-10', 299)] },
          }),
          addBill('open', { issue_date: '2026-09-05', total_amount: 200 }),
        ],
      },
      {
        // 83 days, or 2 / 3 / 200 x 83 = 0.28 more.
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': 83,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
      },
    ),
    worked(
      'due-some-day',
      {
        0: [
          addBill('late', { ...settled, linked_payments: [paid('p1', '2026-11-10', 100)] }),
          addBill('some-day', {
            ...{ ...settled, total_amount: 300, due_date: null },
            linked_payments: [paid('p2', '2026-11-10', 300)],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid_late_share where month = 2026-11-01': 1,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-11-01': 61,
      },
    ),
  ];
}

/** Intervals that fit in the bigint of the warehouse, of which twelve times as many fit in none. An interval above 9,999 is invalid. */
const hugeIntervals = [
  { ...itemPerInterval('year', 100), interval_count: 1e18 },
  { ...itemPerInterval('week', 100), interval_count: 9_223_372_036_854_774_784 },
  { ...itemPerInterval('month', 100), interval_count: -9_223_372_036_854_774_784 },
  { ...itemPerInterval('day', 100), interval_count: 10_000 },
  { ...itemPerInterval('month', 100), interval_count: 9_999 },
];

/** 3 of 10 each, for 24. */
const discounted = { interval: 'month', interval_count: 1, quantity: 3, amount: 24, unit_amount: 10 };

function itemPerInterval(interval: string, amount: number): object {
  return { interval, interval_count: 1, quantity: 1, amount, unit_amount: amount };
}
