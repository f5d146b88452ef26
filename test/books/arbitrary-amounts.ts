import fc from 'fast-check';

/**
 * Where a document tells its tax: in lines, whose totals the header mostly sums up; only in the header, on top of the lines or inside them;
 * in lines whose prices include it; in lines although it is not charged; in lines beside a discount of their own; in lines worth nothing,
 * and their header; or in so few different amounts that many fit by accident.
 */
export type Taxed =
  | 'by lines'
  | 'on top'
  | 'inside'
  | 'in prices'
  | 'not charged'
  | 'discounted'
  | 'beside nothing'
  | 'in fives';

interface Line {
  readonly total: string;
  readonly net: string;
  readonly tax: string;
  readonly discount?: string;
}

/** Amounts as platforms write them, in raw JSON text: mostly whole minor units, plus the errors of arithmetic in doubles. */
export interface Amounts {
  /** An amount in whole minor units of the currency. */
  plain(currency: string): string;
  /** Any amount that a platform may send. */
  any(currency: string): string;
  drawLine(taxed: Taxed, currency: string): Line;
  drawHeader(
    lines: readonly Line[],
    how: { currency: string; taxed: Taxed },
  ): { total: string; sub_total: string; tax_amount: string; total_discount: string };
  /** Payments of a total: in part, exactly, or too much. */
  drawParts(total: string, count: number, currency: string): string[];
  rest(total: string, parts: readonly string[], currency: string): string;
}

export function arbitraryAmounts(gen: fc.GeneratorValue): Amounts {
  const between = (min: number, max: number): number => gen(fc.integer, { min, max });
  const oneOf = <Value>(...values: Value[]): Value => gen(fc.constantFrom<Value[]>, ...values);
  const decimalPlaces = (currency: string): number => ({ '"JPY"': 0, '"KWD"': 3, '"CLF"': 4 })[currency] ?? 2;

  function inMinorUnits(units: number, currency: string): string {
    const places = decimalPlaces(currency);
    if (places === 0) return String(units);
    const digits = String(Math.abs(units)).padStart(places + 1, '0');
    return `${units < 0 ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
  }

  function plain(currency: string): string {
    return inMinorUnits(between(1, oneOf(99, 99_999, 9_999_999)), currency);
  }

  function odd(currency: string): string {
    return oneOf(
      ...['0', 'null', '0.00', '-0', inMinorUnits(-between(1, 99_999), currency)],
      ...['3866.7799999999997', '0.1000000000000000055', '1.0000000005', '-2.0000000005', '0.00000000049'],
      ...[
        '1e2',
        '2.5E-3',
        '123456789012345.678',
        '1234567890123456789',
        '99999999999999999.4',
        '-98765432109876543210.5',
        '0.0049999999999',
      ],
    );
  }

  /** Multiples of 5 up to 20, whose sums and differences often match by accident. */
  const fives = (min: number): string => String(5 * between(min, 4));

  const any = (currency: string): string => (between(1, 100) <= 12 ? odd(currency) : plain(currency));

  /** The result of a service that computes in doubles. */
  function doubled(
    compute: (numbers: readonly number[]) => number,
    texts: readonly string[],
    currency: string,
  ): string {
    const result = compute(texts.map(Number));
    if (!Number.isFinite(result) || between(1, 100) <= 5) return any(currency);
    return between(1, 100) <= 30 ? String(result) : result.toFixed(decimalPlaces(currency));
  }

  const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

  return {
    plain,
    any,
    drawLine(taxed, currency) {
      if (taxed === 'on top' || taxed === 'inside') {
        const total = any(currency);
        return { net: oneOf('null', total), tax: oneOf('null', 'null', '0'), total };
      }
      if (taxed === 'beside nothing') return { net: '0', tax: oneOf('null', plain(currency)), total: '0' };
      if (taxed === 'discounted') {
        const [net, tax] = [plain(currency), plain(currency)];
        const discount = oneOf(tax, plain(currency));
        return { net, tax, discount, total: doubled(sum, [net, tax, `-${discount}`], currency) };
      }
      if (taxed === 'in fives') {
        const [net, tax] = [fives(-4), fives(-4)];
        return { net, tax, total: oneOf(net, String(Number(net) + Number(tax))) };
      }
      const net = any(currency);
      if (taxed === 'in prices') return { net, tax: plain(currency), total: net };
      const tax = taxed === 'not charged' ? plain(currency) : oneOf('null', '0', plain(currency));
      const both = doubled(sum, [net, tax], currency);
      if (taxed === 'not charged') return { net, tax, total: oneOf(both, net) };
      return { net: oneOf(net, net, net, 'null'), tax, total: oneOf(both, both, net, any(currency)) };
    },
    drawHeader(lines, { currency, taxed }) {
      const totals = lines.map(({ total }) => total);
      const discount = oneOf('null', '0', plain(currency));
      const all = doubled(sum, totals, currency);
      const less = (whole: string, parts: readonly string[]): string =>
        doubled(([first = 0, ...others]) => first - sum(others), [whole, ...parts], currency);
      const taxesOfLines = lines.map(({ tax }) => tax);
      if (taxed === 'by lines') {
        // The total adds the tax of lines that have it beside their total. Without that, nobody is charged the tax.
        const beside = lines.filter(({ total, net }) => total === net).map(({ tax }) => tax);
        const charged = oneOf(totals, [...totals, ...beside]);
        return {
          total: lines.length > 0 && between(1, 100) <= 75 ? doubled(sum, charged, currency) : any(currency),
          sub_total: oneOf('null', any(currency)),
          tax_amount: oneOf('null', '0', any(currency)),
          total_discount: oneOf('null', '0', any(currency)),
        };
      }
      if (taxed === 'beside nothing') {
        const [net, tax] = [plain(currency), plain(currency)];
        const total = oneOf(net, doubled(sum, [net, tax], currency));
        return {
          total,
          sub_total: net,
          tax_amount: oneOf(tax, tax, ...taxesOfLines),
          total_discount: discount,
        };
      }
      if (taxed === 'in fives') {
        const nets = sum(lines.map(({ net }) => Number(net)));
        const taxes = sum(lines.map(({ tax }) => Number(tax)));
        const off = Number(fives(0));
        return {
          total: String(oneOf(nets, nets - off, nets - off, sum(totals.map(Number)))),
          sub_total: oneOf('null', String(nets), fives(-4)),
          tax_amount: oneOf('null', fives(-4), String(taxes), String(taxes - off)),
          total_discount: String(off),
        };
      }
      if (taxed === 'in prices')
        return {
          total: oneOf(all, discount === 'null' ? all : less(all, [discount])),
          sub_total: oneOf('null', less(all, taxesOfLines)),
          tax_amount: oneOf('null', doubled(sum, taxesOfLines, currency)),
          total_discount: discount,
        };
      if (taxed === 'discounted') {
        const of = (texts: readonly string[]): string => doubled(sum, texts, currency);
        const nets = lines.map(({ net }) => net);
        const discounts = lines.map(({ discount = '0' }) => discount);
        return {
          total: all,
          sub_total: oneOf('null', of(nets), of([...nets, ...discounts.map((one) => `-${one}`)])),
          tax_amount: oneOf('null', of(taxesOfLines)),
          total_discount: oneOf('null', of(discounts)),
        };
      }
      if (taxed === 'not charged') {
        const nets = doubled(
          sum,
          lines.map(({ net }) => net),
          currency,
        );
        const taxes = doubled(sum, taxesOfLines, currency);
        const off = oneOf('null', '0', taxes, plain(currency));
        const rounded = nets === 'null' ? nets : String(Math.round(Number(nets)));
        return {
          total: oneOf(nets, off === 'null' ? rounded : less(nets, [off])),
          sub_total: oneOf('null', nets),
          tax_amount: oneOf('null', '0', taxes),
          total_discount: off,
        };
      }
      const tax = plain(currency);
      const isOnTop = taxed === 'on top';
      const parts = isOnTop ? [all, tax, ...(discount === 'null' ? [] : [`-${discount}`])] : [all];
      return {
        total: doubled(sum, parts, currency),
        sub_total: oneOf('null', isOnTop ? all : less(all, [tax])),
        tax_amount: tax,
        total_discount: discount,
      };
    },
    drawParts(total, count, currency) {
      const whole = Number(total);
      return Array.from({ length: count }, (_, index) =>
        oneOf(
          index === 0 && whole !== 0 ? total : any(currency),
          doubled(([first = 0]) => first / 2, [total], currency),
          doubled(([first = 0]) => first / 3, [total], currency),
          any(currency),
        ),
      );
    },
    rest: (total, parts, currency) => {
      // Residues of doubles in the paid amount, and amounts around half a minor unit.
      if (between(1, 100) <= 5)
        return oneOf('9.3e-9', '-0.000000002', '0.004', '0.005', '-0.006', '0.5', '0.0005');
      if (parts.length === 0) return between(1, 100) <= 90 ? total : any(currency);
      return doubled(([first = 0, ...others]) => first - sum(others), [total, ...parts], currency);
    },
  };
}
