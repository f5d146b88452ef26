import {
  addBill,
  changeSubscription,
  addCredit,
  addExpense,
  deleteSubscription,
  monthlyItem,
  addSubscription,
  worked,
  type WorkedBook,
} from './worked-book.ts';
import { workedCurrencies } from './worked-currencies.ts';
import { workedDefinitions } from './worked-definitions.ts';
import { workedRecords } from './worked-records.ts';
import { workedRevenue } from './worked-revenue.ts';
import { workedSettlements } from './worked-settlements.ts';
import { workedTaxes } from './worked-taxes.ts';

/** Books that an accountant made for the marts of 0.5.0, each with the figures that they should have shown. */
export function workedBooks(): WorkedBook[] {
  return [
    worked(
      'tax-of-headers',
      {
        0: [
          addBill('on-top', { ...header119, line_items: [{ sub_total: 100, total_amount: 100 }] }),
          addBill('inside', { ...header119, line_items: [{ total_amount: 119 }] }),
          addBill('in-two', { ...header119, line_items: [{ total_amount: 59.5 }, { total_amount: 59.5 }] }),
          addBill('told', {
            ...header119,
            line_items: [{ sub_total: 100, tax_amount: 19, total_amount: 119 }],
          }),
        ],
      },
      {
        'spend_lines.net_amount where document_id = on-top': 100,
        'bill_lines.net_amount where bill_id = on-top': 100,
        'spend_lines.net_amount where document_id = inside': 100,
        'bill_lines.net_amount where bill_id = inside': 100,
        'spend_lines.net_amount where document_id = in-two and position = 0': null,
        'bill_lines.net_amount where bill_id = in-two and position = 1': null,
        'spend_lines.net_amount where document_id = told': 100,
        'spend_lines.gross_amount where source_type = bill': 476,
        'data_quality.failed_rows where check_name = header_tax_not_in_lines': 3,
      },
    ),
    worked(
      'paid-back',
      {
        0: [
          addBill('late', {
            ...{ issue_date: '2026-09-01', due_date: '2026-09-10', total_amount: 1000, ...paid },
            linked_payments: [{ id: 'p1', allocated_date: '2026-11-10', allocated_amount: 1000 }],
          }),
          addBill('negative', {
            ...{ issue_date: '2026-11-01', due_date: '2026-11-20', total_amount: -900, ...paid },
            linked_payments: [{ id: 'p2', allocated_date: '2026-11-10', allocated_amount: -900 }],
          }),
        ],
      },
      {
        'ap_kpis_monthly.paid_late_share where month = 2026-11-01': 1,
        'ap_kpis_monthly.average_days_to_pay where month = 2026-11-01': 70,
        'ap_kpis_monthly.paid where month = 2026-11-01': 100,
      },
    ),
    worked(
      'given-back',
      {
        0: [
          addBill('bought', { issue_date: '2026-10-05', total_amount: 100 }),
          addCredit('returned', { vendor_id: 'b', issue_date: '2026-10-06', total_amount: 60 }),
        ],
      },
      {
        'vendor_spend_monthly.share_of_month where vendor_id = a': 1,
        'vendor_spend_monthly.cumulative_share where vendor_id = a': 1,
        'vendor_spend_monthly.share_of_month where vendor_id = b': 0,
        'vendor_spend_monthly.cumulative_share where vendor_id = b': 1,
      },
    ),
    worked(
      'read-in-part',
      {
        2: [addSubscription('s1', 'c1', 100)],
        1: [addSubscription('s2', 'c2', 70)],
        0: [addSubscription('s3', 'c3', 10)],
      },
      {
        'mrr_movements_monthly.new where month = 2026-11-01': 10,
        'mrr_movements_monthly.opening where month = 2026-11-01': 170,
        'mrr_movements_monthly.closing where month = 2026-11-01': 180,
        'mrr_movements_monthly.new where month = 2026-10-01 and platform_customer_id = c2': null,
        'subscription_mrr_monthly.mrr where month = 2026-10-01 and subscription_id = s2': null,
      },
      { 2: 'complete', 1: 'incomplete', 0: 'complete' },
    ),
    worked(
      'items-not-sent',
      {
        2: [addSubscription('s1', 'c1', 100), addSubscription('s2', 'c2', 30)],
        1: [changeSubscription('s1', { items: null }), changeSubscription('s2', { items: [] })],
        0: [changeSubscription('s1', { items: [monthlyItem(100)] })],
      },
      {
        'mrr_movements_monthly.churn where month = 2026-10-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.closing where month = 2026-10-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.unpriced_items where month = 2026-10-01 and platform_customer_id = c1': 1,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.closing where month = 2026-11-01 and platform_customer_id = c1': 100,
        'mrr_movements_monthly.churn where month = 2026-10-01 and platform_customer_id = c2': -30,
        'subscription_mrr_monthly.mrr_status where month = 2026-10-01 and subscription_id = s1':
          'unknown_interval',
        'subscription_mrr_monthly.mrr where month = 2026-10-01 and subscription_id = s2': undefined,
        'data_quality.failed_rows where check_name = unpriced_subscription': 0,
      },
      { 2: 'complete', 1: 'complete', 0: 'complete' },
    ),
    worked(
      'named-later',
      {
        3: [addSubscription('s1', null, 100)],
        2: [changeSubscription('s1', { platform_customer_id: 'c1' })],
        1: [changeSubscription('s1', { platform_customer_id: null })],
        0: [changeSubscription('s1', { platform_customer_id: 'c2' }), addSubscription('s2', 'c1', 5)],
      },
      {
        'mrr_movements_monthly.churn where month = 2026-09-01': 0,
        'mrr_movements_monthly.new where month = 2026-09-01': 0,
        'mrr_movements_monthly.closing where month = 2026-08-01 and platform_customer_id = c1': 100,
        'mrr_movements_monthly.contraction where month = 2026-10-01 and platform_customer_id = c1': 0,
        'mrr_movements_monthly.churn where month = 2026-10-01 and platform_customer_id = c1': -100,
        'mrr_movements_monthly.new where month = 2026-10-01 and platform_customer_id = c2': 100,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c1': 5,
      },
      { 3: 'complete', 2: 'complete', 1: 'complete', 0: 'complete' },
    ),
    worked(
      'pruned',
      {
        8: [
          addSubscription('s1', 'c1', 100),
          addSubscription('s2', 'c2', 30),
          addSubscription('s3', 'c3', 7),
        ],
        6: [changeSubscription('s1', { items: [monthlyItem(200)] })],
        5: [deleteSubscription('s3')],
        2: [deleteSubscription('s2')],
        1: [addSubscription('s5', 'c2', 31)],
        0: [addSubscription('s4', 'c3', 8), changeSubscription('s1', { items: [monthlyItem(210)] })],
      },
      {
        'mrr_movements_monthly.closing where month = 2026-03-01': null,
        'mrr_movements_monthly.new where month = 2026-05-01': null,
        'mrr_movements_monthly.churn where month = 2026-06-01': null,
        'mrr_movements_monthly.is_baseline where month = 2026-08-01 and platform_customer_id = c1': true,
        'mrr_movements_monthly.closing where month = 2026-08-01': 230,
        'mrr_movements_monthly.new where month = 2026-08-01': 0,
        'mrr_movements_monthly.churn where month = 2026-09-01': -30,
        'mrr_movements_monthly.reactivation where month = 2026-10-01 and platform_customer_id = c2': 31,
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c3': null,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c3': null,
        'mrr_movements_monthly.closing where month = 2026-11-01 and platform_customer_id = c3': 8,
        'mrr_movements_monthly.expansion where month = 2026-11-01 and platform_customer_id = c1': 10,
      },
      { ...allOfTheYear, prunedUntil: 3 },
    ),
    worked(
      'another-currency',
      {
        2: [addSubscription('s1', 'c1', 100)],
        1: [deleteSubscription('s1'), addSubscription('s2', 'c1', 90, 'SGD')],
        0: [deleteSubscription('s2')],
      },
      {
        'mrr_movements_monthly.new where platform_customer_id = c1': 0,
        'mrr_movements_monthly.expansion where month = 2026-10-01 and currency_code = SGD': 90,
        'mrr_movements_monthly.contraction where month = 2026-10-01 and currency_code = NZD': -100,
        'mrr_movements_monthly.churn where month = 2026-10-01 and currency_code = NZD': 0,
        'mrr_movements_monthly.churn where month = 2026-11-01 and currency_code = SGD': -90,
      },
      { 2: 'complete', 1: 'complete', 0: 'complete' },
    ),
    worked(
      'paid-early',
      {
        0: [
          addBill('settled', {
            ...{ issue_date: '2026-09-01', due_date: '2026-10-01', total_amount: 40, ...paid },
            linked_payments: [{ id: 'p1', allocated_date: '2026-09-01', allocated_amount: 40 }],
          }),
          addBill('open', { issue_date: '2026-11-20', due_date: '2026-12-20', total_amount: 5000 }),
        ],
      },
      {
        'cash_requirements.expected_amount where due_bucket = w00': 5000,
        'cash_requirements.expected_amount where due_bucket = overdue': undefined,
        'cash_requirements.amount_due where due_bucket = w04': 5000,
      },
    ),
    worked(
      'to-come',
      {
        0: [
          addBill('bought', { issue_date: '2026-11-05', total_amount: 100 }),
          addBill('ahead', { issue_date: '2026-11-28', total_amount: 10000 }),
        ],
      },
      {
        'ap_kpis_monthly.purchases where month = 2026-11-01': 100,
        'vendor_spend_monthly.bill_spend where spend_month = 2026-11-01': 100,
        'spend_by_dimension_monthly.spend where dimension = class': 100,
        'spend_lines.gross_amount where is_in_future = true': 10000,
      },
    ),
    worked(
      'without-a-date',
      {
        0: [
          addBill('dated', { issue_date: '2026-09-05', total_amount: 100 }),
          addBill('undated', { issue_date: null, due_date: null, total_amount: 9000 }),
          addBill('cancelled', {
            ...{ status: 'void', issue_date: '2026-09-05', total_amount: 40, amount_due: 0 },
            linked_payments: [{ id: 'p1', allocated_date: '2026-09-06', allocated_amount: 40 }],
          }),
          addExpense('card', { transaction_date: null }),
          addExpense('odd', { expense_type: 'chargeback' }),
          addExpense('bare', { line_items: [{ description: 'Taxi' }] }),
          addCredit('memo', { issue_date: null, total_amount: 5 }),
        ],
      },
      {
        'ap_kpis_monthly.open_ap_end where month = 2026-11-01': 9100,
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': 83,
        'data_quality.failed_rows where check_name = no_issue_date': 1,
        'data_quality.failed_rows where check_name = undated_expense': 1,
        'data_quality.failed_rows where check_name = undated_vendor_credit': 1,
        'data_quality.failed_rows where check_name = unposted_bill_settled': 1,
        'data_quality.failed_rows where check_name = unknown_expense_type': 1,
        'data_quality.failed_rows where check_name = expense_without_amount': 1,
      },
    ),
    worked(
      'residue',
      {
        0: [
          addBill('paid', {
            ...{ issue_date: '2026-09-05', due_date: '2026-10-01', total_amount: 20000000 },
            ...{ amount_due: 9.3e-10, status: 'paid' },
            linked_payments: [{ id: 'p1', allocated_date: '2026-10-01', allocated_amount: 20000000 }],
          }),
        ],
      },
      {
        'bills.is_open where bill_id = paid': false,
        'bills.is_overdue where bill_id = paid': false,
        'bills.amount_due where bill_id = paid': 1e-9,
        'ap_ageing.total_open where is_today = true': undefined,
        'ap_ageing.total_open where as_of_date = 2026-09-30': 20000000,
      },
    ),
    worked(
      'scheduled',
      {
        0: [
          addBill('told', {
            ...{ issue_date: '2026-10-01', due_date: '2026-10-31', total_amount: 100 },
            linked_payments: [{ id: 'p1', allocated_date: '2026-11-25', allocated_amount: 100 }],
          }),
          addBill('in-part', {
            ...{ issue_date: '2026-10-01', total_amount: 50, amount_due: 20, status: 'partially_paid' },
            linked_payments: [
              { id: 'p2', allocated_date: '2026-11-05', allocated_amount: 30 },
              { id: 'p3', allocated_date: '2026-11-26', allocated_amount: 20 },
            ],
          }),
          addCredit('memo', {
            ...{ vendor_id: 'b', issue_date: '2026-10-01', total_amount: 30 },
            linked_bills: [{ id: 'elsewhere', allocated_date: '2026-11-25', allocated_amount: 30 }],
          }),
        ],
      },
      {
        'bills.open_amount where bill_id = told': 100,
        'ap_ageing.overdue_amount where is_today = true and vendor_id = a': 100,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = told': 100,
        'bills.open_amount where bill_id = in-part': 20,
        'ap_open_items.open_amount where as_of_date = 2026-10-31 and document_id = in-part': 50,
        'vendor_credits.unapplied_amount where vendor_credit_id = memo': 30,
      },
    ),
    worked(
      'bought-and-returned',
      {
        0: [
          addBill('bought', {
            ...{ issue_date: '2026-11-05', total_amount: 1200, amount_due: 900, status: 'partially_paid' },
            linked_payments: [{ id: 'p1', allocated_date: '2026-11-10', allocated_amount: 300 }],
          }),
          addBill('returned', { issue_date: '2026-11-06', total_amount: -990 }),
        ],
      },
      {
        'ap_kpis_monthly.days_payable_outstanding where month = 2026-11-01': 20.75,
        'ap_kpis_monthly.purchases where month = 2026-11-01': 210,
      },
    ),
    worked(
      'dated-by-side',
      {
        0: [
          addBill('lowered', {
            ...{ issue_date: '2026-10-01', total_amount: 100, amount_due: 70, status: 'partially_paid' },
            linked_credit_memos: [{ id: 'memo', allocated_date: '2026-10-10', allocated_amount: 30 }],
          }),
          addCredit('memo', {
            ...{ issue_date: '2026-10-05', total_amount: 30, remaining_amount: 0, status: 'paid' },
            linked_bills: [{ id: 'lowered', allocated_date: '2026-11-10', allocated_amount: 30 }],
          }),
        ],
      },
      {
        'ap_ageing.total_open where as_of_date = 2026-10-31': 70,
        'ap_ageing.total_open where is_today = true': 70,
        'data_quality.failed_rows where check_name = credit_link_dates_differ': 1,
      },
    ),
    worked(
      'of-nobody',
      {
        1: [addSubscription('s1', null, 50)],
        0: [
          addSubscription('s2', null, 50),
          addBill('settled', {
            ...{
              vendor_id: null,
              issue_date: '2026-08-01',
              due_date: '2026-08-31',
              total_amount: 40,
              ...paid,
            },
            linked_payments: [{ id: 'p1', allocated_date: '2026-10-30', allocated_amount: 40 }],
          }),
          addBill('open', {
            ...{ vendor_id: null, issue_date: '2026-11-20', due_date: '2026-11-24', total_amount: 7 },
          }),
        ],
      },
      {
        'mrr_movements_monthly.new where month = 2026-11-01': 50,
        'mrr_movements_monthly.expansion where month = 2026-11-01': 0,
        'cash_requirements.expected_amount where due_bucket = w00': 7,
      },
      { 1: 'complete', 0: 'complete' },
    ),
    ...workedDefinitions(),
    worked(
      'first-seen-canceled',
      {
        2: [addSubscription('s0', 'c0', 1)],
        1: [addSubscription('s1', 'c1', 100), changeSubscription('s1', { status: 'canceled' })],
        0: [changeSubscription('s1', { status: 'active' })],
      },
      {
        'mrr_movements_monthly.new where month = 2026-11-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.reactivation where month = 2026-11-01 and platform_customer_id = c1': null,
        'mrr_movements_monthly.expansion where month = 2026-11-01 and platform_customer_id = c1': 0,
      },
      { 2: 'complete', 1: 'complete', 0: 'complete' },
    ),
    ...workedSettlements(),
    ...workedCurrencies(),
    ...workedTaxes(),
    ...workedRecords(),
    ...workedRevenue(),
  ];
}

const header119 = { total_amount: 119, sub_total: 100, tax_amount: 19, issue_date: '2026-10-05' };
const paid = { amount_due: 0, status: 'paid' };
const allOfTheYear = Object.fromEntries(Array.from({ length: 12 }, (_, ago) => [ago, 'complete' as const]));
