/** Decimals of a currency (ISO 4217); 0 for other codes. Intl follows CLDR instead, which has none for the forint and the Iraqi dinar. */
export function minorUnits(currency: string): number {
  return known.get(currency) ?? 0;
}

const known = new Map(
  [
    {
      places: 0,
      codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    },
    {
      places: 2,
      codes:
        'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP ' +
        'BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR ' +
        'FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR ' +
        'KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR ' +
        'MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK ' +
        'SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN ' +
        'UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG ZWL',
    },
    { places: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
    { places: 4, codes: 'CLF UYW' },
  ].flatMap(({ places, codes }) => codes.split(' ').map((code) => [code, places] as const)),
);
