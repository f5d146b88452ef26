/** Decimals of a currency (ISO 4217). Intl follows CLDR instead, which has none for forint and for Iraqi dinars. */
export function minorUnits(currency: string): number {
  return exceptions.get(currency) ?? 2;
}

const exceptions = new Map(
  [
    {
      places: 0,
      codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    },
    { places: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
    { places: 4, codes: 'CLF UYW' },
  ].flatMap(({ places, codes }) => codes.split(' ').map((code) => [code, places] as const)),
);
