/** An exact decimal number: `units` divided by ten to the power of `digits`. */
export interface Decimal {
  readonly units: bigint;
  readonly digits: number;
}

export const zero: Decimal = { units: 0n, digits: 0 };

/** Reads a JSON number. Null for any other JSON value, and for exponents that no amount has. */
export function readDecimal(json: string | undefined): Decimal | null {
  const parts = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(json ?? '');
  if (parts === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const units = BigInt(whole + fraction);
  const digits = fraction.length - Number(exponent);
  return digits >= 0 ? { units, digits } : { units: units * 10n ** BigInt(-digits), digits: 0 };
}

/** Returns JSON text with all digits: 10.50 - 0.5 is `10.00`. */
export function formatDecimal({ units, digits }: Decimal): string {
  const text = (units < 0n ? -units : units).toString().padStart(digits + 1, '0');
  const point = text.length - digits;
  return `${units < 0n ? '-' : ''}${text.slice(0, point)}${digits === 0 ? '' : `.${text.slice(point)}`}`;
}

export function plus(left: Decimal, right: Decimal): Decimal {
  const digits = Math.max(left.digits, right.digits);
  return { units: scaled(left, digits) + scaled(right, digits), digits };
}

export function minus(left: Decimal, right: Decimal): Decimal {
  return plus(left, { units: -right.units, digits: right.digits });
}

export function times(left: Decimal, right: Decimal): Decimal {
  return { units: left.units * right.units, digits: left.digits + right.digits };
}

export function sum(decimals: readonly Decimal[]): Decimal {
  return decimals.reduce(plus, zero);
}

/** Whether both are the same number, regardless of trailing zeros. */
export function isEqual(left: Decimal, right: Decimal): boolean {
  return minus(left, right).units === 0n;
}

function scaled({ units, digits }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - digits);
}
