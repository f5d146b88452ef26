import { changed, subscriptionOf, worked, type WorkedBook } from './worked-book.ts';

/** Books of which the last chapter was recorded just now, in the evening of 22 November in Los Angeles. */
export function workedEvenings(): WorkedBook[] {
  return [
    worked(
      'first-evening',
      { 0: [subscriptionOf('s1', 'c1', 100)] },
      {
        'mrr_movements_monthly.closing where month = 2026-11-01': 100,
        'mrr_movements_monthly.new where month = 2026-11-01': 0,
      },
      { 0: 'complete' },
    ),
    worked(
      'second-month',
      {
        1: [subscriptionOf('s1', 'c1', 100)],
        0: [changed('s1', { status: 'canceled' }), subscriptionOf('s2', 'c2', 30)],
      },
      {
        'mrr_movements_monthly.opening where month = 2026-11-01': 100,
        'mrr_movements_monthly.churn where month = 2026-11-01': -100,
        'mrr_movements_monthly.new where month = 2026-11-01': 30,
        'mrr_movements_monthly.closing where month = 2026-11-01': 30,
      },
      { 1: 'complete', 0: 'complete' },
    ),
  ].map(justNow);
}

function justNow({ book, figures }: WorkedBook): WorkedBook {
  return { figures, book: { ...book, chapters: book.chapters.map((chapter) => ({ ...chapter, at: 1 })) } };
}
