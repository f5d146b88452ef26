import fc from 'fast-check';

/** Days of documents as platforms write them, in raw JSON text: around every boundary of a figure. */
export interface Days {
  issued(): string;
  /** Due mostly after the issue date, and sometimes before it. */
  issuedAndDue(): { issue_date: string; due_date: string };
  /** Before the document was issued, after it, or in the future. */
  allocated(): string;
  /** In the future. */
  ahead(): string;
  /** A time years ago, or at the beginning of one of the last months. */
  begun(): string;
}

export function arbitraryDays(gen: fc.GeneratorValue, today: string): Days {
  const between = (min: number, max: number): number => gen(fc.integer, { min, max });
  const oneOf = <Value>(...values: Value[]): Value => gen(fc.constantFrom<Value[]>, ...values);

  function written(daysAgo: number): string {
    const day = new Date(Date.parse(`${today}T00:00:00Z`) - daysAgo * 86_400_000).toISOString().slice(0, 10);
    const time = oneOf(
      'T00:00:00.000Z',
      'T00:00:00.000Z',
      '',
      'T23:59:59.999Z',
      'T00:30:00+14:00',
      'T23:00:00-11:00',
    );
    return `"${day}${time}"`;
  }

  function anyDaysAgo(): number {
    const edge = oneOf(0, 1, 30, 31, 60, 61, 90, 91);
    const kind = between(1, 100);
    if (kind <= 30) return edge;
    if (kind <= 42) return -edge;
    if (kind <= 78) return between(0, 420);
    // The month that the current one is compared with.
    if (kind <= 85) return 365 + between(-20, 20);
    if (kind <= 95) return between(0, 1_300);
    return between(-100, 0);
  }

  /** The last or the first day of a month. */
  function aroundMonthEnd(): number {
    const [year = 0, month = 0] = today.split('-').map(Number);
    const first = Date.UTC(year, month - 1 - between(0, 14), 1);
    return Math.round((Date.parse(`${today}T00:00:00Z`) - first) / 86_400_000) + oneOf(0, 1);
  }

  const daysAgo = (): number => (between(1, 100) <= 25 ? aroundMonthEnd() : anyDaysAgo());
  const orNone = (text: string): string => (between(1, 100) <= 6 ? oneOf('null', '""') : text);

  return {
    issued: () => orNone(written(daysAgo())),
    issuedAndDue() {
      // Dated ahead, and due weeks earlier by its terms.
      if (oneOf('ahead', ...Array.from({ length: 11 }, () => 'any')) === 'ahead')
        return { issue_date: written(-between(20, 60)), due_date: written(between(-19, 9)) };
      const issued = daysAgo();
      const due = issued - oneOf(0, 14, 30, 30, 60, 91, -5, -40);
      return { issue_date: orNone(written(issued)), due_date: orNone(written(due)) };
    },
    allocated: () => orNone(written(daysAgo())),
    ahead: () => written(-between(1, 60)),
    begun() {
      if (between(1, 100) <= 25) return '"2024-01-01T00:00:00.000Z"';
      const [year = 0, month = 0] = today.split('-').map(Number);
      const moment = Date.UTC(year, month - 1 - between(0, 6), 1) + oneOf(-1, 0, 0, 86_400_000);
      const text = new Date(moment).toISOString();
      return oneOf(
        'null',
        ...[text, text, text.replace('Z', '+14:00'), text.replace('Z', '-11:00')].map((one) => `"${one}"`),
      );
    },
  };
}
