/** Texts of the sandbox's books, with the characters that real books have. Those of lines and memos are already JSON text. */
export const purchaseTexts = jsonTexts([
  'Cloud hosting, monthly',
  'Office cleaning',
  'Consulting hours',
  'Packaging material 40 × 60 cm',
  'Freight "door to door"',
  'Legal advice; contract review',
  'Electricity',
  'Café supplies',
  'Print & mail',
  'Maintenance of machine 7/B',
  'Software licences (12 users)',
  'Rückerstattung Verpackung',
]);

export const memoTexts = jsonTexts([
  'Approved by finance',
  'Partial delivery, rest follows\nsee order',
  'Paid from the main account',
  'Quarterly true-up \\ estimate',
  '見積書に基づく',
  'Thanks 🙂',
]);

export const companyNames = [
  'Northwind Traders',
  'Müller & Söhne GmbH',
  "O'Brien Holdings",
  'Initech',
  'Café de la Gare SARL',
  'Contoso "Retail"',
  'Åkerlund Frakt AB',
  '山田商事株式会社',
  'Gulf Trading W.L.L.',
  'Blue Yonder Airlines',
] as const;

export const personNames = [
  'Ana Souza',
  'Jürgen Groß',
  'Siobhán Kelly',
  'Wei Chen',
  'Fatima Al-Sabah',
  'John Smith',
  'Zoë Martin',
] as const;

/** Combined: each first part with each second part. */
export const vendorNames = {
  firsts: [
    'Alder',
    'Brücke',
    'Cascade',
    'Delta',
    'Evergreen',
    'Fjord',
    'Granite',
    'Harbor',
    'Ibis',
    'Juniper',
    'Kestrel',
    'Lagoon',
    'Meridian',
    'Nordlicht',
    "O'Hara",
    'Piñon',
    'Quarry',
    'Redwood',
    'Summit',
    'Tanaka',
  ],
  seconds: [
    'Office Supply',
    'Freight & Logistics',
    'Consulting LLP',
    'Cloud Hosting',
    'Facilities',
    'Packaging',
    'Legal',
    'Electric',
    'Print Works',
    'Insurance',
    'Security',
    'Catering',
    'Machine Tools',
    'Travel',
    'Telecom',
    'Staffing',
    'Paper Mill',
    'Software',
    'Chemicals',
    'Design Studio',
  ],
} as const;

export const accountNames = {
  payable: ['Accounts Payable', 'Accounts Payable, foreign'],
  payment: ['Operating Account', 'Company Credit Card', 'Savings Account', 'Petty Cash'],
  expense: [
    'Rent',
    'Utilities',
    'Office Supplies',
    'Software Subscriptions',
    'Cloud Hosting',
    'Legal Fees',
    'Audit and Tax Advice',
    'Consulting',
    'Insurance',
    'Freight Out',
    'Packaging',
    'Raw Materials',
    'Repairs and Maintenance',
    'Cleaning',
    'Telephone and Internet',
    'Travel',
    'Meals',
    'Training',
    'Recruiting',
    'Advertising',
    'Printing',
    'Bank Charges',
    'Vehicle Costs',
    'Small Equipment',
  ],
} as const;

export const cities: readonly [Place, ...Place[]] = [
  { city: 'Portland', region: 'OR', country: 'US', postalCode: '97205' },
  { city: 'Köln', region: 'NW', country: 'DE', postalCode: '50667' },
  { city: 'Leeds', region: 'England', country: 'GB', postalCode: 'LS1 4DY' },
  { city: '大阪市', region: '大阪府', country: 'JP', postalCode: '530-0001' },
  { city: 'Kuwait City', region: '', country: 'KW', postalCode: '13001' },
];

export const productNames = [
  'Desk lamp',
  'Standing desk 140 cm',
  'Support plan, gold',
  'Installation',
  'Cable 2 m',
  'Monitor 27"',
  'Early payment discount',
  'Spare part Ø 12',
] as const;

function jsonTexts([first, ...rest]: [string, ...string[]]): readonly [string, ...string[]] {
  return [JSON.stringify(first), ...rest.map((text) => JSON.stringify(text))];
}

interface Place {
  readonly city: string;
  readonly region: string;
  readonly country: string;
  readonly postalCode: string;
}
