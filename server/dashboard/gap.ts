/**
 * Returns one sentence about what the figures of a chart leave out; undefined if they leave out nothing. `unknown` amounts are too large
 * to be stored, or the source sent none.
 */
export function describeGap({
  unknown,
  more = [],
}: {
  unknown: number;
  more?: readonly string[];
}): string | undefined {
  const parts = [...(unknown === 0 ? [] : [leftOut(unknown)]), ...more];
  const sentence = `${parts.join('; ')}.`;
  return parts.length === 0 ? undefined : `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
}

function leftOut(unknown: number): string {
  const [amounts, them] = unknown === 1 ? ['1 amount is', 'it'] : [`${shown(unknown)} amounts are`, 'them'];
  return `${amounts} left out, too large to be held or never sent: every figure that needs ${them} is “not known”, and the data quality below says whose ${unknown === 1 ? 'it is' : 'they are'}`;
}

function shown(count: number): string {
  return count.toLocaleString('en-US');
}
