import { addBill, changeSubscription, addSubscription, worked, type WorkedBook } from './worked-book.ts';

/** Books whose last step was recorded just now, at 18:00 on November 22 in Los Angeles, which is November 23 in UTC. */
export function workedBehindUtc(): WorkedBook[] {
  return [
    worked(
      'first-evening',
      { 0: [addSubscription('s1', 'c1', 100)] },
      {
        'mrr_movements_monthly.closing where month = 2026-11-01': 100,
        'mrr_movements_monthly.new where month = 2026-11-01': 0,
      },
      { 0: 'complete' },
    ),
    worked(
      'second-month',
      {
        1: [addSubscription('s1', 'c1', 100)],
        0: [changeSubscription('s1', { status: 'canceled' }), addSubscription('s2', 'c2', 30)],
      },
      {
        'mrr_movements_monthly.opening where month = 2026-11-01': 100,
        'mrr_movements_monthly.churn where month = 2026-11-01': -100,
        'mrr_movements_monthly.new where month = 2026-11-01': 30,
        'mrr_movements_monthly.closing where month = 2026-11-01': 30,
      },
      { 1: 'complete', 0: 'complete' },
    ),
    worked(
      'read-as-november-begins-in-utc',
      { 0: [addBill('b', { vendor_id: 'v', issue_date: '2026-10-05', total_amount: 100 })] },
      {
        // It was 23:00 of October 31 in Los Angeles.
        'vendor_spend_monthly.is_complete where vendor_id = v and spend_month = 2026-10-01': false,
        'ap_kpis_monthly.is_complete where month = 2026-10-01 and currency_code = NZD': false,
      },
      { readDaysAgo: 21 + 20 / 24 },
    ),
  ].map(justNow);
}

function justNow({ book, figures }: WorkedBook): WorkedBook {
  return { figures, book: { ...book, steps: book.steps.map((step) => ({ ...step, at: 1 })) } };
}
