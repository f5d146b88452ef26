/** A number as it was written: JSON.parse would round it. */
export interface Digits {
  readonly digits: string;
}

/** JSON with every digit kept: numbers come out as `Digits`. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text.replaceAll(stringOrNumber, wrapNumber));
}

export function isDigits(value: unknown): value is Digits {
  return typeof value === 'object' && value !== null && 'digits' in value && Object.keys(value).length === 1;
}

/** The canonical spelling of a decimal: `150`, `1.5e2` and `150.00` all become `15e1`. Undefined if the text is not a decimal. */
export function canonicalDecimal(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text.trim()) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign === '-' ? '-' : ''}${significant}e${power}`;
}

/** Matches strings first, so that digits inside them are left alone. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function wrapNumber(token: string): string {
  return token.startsWith('"') ? token : `{"digits":"${token}"}`;
}
