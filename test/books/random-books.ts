import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { arbitraryBook, type RandomBook } from './arbitrary-book.ts';

/**
 * Moments at which a period ends or begins, and time zones whose date differs from that of UTC. None is in the future, because a prune goes by the
 * clock of Postgres.
 */
export function drawMoment(seed: number): { now: string; timeZone: string } {
  const edges = [
    '2026-03-01T00:30:00Z',
    '2024-02-29T12:00:00Z',
    '2025-12-31T23:30:00Z',
    '2026-04-30T11:00:00Z',
  ];
  const zones = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/Los_Angeles', 'Asia/Kolkata'];
  const any = fc.date({ min: new Date('2025-01-01'), max: new Date('2026-09-30'), noInvalidDate: true });
  const moments = fc.record({
    now: fc.oneof(
      fc.constantFrom(...edges),
      any.map((date) => date.toISOString()),
    ),
    timeZone: fc.constantFrom(...zones),
  });
  return onlyOne(fc.sample(moments, { seed: spread(seed), numRuns: 1 }));
}

/** Returns `books` books, determined by the seed and the day. The one with the longest history is pruned. */
export function randomBooks(input: {
  seed: number;
  books: number;
  documents: number;
  today: string;
}): RandomBook[] {
  const { seed, books, documents, today } = input;
  const random = Array.from({ length: books }, (_, index) => {
    const name = `book-${seed + index}`;
    return onlyOne(
      fc.sample(arbitraryBook({ name, today, documents }), { seed: spread(seed + index), numRuns: 1 }),
    );
  });
  const longest = Math.max(...random.map(({ steps }) => steps.length));
  const pruned = random.find(({ steps }) => steps.length === longest);
  return random.map((book) => (book === pruned ? { ...book, prunedUntil: 1 } : book));
}

/** Neighboring seeds give similar beginnings: eight books in a row all had the same direction of rates. */
function spread(seed: number): number {
  return createHash('sha256').update(String(seed)).digest().readInt32LE();
}

function onlyOne<Value>(sample: readonly Value[]): Value {
  const [only] = sample;
  if (only === undefined) throw new Error('fast-check gave no sample');
  return only;
}
