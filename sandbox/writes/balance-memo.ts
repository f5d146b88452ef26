import { formatDecimal, isEqual, readDecimal } from '../json/decimal.ts';
import { completeLines } from './complete-lines.ts';
import { PlatformRefusal } from './platform-refusal.ts';

/**
 * Completes the written fields of a new bill credit memo: its total is that of its lines, and all of it
 * remains.
 *
 * @throws PlatformRefusal if the memo would not add up.
 */
export function balanceMemo(written: ReadonlyMap<string, string>): Map<string, string> {
  const lines = completeLines(written.get('line_items') ?? '[]');
  const json = written.get('total_amount') ?? formatDecimal(lines.total);
  const total = readDecimal(json);
  if (total === null || !isEqual(total, lines.total))
    throw new PlatformRefusal('AMOUNTS_DO_NOT_ADD_UP', 'The total must be that of the lines.');
  if (['"paid"', '"partially_paid"'].includes(written.get('status') ?? ''))
    throw new PlatformRefusal('STATUS_MISMATCH', 'Nothing of a new memo is applied yet.');
  return new Map([
    ...written,
    ['line_items', lines.json],
    ['total_amount', json],
    ['remaining_amount', formatDecimal(total)],
  ]);
}
