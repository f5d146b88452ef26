import { addBill, addCredit, worked, type BookEvent, type Values, type WorkedBook } from './worked-book.ts';

/** The effects of payments, credits and refunds: scheduled ones, bounced ones, and documents below 0. */
export function workedSettlements(): WorkedBook[] {
  return [
    ...[...scheduled(), ...paidOff(), ...creditedAndPaid(), ...tooLarge(), ...oddLinks(), ...belowZero()],
    ...[...toldByOne(), ...toldInAnotherWay(), ...dueBeyondTheTotal(), ...dueBeyondWhatIsLeft()],
    ...[...unknownWeights(), ...undatedPayments(), ...creditedLater()],
  ];
}

function scheduled(): WorkedBook[] {
  const due = { issue_date: '2026-10-01', due_date: '2026-11-10' };
  return [
    worked(
      'scheduled-rest',
      {
        0: [
          // 70 are left and due. The payment of November 25 is told but not yet deducted.
          addBill('rest', {
            ...{ ...due, total_amount: 100, amount_due: 70, status: 'partially_paid' },
            linked_payments: [paid('p1', '2026-10-20', 30), paid('p2', '2026-11-25', 70)],
          }),
          // The same on a platform that has deducted it.
          addBill('taken-off', {
            ...{ ...due, vendor_id: 'b', total_amount: 100, amount_due: 0, status: 'paid' },
            linked_payments: [paid('p3', '2026-10-20', 30), paid('p4', '2026-11-25', 70)],
          }),
          // Paid, and scheduled once more by mistake.
          addBill('again', {
            ...{ ...due, vendor_id: 'c', total_amount: 100, amount_due: 0, status: 'paid' },
            linked_payments: [paid('p5', '2026-10-20', 100), paid('p6', '2026-12-31', 100)],
          }),
          // The vendor pays back 100 on November 25.
          addBill('negative', {
            ...{ vendor_id: 'd', issue_date: '2026-10-01', total_amount: -100 },
            linked_payments: [paid('p7', '2026-11-25', -100)],
          }),
          addCredit('memo', {
            ...{ vendor_id: 'e', issue_date: '2026-10-01', total_amount: 30, remaining_amount: 20 },
            ...{ status: 'partially_paid' },
            linked_bills: [paid('x1', '2026-10-20', 10), paid('x2', '2026-11-25', 20)],
          }),
          addBill('fee', { ...due, vendor_id: 'f', total_amount: 100, amount_due: 110 }),
        ],
      },
      {
        'bills.open_amount where bill_id = rest': 70,
        'ap_ageing.overdue_amount where is_today = true and vendor_id = a': 70,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = rest': 70,
        'bills.open_amount where bill_id = taken-off': 70,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = taken-off': 70,
        'bills.open_amount where bill_id = again': 0,
        'bills.is_open where bill_id = again': false,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = again': undefined,
        'bills.owed_back_amount where bill_id = negative': 100,
        'vendor_credits.unapplied_amount where vendor_credit_id = memo': 20,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = memo': -20,
        'bills.open_amount where bill_id = fee': 110,
        'cash_requirements.amount_due where due_bucket = overdue': 250,
        'cash_requirements.amount_due where due_bucket = unapplied_credits': -120,
      },
    ),
  ];
}

/** A payment counts as far as credits up to its day have left something to pay. */
function creditedAndPaid(): WorkedBook[] {
  const due = { issue_date: '2026-10-01', due_date: '2026-10-15', total_amount: 100, status: 'paid' };
  return [
    worked(
      'paid-what-was-credited',
      {
        0: [
          addBill('b', {
            ...{ ...due, amount_due: -60, linked_credit_memos: [paid('memo', '2026-10-05', 60)] },
            linked_payments: [paid('p1', '2026-10-10', 40), paid('p2', '2026-11-10', 60)],
          }),
          addCredit('memo', {
            ...{ issue_date: '2026-10-04', total_amount: 60, remaining_amount: 0, status: 'paid' },
            linked_bills: [paid('b', '2026-10-05', 60)],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid where month = 2026-11-01': 60,
        'ap_kpis_monthly.paid_late_share where month = 2026-10-01': 0,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': 9,
        'ap_kpis_monthly.paid_late_share where month = 2026-11-01': null,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-11-01': null,
      },
    ),
    worked(
      'credited-once-paid',
      {
        0: [
          addBill('b', {
            ...{ ...due, amount_due: -30, linked_credit_memos: [paid('memo', '2026-11-05', 30)] },
            linked_payments: [paid('p1', '2026-10-20', 100)],
          }),
          addBill('in-time', {
            ...{ ...due, vendor_id: 'b', amount_due: 0, linked_payments: [paid('p2', '2026-10-10', 100)] },
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid_late_share where month = 2026-10-01': 0.5,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': 14,
      },
    ),
    worked(
      'credited-and-taken-back',
      {
        0: [
          addBill('b', {
            ...{ ...due, amount_due: -20 },
            linked_credit_memos: [paid('memo', '2026-10-05', 100), paid('memo', '2026-10-25', -80)],
            linked_payments: [paid('p1', '2026-11-10', 100)],
          }),
          addBill('in-time', {
            ...{ ...due, due_date: '2026-12-31', vendor_id: 'b', amount_due: 0 },
            linked_payments: [paid('p2', '2026-11-10', 100)],
          }),
        ],
      },
      // 20 of the credit remain applied, so 80 were paid late beside 100 in time.
      { 'ap_kpis_monthly.paid_late_share where month = 2026-11-01': 80 / 180 },
    ),
    worked(
      'credited-some-day',
      {
        0: [
          addBill('b', {
            ...{ ...due, amount_due: -60, linked_credit_memos: [paid('memo', null, 60)] },
            linked_payments: [paid('p1', '2026-11-10', 100)],
          }),
          addBill('in-time', {
            ...{ ...due, issue_date: '2026-10-31', due_date: '2026-12-31', vendor_id: 'b' },
            ...{ total_amount: 40, amount_due: 0, linked_payments: [paid('p2', '2026-11-10', 40)] },
          }),
          addBill('same-day', {
            ...{ ...due, vendor_id: 'c', amount_due: -60 },
            linked_credit_memos: [paid('memo-2', '2026-10-20', 60)],
            linked_payments: [paid('p3', '2026-10-20', 100)],
          }),
          addBill('in-time-too', {
            ...{ ...due, vendor_id: 'd', total_amount: 40, amount_due: 0 },
            linked_payments: [paid('p4', '2026-10-05', 40)],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid_late_share where month = 2026-11-01': 0.5,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-11-01': 25,
        'ap_kpis_monthly.paid_late_share where month = 2026-10-01': 0.5,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': 11.5,
      },
    ),
  ];
}

function tooLarge(): WorkedBook[] {
  const due = { issue_date: '2026-09-01', due_date: '2026-10-01' };
  return [
    worked(
      'paid-of-what-nobody-knows',
      {
        0: [
          addBill('known', { ...due, total_amount: 100, linked_payments: [paid('p1', '2026-10-11', 100)] }),
          // How much of the payment was owed is not known, so neither is how long payments took.
          addBill('unknown', {
            ...{ ...due, total_amount: 1e17, linked_payments: [paid('p2', '2026-11-11', 5)] },
          }),
        ],
      },
      {
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': 40,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-11-01': null,
        'ap_kpis_monthly.paid_late_share where month = 2026-11-01': null,
        'ap_kpis_monthly.paid where month = 2026-11-01': 5,
      },
    ),
  ];
}

function paidOff(): WorkedBook[] {
  const settled = { issue_date: '2026-09-10', due_date: '2026-10-10', total_amount: 100, status: 'paid' };
  const next = { issue_date: '2026-11-20', due_date: '2026-11-24', total_amount: 7 };
  return [
    worked(
      'paid-again',
      {
        0: [
          addBill('ahead', {
            ...{ ...settled, amount_due: -100 },
            linked_payments: [paid('p1', '2026-10-01', 100), paid('p2', '2026-12-31', 100)],
          }),
          addBill('twice', {
            ...{ ...settled, vendor_id: 'b', amount_due: -100 },
            linked_payments: [paid('p3', '2026-10-01', 100), paid('p4', '2026-11-15', 100)],
          }),
          addBill('not-taken-off', {
            ...{ ...settled, vendor_id: 'c', amount_due: 0 },
            linked_payments: [paid('p5', '2026-10-01', 100), paid('p6', '2026-12-31', 100)],
          }),
          ...['a', 'b', 'c'].map((vendor) => addBill(`next-${vendor}`, { ...next, vendor_id: vendor })),
        ],
      },
      {
        'bills.paid_off_date where bill_id = ahead': '2026-10-01',
        'bills.paid_off_date where bill_id = twice': '2026-10-01',
        'bills.paid_off_date where bill_id = not-taken-off': '2026-10-01',
        'bills.days_to_pay where bill_id = twice': 21,
        'cash_requirements.expected_amount where due_bucket = w00': 21,
      },
    ),
    worked(
      'deposit-and-journal',
      {
        0: [
          // 5 paid on the day of the order. A journal entry that nobody tells settled the rest.
          addBill('journal', {
            ...{ ...settled, issue_date: '2026-09-01', amount_due: 0 },
            linked_payments: [paid('p1', '2026-09-01', 5)],
          }),
          // Paid, and the payment bounced. A journal entry settled the rest as well.
          addBill('returned', {
            ...{ ...settled, amount_due: 0 },
            linked_payments: [paid('p2', '2026-09-15', 100), paid('p3', '2026-09-20', -60)],
          }),
          addBill('next', { issue_date: '2026-11-20', due_date: '2026-12-29', total_amount: 5000 }),
        ],
      },
      {
        'bills.paid_off_date where bill_id = journal': null,
        'bills.days_to_pay where bill_id = journal': null,
        'bills.paid_off_date where bill_id = returned': null,
        'cash_requirements.expected_amount where due_bucket = w00': undefined,
        'cash_requirements.expected_amount where due_bucket = w05': 5000,
      },
    ),
    worked(
      'bounced',
      {
        0: [
          addBill('back', {
            ...{ issue_date: '2026-10-01', due_date: '2026-10-15', total_amount: 100, amount_due: 0 },
            status: 'paid',
            linked_payments: [
              ...[paid('p1', '2026-10-10', 100), paid('p2', '2026-10-12', -100)],
              paid('p3', '2026-10-20', 100),
            ],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid where month = 2026-10-01': 100,
        'ap_kpis_monthly.paid_late_share where month = 2026-10-01': 1,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': 19,
      },
    ),
    worked(
      'paid-twice',
      {
        0: [
          addBill('twice', {
            ...{ issue_date: '2026-10-01', due_date: '2026-10-15', total_amount: 100, amount_due: 0 },
            status: 'paid',
            linked_payments: [paid('p1', '2026-10-10', 100), paid('p2', '2026-10-20', 100)],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid where month = 2026-10-01': 200,
        'ap_kpis_monthly.paid_late_share where month = 2026-10-01': 0,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': 9,
      },
    ),
  ];
}

/** Entries of 0, undone entries, or entries in another currency, beside those of the other document. */
function oddLinks(): WorkedBook[] {
  const bill = { issue_date: '2026-09-01', total_amount: 100, amount_due: 70, status: 'partially_paid' };
  const credit = { issue_date: '2026-09-01', total_amount: 30, remaining_amount: 0, status: 'paid' };
  const memo = addCredit('memo', { ...credit, linked_bills: [paid('bill', '2026-10-10', 30)] });
  const september = 'where as_of_date = 2026-09-30 and currency_code';
  return [
    worked(
      'zero-entry',
      {
        0: [
          addBill('bill', {
            ...bill,
            linked_credit_memos: [paid('memo', '2026-09-20', 0), paid('memo', '2026-10-10', 30)],
          }),
          memo,
        ],
      },
      { [`ap_ageing.total_open ${september} = NZD`]: 70 },
    ),
    worked(
      'reapplied',
      {
        0: [
          addBill('bill', {
            ...bill,
            linked_credit_memos: [
              ...[paid('memo', '2026-09-20', 30), paid('memo', '2026-09-25', -30)],
              paid('memo', '2026-10-10', 30),
            ],
          }),
          memo,
        ],
      },
      { [`ap_ageing.total_open ${september} = NZD`]: 70 },
    ),
    worked(
      'other-currency',
      {
        0: [
          addBill('bill', { ...bill, amount_due: 55, linked_credit_memos: [paid('memo', '2026-09-10', 45)] }),
          addCredit('memo', {
            ...{ ...credit, currency_code: 'SGD', total_amount: 50 },
            linked_bills: [paid('bill', '2026-10-10', 50)],
          }),
        ],
      },
      {
        [`ap_ageing.total_open ${september} = NZD`]: 55,
        [`ap_ageing.total_open ${september} = SGD`]: undefined,
        'data_quality.failed_rows where check_name = credit_allocation_one_sided': 0,
      },
    ),
  ];
}

/** Applications that only the bill or only the credit tells. */
function toldByOne(): WorkedBook[] {
  const bill = (entries: readonly object[]): BookEvent =>
    addBill('bill', {
      ...{ issue_date: '2026-09-01', total_amount: 100, amount_due: 70, status: 'partially_paid' },
      linked_credit_memos: entries,
    });
  const memo = (entries: readonly object[], values: Values = {}): BookEvent =>
    addCredit('memo', {
      ...{ issue_date: '2026-10-01', total_amount: 30, remaining_amount: 0, status: 'paid' },
      ...{ linked_bills: entries, ...values },
    });
  const october = 'where as_of_date = 2026-10-31';
  const applied = {
    [`ap_ageing.open_bills ${october}`]: 100,
    [`ap_ageing.unapplied_credits ${october}`]: -30,
    [`ap_ageing.total_open ${october}`]: 70,
    'ap_ageing.total_open where as_of_date = 2026-09-30': 100,
    'ap_ageing.total_open where is_today = true': 70,
    'ap_kpis_monthly.open_ap_end where month = 2026-10-01': 100,
    'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 0,
    'bills.has_unexplained_amount where bill_id = bill': false,
    'data_quality.failed_rows where check_name = credit_allocation_one_sided': 1,
  };
  const november = '2026-11-10';
  const onBoth = {
    'bills.credited_amount where bill_id = bill': 30,
    'bills.computed_amount_due where bill_id = bill': 70,
    'bills.amount_due_variance where bill_id = bill': 0,
    'bills.unexplained_amount where bill_id = bill': 0,
    'allocations.bill_amount where bill_id = bill': 30,
    'vendor_credits.applied_amount where vendor_credit_id = memo': 30,
    'allocations.credit_amount where source_id = memo': 30,
    'vendor_credits.computed_remaining_amount where vendor_credit_id = memo': 0,
    'vendor_credits.remaining_amount_variance where vendor_credit_id = memo': 0,
    'data_quality.failed_rows where check_name = credit_remaining_unexplained': 0,
  };
  return [
    worked(
      'told-by-the-credit',
      { 0: [bill([]), memo([paid('bill', november, 30)])] },
      {
        ...{ ...applied, ...onBoth },
        'allocations.allocated_amount where bill_id = bill': null,
        'allocations.bill_amount where told_by = vendor_credit': 30,
      },
    ),
    worked(
      'told-by-the-bill',
      { 0: [bill([paid('memo', november, 30)]), memo([])] },
      { ...applied, ...onBoth },
    ),
    worked(
      'told-in-part',
      { 0: [bill([paid('memo', november, 10)]), memo([paid('bill', november, 30)])] },
      {
        ...{ ...applied, 'bills.unexplained_amount where bill_id = bill': 0 },
        'allocations.bill_amount where told_by = bill': 10,
        'allocations.bill_amount where told_by = vendor_credit': 20,
        'allocations.credit_amount where told_by = bill': 0,
        'allocations.credit_amount where told_by = vendor_credit': 30,
        'bills.credited_amount where bill_id = bill': 30,
      },
    ),
    worked(
      'told-by-a-void-credit',
      { 0: [bill([]), memo([paid('bill', november, 30)], { status: 'void' })] },
      {
        [`ap_ageing.open_bills ${october}`]: 70,
        'bills.credited_amount where bill_id = bill': 0,
        'allocations.bill_amount where bill_id = bill': 0,
        'allocations.credit_amount where source_id = memo': 30,
        'bills.unexplained_amount where bill_id = bill': 30,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
      },
    ),
    worked(
      'told-and-not-taken-off',
      {
        0: [
          addBill('bill', { issue_date: '2026-09-01', total_amount: 100, linked_credit_memos: [] }),
          memo([paid('bill', november, 30)]),
        ],
      },
      {
        [`ap_ageing.open_bills ${october}`]: 100,
        'ap_ageing.open_bills where is_today = true': 100,
        'bills.credited_amount where bill_id = bill': 0,
        'allocations.bill_amount where bill_id = bill': 0,
        'bills.unexplained_amount where bill_id = bill': 0,
      },
    ),
    worked(
      'taken-back-in-part',
      {
        0: [
          addBill('bill', {
            ...{ issue_date: '2026-09-01', total_amount: 100, amount_due: 80, status: 'partially_paid' },
            linked_credit_memos: [paid('memo', '2026-10-10', 30), paid('memo', november, -10)],
          }),
          memo([paid('bill', '2026-10-10', 20)], { remaining_amount: 10, status: 'partially_paid' }),
        ],
      },
      // An application that the credit tells in another way is not counted twice.
      { 'ap_ageing.unapplied_credits where is_today = true': -10 },
    ),
  ];
}

/** Applications that the document already tells in another way; a bill for example as a payment. */
function toldInAnotherWay(): WorkedBook[] {
  const issued = { issue_date: '2026-09-01', due_date: '2026-10-15', total_amount: 100 };
  const bill = (values: Values): BookEvent =>
    addBill('bill', { ...issued, amount_due: 0, status: 'paid', ...values });
  const memo = (id: string, date: string | null, entries = [paid('bill', date, 30)]): BookEvent =>
    addCredit(id, {
      ...{ issue_date: '2026-09-20', total_amount: 30, remaining_amount: 0, status: 'paid' },
      linked_bills: entries,
    });
  const october = 'where as_of_date = 2026-10-31 and document_id';
  const [early, late] = ['2026-10-10', '2026-11-10'];
  const lateInNovember = {
    [`ap_open_items.open_amount ${october} = bill`]: 70,
    'bills.paid_off_date where bill_id = bill': late,
    'bills.unexplained_amount where bill_id = bill': 0,
    'bills.undated_amount where bill_id = bill': 0,
    'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 0,
    'ap_kpis_monthly.paid_late_share where month = 2026-11-01': 1,
    'ap_kpis_monthly.average_days_to_pay where month = 2026-11-01': 70,
  };
  return [
    worked(
      'credit-told-as-a-payment',
      { 0: [bill({ linked_payments: [paid('p1', early, 30), paid('p2', late, 70)] }), memo('memo', early)] },
      { ...lateInNovember, 'ap_kpis_monthly.paid_late_share where month = 2026-10-01': 0 },
    ),
    worked(
      'credit-told-as-the-last-payment',
      {
        0: [
          bill({ linked_payments: [paid('p1', early, 70), paid('p2', late, 30)] }),
          memo('memo', early),
          addBill('next', { issue_date: '2026-11-20', due_date: '2026-12-20', total_amount: 7 }),
        ],
      },
      {
        ...{ ...lateInNovember, [`ap_open_items.open_amount ${october} = bill`]: 30 },
        'bills.days_to_pay where bill_id = bill': 70,
        // The vendor is paid 26 days late, so on January 15.
        'cash_requirements.expected_amount where due_bucket = w07': 7,
        'cash_requirements.expected_amount where due_bucket = w03': undefined,
      },
    ),
    worked(
      'credit-told-by-another-name',
      {
        0: [
          bill({
            ...{ linked_credit_memos: [paid('x', early, 30)], linked_payments: [paid('p2', late, 70)] },
          }),
          memo('memo', early),
        ],
      },
      lateInNovember,
    ),
    worked(
      'credit-told-for-more-than-is-left',
      {
        0: [
          bill({ ...{ amount_due: 60, status: 'partially_paid' }, linked_payments: [paid('p1', early, 30)] }),
          memo('memo', late),
        ],
      },
      {
        [`ap_open_items.open_amount ${october} = bill`]: 70,
        'bills.unexplained_amount where bill_id = bill': 0,
        'bills.credited_amount where bill_id = bill': 10,
        'allocations.bill_amount where source_id = p1': 30,
        'allocations.credit_amount where source_id = p1': 0,
        'allocations.bill_amount where source_id = memo': 10,
        'allocations.credit_amount where source_id = memo': 30,
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'known',
      },
    ),
    worked(
      'credits-of-which-one-is-a-payment',
      {
        0: [
          bill({ linked_payments: [paid('p1', early, 30), paid('p2', late, 40)] }),
          ...[memo('early', early), memo('late', late)],
        ],
      },
      {
        // The payment of 30 is one of the credits, and which one is unknown. The other credit settled 30 on its day.
        'bills.undated_amount where bill_id = bill': 30,
        'bills.unexplained_amount where bill_id = bill': 0,
        'bills.credited_amount where bill_id = bill': 30,
        // The rows show the first one by date.
        'allocations.bill_amount where source_id = early': 30,
        'allocations.bill_amount where source_id = late': 0,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'unexplained',
        [`ap_open_items.open_amount ${october} = bill`]: 40,
      },
    ),
    worked(
      'told-by-the-bill-and-of-another',
      {
        0: [
          bill({
            ...{ amount_due: 70, status: 'partially_paid' },
            linked_credit_memos: [paid('memo', early, 30)],
          }),
          memo('memo', late, [paid('another', late, 30)]),
        ],
      },
      {
        [`ap_open_items.open_amount ${october} = bill`]: 70,
        [`ap_open_items.open_amount ${october} = memo`]: -30,
      },
    ),
    worked(
      'credited-some-day-by-the-credit',
      { 0: [bill({ ...{ amount_due: 70, status: 'partially_paid' } }), memo('memo', null)] },
      {
        'bills.undated_amount where bill_id = bill': 30,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
        [`ap_open_items.open_amount ${october} = bill`]: 70,
      },
    ),
  ];
}

/** A fee for late payment: more is due than was bought. */
function dueBeyondTheTotal(): WorkedBook[] {
  const bills = (fee: number): BookEvent[] =>
    ['09', '10', '11'].map((month) =>
      addBill(`b${month}`, {
        issue_date: `2026-${month}-01`,
        total_amount: 100,
        amount_due: month === '10' ? 100 + fee : 100,
      }),
    );
  return [
    worked(
      'late-fee',
      { 0: bills(10) },
      {
        'ap_kpis_monthly.open_ap_end where month = 2026-11-01': 310,
        // 620 / 3 / 300 x 83 = 57.2 days, or 55.3 without the fee.
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': null,
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'unexplained',
        'ap_kpis_monthly.unexplained_count where month = 2026-11-01': 0,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
        'ap_kpis_monthly.unexplained_count where month = 2026-09-01': 0,
      },
    ),
    worked(
      'small-late-fee',
      { 0: bills(1) },
      {
        // 602 / 3 / 300 x 83 = 55.5 days, of which the fee is 0.2.
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'known',
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
      },
    ),
    worked(
      'nothing-bought',
      { 0: [addBill('b', { issue_date: '2026-06-01', total_amount: 100 })] },
      {
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'no_purchases',
        'ap_kpis_monthly.days_payable_status where month = 2023-12-01': 'fewer_months',
      },
    ),
  ];
}

/** Fees on bills that were paid, wholly or in part; and bills without a fee, whatever was paid. */
function dueBeyondWhatIsLeft(): WorkedBook[] {
  const bill = (id: string, values: Values): BookEvent =>
    addBill(id, { issue_date: '2026-09-01', due_date: '2026-10-15', total_amount: 100, ...values });
  const october = 'where as_of_date = 2026-10-31 and document_id = bill';
  const fee = {
    'ap_open_items.open_amount where as_of_date = 2026-09-30 and document_id = bill': 100,
    'ap_open_items.due_beyond_total where as_of_date = 2026-09-30 and document_id = bill': 0,
    [`ap_open_items.due_beyond_total ${october}`]: 10,
    'ap_open_items.due_beyond_total where is_today = true and document_id = bill': 10,
    'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': null,
    'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'unexplained',
    'ap_kpis_monthly.unexplained_count where month = 2026-09-01': 0,
    'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
    'ap_kpis_monthly.unexplained_count where month = 2026-11-01': 0,
  };
  const partly = { status: 'partially_paid' };
  return [
    worked(
      'late-fee-once-paid',
      { 0: [bill('bill', { ...partly, amount_due: 10, linked_payments: [paid('p', '2026-10-20', 100)] })] },
      { ...fee, [`ap_open_items.open_amount ${october}`]: 10 },
    ),
    worked(
      'late-fee-on-the-rest',
      { 0: [bill('bill', { ...partly, amount_due: 50, linked_payments: [paid('p', '2026-10-20', 60)] })] },
      { ...fee, [`ap_open_items.open_amount ${october}`]: 50 },
    ),
    worked(
      'no-more-is-due',
      {
        0: [
          bill('fee-paid', { amount_due: 0, linked_payments: [paid('p1', '2026-11-10', 110)] }),
          bill('paid-more', {
            ...{ vendor_id: 'b', amount_due: 0 },
            linked_payments: [paid('p2', '2026-10-10', 100), paid('p3', '2026-11-10', 40)],
          }),
          bill('negative', { vendor_id: 'c', total_amount: -100, amount_due: 0 }),
          // Told, and not yet deducted.
          bill('scheduled', {
            ...{ vendor_id: 'd', amount_due: 70, ...partly },
            linked_payments: [paid('p4', '2026-10-20', 30), paid('p5', '2026-11-25', 70)],
          }),
        ],
      },
      {
        'bills.unexplained_amount where bill_id = fee-paid': -10,
        'bills.unexplained_amount where bill_id = scheduled': -70,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = fee-paid': 100,
        'ap_open_items.due_beyond_total where currency_code = NZD': 0,
        // The bill of -100, which was owed back until it was settled.
        'ap_kpis_monthly.unapplied_credits where month = 2026-10-01': 0,
        'ap_kpis_monthly.unexplained_count where month = 2026-10-01': 1,
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'known',
      },
    ),
  ];
}

/** Paid, but how much of the amount owed is unknown. */
function unknownWeights(): WorkedBook[] {
  const due = { issue_date: '2026-09-01', due_date: '2026-10-01', status: 'paid', amount_due: 0 };
  return [
    worked(
      'credited-nobody-knows-what',
      {
        0: [
          addBill('credited', {
            ...{ ...due, total_amount: 100, linked_credit_memos: [paid('memo', '2026-09-20', 1e17)] },
            linked_payments: [paid('p1', '2026-10-11', 60)],
          }),
          addBill('too-large', {
            ...{ ...due, total_amount: 1e17, linked_payments: [paid('p2', '2026-11-11', 5)] },
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid where month = 2026-10-01': 60,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-10-01': null,
        'ap_kpis_monthly.unknown_count where month = 2026-10-01': 1,
        'ap_kpis_monthly.paid where month = 2026-11-01': 5,
        'ap_kpis_monthly.paid_late_share where month = 2026-11-01': null,
        'ap_kpis_monthly.unknown_count where month = 2026-11-01': 1,
        'ap_kpis_monthly.days_payable_status where month = 2026-11-01': 'unknown',
      },
    ),
  ];
}

function undatedPayments(): WorkedBook[] {
  const bill = { issue_date: '2026-10-01', total_amount: 100, amount_due: 0, status: 'paid' };
  return [
    worked(
      'came-back-some-day',
      {
        0: [
          addBill('b', {
            ...{ issue_date: '2026-09-01', total_amount: 100, amount_due: 30 },
            linked_payments: [paid('p1', '2026-10-10', 100), paid('p2', null, -30)],
          }),
          addBill('october', { ...bill, linked_payments: [paid('p3', '2026-10-01', 100)] }),
          addBill('november', {
            ...{ ...bill, issue_date: '2026-11-02' },
            linked_payments: [paid('p4', '2026-11-02', 100)],
          }),
        ],
      },
      {
        'ap_kpis_monthly.unexplained_count where month = 2026-09-01': 1,
        'ap_kpis_monthly.unexplained_count where month = 2026-11-01': 0,
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': null,
      },
    ),
    worked(
      'paid-some-day',
      {
        0: [
          addBill('b', { ...bill, linked_payments: [paid('p1', null, 60), paid('p2', '2026-10-20', 40)] }),
          addBill('nothing', {
            ...{ ...bill, vendor_id: 'b' },
            linked_payments: [paid('p3', null, 0), paid('p4', '2026-10-20', 100)],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid where month = 2026-10-01': 140,
        'ap_kpis_monthly.undated_payment_count where month = 2026-09-01': 0,
        'ap_kpis_monthly.undated_payment_count where month = 2026-10-01': 1,
        'ap_kpis_monthly.undated_payment_count where month = 2026-11-01': 1,
      },
    ),
  ];
}

/** Settled by a credit, when one side is dated ahead. The bill is due until then, and nobody will pay it. */
function creditedLater(): WorkedBook[] {
  const settled = { total_amount: 100, amount_due: 0, status: 'paid', due_date: '2026-11-30' };
  const bill = (issue_date: string, values: Values = {}): BookEvent =>
    addBill('bill', {
      ...{ ...settled, issue_date, linked_credit_memos: [paid('memo', '2026-11-20', 100)] },
      ...values,
    });
  const memo = (issue_date: string, amount = 100, date = '2026-11-20'): BookEvent =>
    addCredit('memo', {
      ...{ issue_date, total_amount: amount, remaining_amount: 0, status: 'paid' },
      linked_bills: [paid('bill', date, amount)],
    });
  const week = 'where due_bucket = w01';
  const credits = 'where due_bucket = unapplied_credits';
  return [
    worked(
      'credited-before-it-is-issued',
      { 0: [bill('2026-11-28'), memo('2026-11-01')] },
      {
        'bills.dated_ahead_amount where bill_id = bill': 100,
        'bills.credited_later_amount where bill_id = bill': 100,
        [`cash_requirements.dated_ahead ${week}`]: 100,
        [`cash_requirements.dated_ahead_credited ${week}`]: 100,
        [`cash_requirements.expected_amount ${week}`]: 0,
        [`cash_requirements.amount_due ${credits}`]: -100,
        [`cash_requirements.amount_due_credited ${credits}`]: -100,
        'vendor_credits.applied_later_amount where vendor_credit_id = memo': 100,
        [`cash_requirements.expected_amount ${credits}`]: 0,
      },
    ),
    worked(
      'paid-before-it-is-issued',
      {
        0: [
          bill('2026-11-28', {
            ...{ linked_credit_memos: [], linked_payments: [paid('p1', '2026-11-20', 100)] },
          }),
        ],
      },
      {
        [`cash_requirements.dated_ahead ${week}`]: undefined,
        'bills.credited_later_amount where bill_id = bill': 0,
      },
    ),
    worked(
      'credited-by-one-dated-ahead',
      { 0: [bill('2026-10-28', { due_date: '2026-11-10' }), memo('2026-11-28')] },
      {
        'bills.open_amount where bill_id = bill': 100,
        'cash_requirements.amount_due where due_bucket = overdue': 100,
        'cash_requirements.amount_due_credited where due_bucket = overdue': 100,
        'cash_requirements.expected_amount where due_bucket = overdue': 0,
        [`cash_requirements.amount_due ${credits}`]: undefined,
      },
    ),
    // A scheduled payment applies a credit of 30, so 70 will be paid.
    worked(
      'credited-through-a-payment-later',
      {
        0: [
          bill('2026-11-01', {
            linked_payments: [paid('p1', '2026-11-28', 100)],
            linked_credit_memos: [],
          }),
          memo('2026-11-05', 30, '2026-11-28'),
        ],
      },
      {
        'bills.credited_later_amount where bill_id = bill': 0,
        'vendor_credits.applied_later_amount where vendor_credit_id = memo': 0,
        [`cash_requirements.expected_amount ${week}`]: 100,
        [`cash_requirements.amount_due ${credits}`]: -30,
        [`cash_requirements.expected_amount ${credits}`]: -30,
      },
    ),
    // The bill tells 20 of 30 within a payment, and they count on its day. 10 settle it later, and the credit is used up.
    worked(
      'credited-in-part-later',
      {
        0: [
          bill('2026-11-01', {
            ...{ amount_due: 0, status: 'paid' },
            linked_payments: [paid('p1', '2026-11-10', 90)],
            linked_credit_memos: [paid('memo', '2026-11-28', 10)],
          }),
          memo('2026-11-02', 30, '2026-11-10'),
        ],
      },
      {
        'bills.credited_later_amount where bill_id = bill': 10,
        'vendor_credits.applied_later_amount where vendor_credit_id = memo': 10,
        [`cash_requirements.expected_amount ${week}`]: 0,
        [`cash_requirements.amount_due ${credits}`]: -10,
        [`cash_requirements.expected_amount ${credits}`]: 0,
      },
    ),
    // Only the bill tells it, and 30 remain of the credit, which will be deducted.
    worked(
      'credited-later-and-the-credit-does-not-know',
      {
        0: [
          bill('2026-11-01', {
            ...{ amount_due: 70, status: 'partially_paid' },
            linked_credit_memos: [paid('memo', '2026-11-28', 30)],
          }),
          addCredit('memo', { issue_date: '2026-11-05', total_amount: 30, remaining_amount: 30 }),
        ],
      },
      {
        'bills.open_amount where bill_id = bill': 100,
        'bills.credited_later_amount where bill_id = bill': 0,
        [`cash_requirements.expected_amount ${week}`]: 100,
        [`cash_requirements.expected_amount ${credits}`]: -30,
      },
    ),
    worked(
      'credited-and-paid-later',
      {
        0: [
          bill('2026-11-01', {
            linked_payments: [paid('p1', '2026-11-25', 70)],
            linked_credit_memos: [paid('memo', '2026-11-25', 30)],
          }),
          memo('2026-11-01', 30, '2026-11-25'),
          // A credit that is not yet deducted counts at most for what is due.
          addBill('rest', {
            ...{
              ...settled,
              vendor_id: 'b',
              issue_date: '2026-11-01',
              amount_due: 40,
              status: 'partially_paid',
            },
            linked_credit_memos: [paid('x', '2026-11-25', 100)],
            linked_payments: [paid('p2', '2026-11-02', 60)],
          }),
        ],
      },
      {
        'bills.credited_later_amount where bill_id = bill': 30,
        'bills.open_amount where bill_id = rest': 40,
        'bills.credited_later_amount where bill_id = rest': 40,
        [`cash_requirements.amount_due ${week}`]: 140,
        [`cash_requirements.amount_due_credited ${week}`]: 70,
        [`cash_requirements.expected_amount ${week}`]: 70,
        [`cash_requirements.amount_due ${credits}`]: -30,
        [`cash_requirements.expected_amount ${credits}`]: 0,
      },
    ),
  ];
}

function belowZero(): WorkedBook[] {
  return [
    worked(
      'credit-below-0',
      {
        0: [
          addCredit('ours', { issue_date: '2026-10-01', total_amount: 30 }),
          addCredit('theirs', { vendor_id: 'b', issue_date: '2026-10-01', total_amount: -50 }),
          addCredit('ahead', { vendor_id: 'b', issue_date: '2026-11-28', total_amount: -8 }),
          addBill('owed', { vendor_id: 'c', issue_date: '2026-09-20', total_amount: 10 }),
        ],
      },
      {
        'ap_kpis_monthly.unapplied_credits where month = 2026-11-01': -30,
        'ap_kpis_monthly.open_ap_end where month = 2026-11-01': 60,
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': 83,
        'ap_ageing.open_bills where is_today = true and vendor_id = b': 50,
        'ap_open_items.is_credit where is_today = true and document_id = theirs': false,
        'ap_open_items.is_credit where is_today = true and document_id = ahead': undefined,
        'vendor_credits.unapplied_amount where vendor_credit_id = theirs': -50,
        'vendor_credits.unapplied_amount where vendor_credit_id = ahead': 0,
        'cash_requirements.amount_due where due_bucket = no_date': 50,
        'cash_requirements.amount_due where due_bucket = unapplied_credits': -30,
        'ap_ageing.oldest_days where is_today = true and vendor_id = c': null,
      },
    ),
  ];
}

function paid(id: string, date: string | null, amount: number): object {
  return { id, allocated_date: date, allocated_amount: amount };
}
