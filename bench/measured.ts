/** A measured figure, with its target if there is one. */
export interface Measured {
  what: string;
  seen: string;
  target?: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Returns the smallest value that at least `share` of the values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function perSecond(count: number, seconds: number): string {
  return `${Math.round(count / seconds).toLocaleString('en-US')}/s`;
}

export function ratio(value: number): string {
  return value.toFixed(2);
}

/** Returns by how many percent the second value exceeds the first. */
export function growth(first: number, second: number): string {
  return `${((second / first - 1) * 100).toFixed(0)} %`;
}
