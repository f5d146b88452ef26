import { addSubscription, worked, type WorkedBook } from './worked-book.ts';

/** It is 01:00 of December 1 in Auckland, and noon of November 30 in UTC. The rest of November in UTC still changes that month. */
export const beforeUtcMonthEnd = '2026-11-30T12:00:00Z';

export function workedBeforeUtcMonthEnd(): WorkedBook[] {
  return [
    worked(
      'november-goes-on',
      { 2: [addSubscription('s1', 'c1', 100)] },
      {
        'mrr_movements_monthly.is_complete where month = 2026-10-01': true,
        'mrr_movements_monthly.is_complete where month = 2026-11-01': false,
        'mrr_movements_monthly.is_observed where month = 2026-11-01': true,
        'mrr_movements_monthly.observed_until where month = 2026-11-01': '2026-11-30',
        'mrr_movements_monthly.closing where month = 2026-11-01': 100,
        'subscription_mrr_monthly.is_complete where month = 2026-11-01': false,
      },
      { 2: 'complete', 1: 'complete' },
    ),
  ];
}

/** It is 22:00 of the same day in Auckland, and 09:00 of December 1 in UTC. */
export const afterUtcMonthEnd = '2026-12-01T09:00:00Z';

export function workedAfterUtcMonthEnd(): WorkedBook[] {
  const read = { 2: 'complete', 1: 'complete' } as const;
  return [
    worked(
      'read-in-december',
      { 2: [addSubscription('s1', 'c1', 100)] },
      {
        'mrr_movements_monthly.is_complete where month = 2026-11-01': true,
        'subscription_mrr_monthly.is_complete where month = 2026-11-01': true,
      },
      { ...read, 0: 'complete' },
    ),
    worked(
      'not-read-since',
      { 2: [addSubscription('s1', 'c1', 100)] },
      { 'mrr_movements_monthly.is_complete where month = 2026-11-01': false },
      read,
    ),
  ];
}
