/** Decimal places of sums: more than any Parquet type here has. */
const scale = 30;

/** Returns the exact sum of decimals written as text, in its shortest form: `-50.000` and `1` give `-49`. */
export function exactSum(...decimals: readonly string[]): string {
  return decimalText(decimals.map(scaled).reduce((sum, value) => sum + value, 0n));
}

function scaled(text: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  const value = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
  return sign === '-' ? -value : value;
}

function decimalText(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`;
}
