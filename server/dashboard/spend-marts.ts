/** The marts that the charts of spend by vendor read, those of their left-out documents included. */
export const spendMarts: readonly string[] = [
  'vendor_spend_monthly',
  'vendors',
  'connections',
  'spend_lines',
  'accounts',
  'bills',
  'expenses',
  'vendor_credits',
];
