import { addBill, addCredit, worked, type WorkedBook } from './worked-book.ts';

/** Ways in which platforms tell the tax of lines: in prices, beside them, not charged at all, or in doubles. */
export function workedTaxes(): WorkedBook[] {
  const october = { issue_date: '2026-10-05' };
  const header119 = { ...october, total_amount: 119, sub_total: 100, tax_amount: 19 };
  const office = { account_id: 'office' };
  const prices = { sub_total: 119, tax_amount: 19, total_amount: 119 };
  const discounted = { ...office, sub_total: 110, discount_amount: 10, tax_amount: 10, total_amount: 110 };
  const off10 = { ...october, total_amount: 90, sub_total: 100, total_discount: 10 };
  const whole = { ...office, sub_total: 100, tax_amount: 19, total_amount: 119 };
  return [
    worked(
      'prices-with-tax',
      {
        0: [
          addBill('one-line', {
            ...header119,
            line_items: [{ ...office, sub_total: 119, tax_amount: 19, total_amount: 119 }],
          }),
          addBill('two-lines', {
            ...header119,
            line_items: [
              { ...office, sub_total: 59.5, tax_amount: 9.5, total_amount: 59.5 },
              { account_id: 'travel', sub_total: 59.5, tax_amount: 9.5, total_amount: 59.5 },
            ],
          }),
          // 100 of goods, 10 of tax, 10 of discount.
          addBill('discount-is-tax', {
            ...{ ...october, total_amount: 100, sub_total: 100, tax_amount: 10, total_discount: 10 },
            line_items: [{ ...office, sub_total: 100, tax_amount: 10, total_amount: 100 }],
          }),
          // One line with tax, and one without it. The header has only the tax of the first.
          addBill('one-reversed', {
            ...{ ...october, total_amount: 169, sub_total: 150, tax_amount: 19 },
            line_items: [whole, { ...office, sub_total: 50, tax_amount: 9.5, total_amount: 50 }],
          }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = one-line': 100,
        'bill_lines.gross_amount where bill_id = one-line': 119,
        'bill_lines.tax_treatment where bill_id = one-line': 'inclusive',
        'spend_lines.net_amount where document_id = two-lines and position = 0': 50,
        'spend_lines.net_amount where document_id = two-lines': 100,
        'spend_lines.net_amount where document_id = discount-is-tax': 90,
        'spend_lines.net_amount where document_id = one-reversed': 150,
        'bill_lines.tax_treatment where bill_id = one-reversed and position = 1': 'not_charged',
      },
    ),
    worked(
      'tax-of-nothing',
      {
        0: [
          // A line worth nothing tells a tax that nobody is charged. Where the header's 10 are is unknown.
          addBill('beside-nothing', {
            ...{ ...october, total_amount: 90, sub_total: 90, tax_amount: 10 },
            line_items: [{ ...office, sub_total: 0, tax_amount: 19, total_amount: 0 }],
          }),
          // The second line corrects the tax of the first. Whether the header's 10 are in them is unknown.
          addBill('corrected', {
            ...{ ...october, vendor_id: 'd', total_amount: 100, sub_total: 90, tax_amount: 10 },
            line_items: [
              { account_id: 'fees', sub_total: 95, tax_amount: 5, total_amount: 100 },
              { account_id: 'fees', sub_total: 5, tax_amount: -5, total_amount: 0 },
            ],
          }),
          addBill('beside-a-remark', {
            ...{ ...october, total_amount: 110, sub_total: 100, tax_amount: 10 },
            line_items: [{ ...office, description: 'Thank you', total_amount: 0 }],
          }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = beside-nothing and position = -1': null,
        'spend_lines.net_amount where document_id = corrected and position = 0': 95,
        'spend_lines.net_amount where document_id = corrected and position = 1': 5,
        'spend_lines.net_amount where document_id = beside-a-remark and position = -1': 100,
      },
    ),
    worked(
      'reverse-charge-in-totals',
      {
        0: [
          addBill('silent', { ...october, total_amount: 100, sub_total: 100, line_items: [whole] }),
          addBill('zero', {
            ...{ ...october, total_amount: 100, sub_total: 100, tax_amount: 0, line_items: [whole] },
          }),
          addBill('told', {
            ...{ ...october, total_amount: 100, sub_total: 100, tax_amount: 19, line_items: [whole] },
          }),
          addCredit('back', { ...october, total_amount: 100, line_items: [whole] }),
          // The header tells 15, its line 20, and neither is charged. That the two differ by the discount means nothing.
          addBill('by-accident', {
            ...{
              ...october,
              vendor_id: 'c',
              sub_total: 100,
              tax_amount: 15,
              total_discount: 5,
              total_amount: 95,
            },
            line_items: [{ account_id: 'fees', sub_total: 100, tax_amount: 20, total_amount: 120 }],
          }),
          // Tax of 19 that is charged, and a discount of 19.
          addBill('discounted', {
            ...{ ...october, vendor_id: 'b', total_amount: 100, sub_total: 100, tax_amount: 19 },
            ...{ total_discount: 19, line_items: [{ ...whole, account_id: 'travel' }] },
          }),
          // The same, but the header tells no tax.
          addBill('lowered', {
            ...{ ...october, vendor_id: 'b', total_amount: 100, sub_total: 119, total_discount: 19 },
            line_items: [{ ...whole, account_id: 'travel' }],
          }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = silent': 100,
        'spend_lines.net_amount where document_id = zero': 100,
        'spend_lines.net_amount where document_id = told': 100,
        'spend_lines.net_amount where document_id = back': -100,
        'spend_lines.net_amount where document_id = by-accident and position = 0': 100,
        'spend_lines.gross_amount where document_id = by-accident and position = -1': -5,
        'spend_lines.net_amount where document_id = by-accident and position = -1': null,
        'bill_lines.tax_treatment where bill_id = silent': 'not_charged',
        'spend_by_dimension_monthly.spend where dimension = account and dimension_id = office': 200,
        'spend_by_dimension_monthly.spend where dimension = account and dimension_id = travel': 238,
        'bill_lines.tax_treatment where bill_id = discounted': 'inclusive',
        'bill_lines.tax_treatment where bill_id = lowered': 'inclusive',
        'spend_lines.net_amount where document_id = discounted': 81,
      },
    ),
    worked(
      'discounted-lines',
      {
        0: [
          addBill('after-discount', {
            ...{ ...october, total_amount: 110, sub_total: 100, tax_amount: 10, total_discount: 10 },
            line_items: [discounted],
          }),
          addBill('silent', { ...october, vendor_id: 'b', total_amount: 110, line_items: [discounted] }),
          addCredit('memo', { ...october, vendor_id: 'c', total_amount: 110, line_items: [discounted] }),
          // Its subtotal equals its total: without the discount, or without the tax.
          addBill('two-readings', {
            ...{ ...october, vendor_id: 'd', total_amount: 110, sub_total: 110, line_items: [discounted] },
          }),
          addBill('header-alone', {
            ...{
              ...october,
              vendor_id: 'e',
              total_amount: 99,
              sub_total: 100,
              tax_amount: 9,
              total_discount: 10,
            },
            line_items: [{ ...office, total_amount: 99 }],
          }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = after-discount': 100,
        'spend_lines.net_amount where document_id = silent': 100,
        'spend_lines.net_amount where document_id = memo': -100,
        'spend_lines.net_amount where document_id = two-readings': null,
        'spend_lines.net_amount where document_id = header-alone': 90,
      },
    ),
    worked(
      'returned-whole',
      {
        0: [
          addBill('bill', { ...header119, line_items: [{ ...office, ...prices }] }),
          addCredit('memo', { ...october, total_amount: 119, line_items: [{ ...office, ...prices }] }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = bill': 100,
        'spend_lines.net_amount where document_id = memo': null,
        'spend_lines.gross_amount where document_id = memo': -119,
        'data_quality.failed_rows where check_name = unknown_tax_treatment': 1,
      },
    ),
    worked(
      'half-told-headers',
      {
        0: [
          addBill('subtotal', {
            ...{ ...october, total_amount: 119, sub_total: 100 },
            line_items: [{ ...office, total_amount: 119 }],
          }),
          addBill('subtotal-and-line', {
            ...{ ...october, vendor_id: 'b', total_amount: 119, sub_total: 100 },
            line_items: [{ ...office, ...prices }],
          }),
          addBill('tax', {
            ...{ ...october, vendor_id: 'c', total_amount: 119, tax_amount: 19 },
            line_items: [{ ...office, ...prices }],
          }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = subtotal': null,
        'spend_lines.net_amount where document_id = subtotal-and-line': 100,
        'spend_lines.net_amount where document_id = tax': null,
        'data_quality.failed_rows where check_name = header_tax_not_in_lines': 1,
      },
    ),
    worked(
      'tax-in-balance',
      {
        0: [
          addBill('no-subtotal', {
            ...header119,
            line_items: [{ ...office, tax_amount: 19, total_amount: 100 }],
          }),
          addBill('discounted', {
            ...{ ...october, total_amount: 107.1, sub_total: 90, tax_amount: 17.1 },
            line_items: [
              { ...office, sub_total: 100, discount_amount: 10, tax_amount: 17.1, total_amount: 90 },
            ],
          }),
          addBill('no-total', { ...header119, line_items: [{ ...office, sub_total: 100, tax_amount: 19 }] }),
          addBill('in-doubles', {
            ...{ ...october, total_amount: 39.66666666666667 },
            ...{ sub_total: 33.33333333333333, tax_amount: 6.33333333333333 },
            line_items: [
              {
                ...office,
                sub_total: 33.33333333333333,
                tax_amount: 6.33333333333333,
                total_amount: 39.66666666666667,
              },
            ],
          }),
        ],
      },
      {
        'spend_lines.gross_amount where document_id = no-subtotal and position = -1': 19,
        'spend_lines.net_amount where document_id = no-subtotal and position = -1': null,
        'spend_lines.net_amount where document_id = discounted and position = -1': null,
        'spend_lines.net_amount where document_id = no-total and position = -1': null,
        'bill_lines.tax_treatment where bill_id = in-doubles': 'inclusive',
        'bill_lines.net_amount where bill_id = in-doubles': 33.333333334,
      },
    ),
    worked(
      'discounted-headers',
      {
        0: [
          ...[null, 0].map((tax) =>
            addBill(`beside-${tax}`, {
              ...{ ...off10, vendor_id: `beside-${tax}`, tax_amount: tax },
              line_items: [{ ...office, sub_total: 100, tax_amount: 19, total_amount: 100 }],
            }),
          ),
          ...[null, 0].map((tax) =>
            addBill(`within-${tax}`, {
              ...{ ...off10, vendor_id: `within-${tax}`, tax_amount: tax },
              line_items: [whole],
            }),
          ),
          addBill('by-its-tax', {
            ...{ ...october, vendor_id: 'c', sub_total: 100, tax_amount: 0, total_discount: 19 },
            ...{ total_amount: 81, line_items: [whole] },
          }),
          addBill('rounded', {
            ...{ ...october, vendor_id: 'd', sub_total: 99.98, tax_amount: 0, total_amount: 100 },
            line_items: [{ ...office, sub_total: 99.98, tax_amount: 7.7, total_amount: 99.98 }],
          }),
          addBill('prices', {
            ...{ ...october, vendor_id: 'e', sub_total: 100, tax_amount: 19, total_discount: 10 },
            ...{ total_amount: 109, line_items: [{ ...prices, account_id: 'travel' }] },
          }),
          // 50 more than its lines, with no tax to explain it.
          addBill('freight', {
            ...{ ...october, vendor_id: 'f', total_amount: 169, line_items: [{ ...whole, account_id: 'f' }] },
          }),
        ],
      },
      {
        ...Object.fromEntries(
          ['beside-null', 'beside-0', 'within-null', 'within-0'].flatMap((bill) => [
            [`spend_lines.gross_amount where document_id = ${bill} and position = 0`, 100],
            [`spend_lines.net_amount where document_id = ${bill}`, 90],
          ]),
        ),
        'spend_lines.net_amount where document_id = by-its-tax and position = 0': 100,
        'spend_lines.net_amount where document_id = by-its-tax': 81,
        'spend_lines.gross_amount where document_id = rounded and position = 0': 99.98,
        'spend_lines.net_amount where document_id = rounded': 100,
        'spend_lines.net_amount where document_id = prices and position = 0': 100,
        'spend_lines.net_amount where document_id = prices': 90,
        'spend_by_dimension_monthly.spend where dimension = account and dimension_id = travel': 119,
        'spend_lines.gross_amount where document_id = freight and position = -1': 50,
        'spend_lines.net_amount where document_id = freight and position = -1': null,
      },
    ),
    worked(
      'silent-headers',
      {
        0: [
          addBill('prices', { ...october, total_amount: 119, line_items: [{ ...office, ...prices }] }),
          ...[null, 0].map((tax) =>
            addBill(`more-${tax}`, {
              ...{ ...october, vendor_id: `more-${tax}`, total_amount: 119 },
              line_items: [{ ...office, sub_total: 100, tax_amount: tax, total_amount: 119 }],
            }),
          ),
        ],
      },
      {
        'spend_lines.net_amount where document_id = prices': null,
        'spend_lines.net_amount where document_id = more-null': null,
        'spend_lines.net_amount where document_id = more-0': null,
        'data_quality.failed_rows where check_name = unknown_tax_treatment': 3,
      },
    ),
  ];
}
