/** A deliberate mistake in the models: one edit of one file of the dbt project, where `find` must stand exactly once. */
export interface Mistake {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** Mistakes that such models have had, or could: the calculator must notice each. */
export const mistakes: readonly Mistake[] = [
  {
    name: 'a refund adds to spend',
    file: 'models/intermediate/int_spend__lined.sql',
    find: 'and expense_totals.total_amount > 0 then -1',
    replace: 'and expense_totals.total_amount > 0 then 1',
  },
  {
    name: 'a void bill counts',
    file: 'macros/posting_status.sql',
    find: "('open', 'partially_paid', 'paid')",
    replace: "('open', 'partially_paid', 'paid', 'void')",
  },
  {
    name: 'a draft counts',
    file: 'macros/posting_status.sql',
    find: "('open', 'partially_paid', 'paid')",
    replace: "('open', 'partially_paid', 'paid', 'draft')",
  },
  {
    name: 'a status nobody knows counts',
    file: 'macros/posting_status.sql',
    find: "else 'unknown'",
    replace: "else 'posted'",
  },
  {
    name: 'a sum leaves out what is not known',
    file: 'macros/engine/whole_sum.sql',
    find: 'when count(*) filter (where {{ condition }}) = count({{ amount }}) filter (where {{ condition }})',
    replace: 'when true',
  },
  {
    name: 'ageing by the date of issue',
    file: 'models/marts/ap_open_items.sql',
    find: "daybook.days_between('documents.due_date', 'open_documents.as_of_date')",
    replace: "daybook.days_between('documents.issue_date', 'open_documents.as_of_date')",
  },
  {
    name: 'a payment dated ahead counts already',
    file: 'models/intermediate/int_ap_documents__standing.sql',
    find: 'allocations.counted_date > days.as_of_date',
    replace: 'allocations.counted_date > days.as_of_date and not days.is_today',
  },
  {
    name: 'a payment of the day itself is still to come',
    file: 'models/intermediate/int_ap_documents__standing.sql',
    find: 'allocations.counted_date > days.as_of_date',
    replace: 'allocations.counted_date >= days.as_of_date',
  },
  {
    name: 'a bill without an issue date is not issued',
    file: 'models/intermediate/int_ap_documents__standing.sql',
    find: 'documents.issue_date is null or documents.issue_date <= days.as_of_date or days.is_today\n    where',
    replace: 'documents.issue_date <= days.as_of_date or days.is_today\n    where',
  },
  {
    name: 'credits are added to what is owed',
    file: 'models/intermediate/int_ap_documents__settled.sql',
    find: '-remaining_amount as open_amount',
    replace: 'remaining_amount as open_amount',
  },
  {
    name: 'an applied credit is undone twice',
    file: 'models/intermediate/int_ap_allocations__signed.sql',
    find: 'else -credit_links.allocated_amount end',
    replace: 'else -2 * credit_links.allocated_amount end',
  },
  {
    name: 'what the credit tells is told of the bill again',
    file: 'models/intermediate/int_ap_allocations__signed.sql',
    find: 'credit_links.told_by as document_type,\n        credit_links.document_id,',
    replace: "'bill' as document_type,\n        credit_links.bill_id as document_id,",
  },
  {
    name: 'the month-end is the day before',
    file: 'models/intermediate/int_ageing__dated.sql',
    find: "{{ daybook.add_months('day', 1) }} - 1 as as_of_date",
    replace: "{{ daybook.add_months('day', 1) }} - 2 as as_of_date",
  },
  {
    name: 'purchases still to come count in this month',
    file: 'models/marts/ap_kpis_monthly.sql',
    find: 'where issue_date is not null and issue_date <= {{ daybook.as_of_date() }}',
    replace: 'where issue_date is not null',
  },
  {
    name: 'a payment counts once for each line of its bill',
    file: 'models/marts/ap_kpis_monthly.sql',
    find: 'inner join bills on allocations.connection_id = bills.connection_id and allocations.bill_id = bills.bill_id',
    replace:
      "inner join bills on allocations.connection_id = bills.connection_id and allocations.bill_id = bills.bill_id inner join {{ ref('bill_lines') }} as doubled on bills.connection_id = doubled.connection_id and bills.bill_id = doubled.bill_id",
  },
  {
    name: 'due today is overdue',
    file: 'macros/due_bucket.sql',
    find: "when {{ days }} < 0 then 'overdue'",
    replace: "when {{ days }} <= 0 then 'overdue'",
  },
  {
    name: 'the usual delay is that of bills that are still open',
    file: 'models/marts/cash_requirements.sql',
    find: 'not is_open and (issue_date is null',
    replace: 'is_open and (issue_date is null',
  },
  {
    name: 'dated ahead is due before it is issued',
    file: 'models/marts/cash_requirements.sql',
    find: 'greatest(due_date, issue_date) end as due_date,',
    replace: 'due_date end as due_date,',
  },
  {
    name: 'tax is added to a line that has it',
    file: 'macros/taxed_lines.sql',
    find: "when tax_treatment = 'exclusive' then total_amount + tax_amount",
    replace: "when tax_treatment in ('exclusive', 'inclusive') then total_amount + tax_amount",
  },
  {
    name: 'a yen has cents',
    file: 'macros/minor_units.sql',
    find: "'ISK', 'JPY', 'KMF'",
    replace: "'ISK', 'KMF'",
  },
  {
    name: 'a rate of an unknown direction is multiplied by',
    file: 'models/intermediate/int_documents__rated.sql',
    find: "when documents.own_rate > 0 and connections.rates_multiply then 'document_rate'",
    replace: "when documents.own_rate > 0 then 'document_rate'",
  },
  {
    name: 'a part of a month is compared with a whole one',
    file: 'models/marts/vendor_spend_monthly.sql',
    find: 'when this_year.is_complete and last_year.spend > 0',
    replace: 'when last_year.spend > 0',
  },
  {
    name: 'spend without a currency is lost in the year before',
    file: 'models/marts/vendor_spend_monthly.sql',
    find: 'and this_year.currency_code is not distinct from last_year.currency_code',
    replace: 'and this_year.currency_code = last_year.currency_code',
  },
  {
    name: 'two vendors of one name are one',
    file: 'macros/label.sql',
    find: 'when longer.namesakes > 1 then longer.long_label',
    replace: 'when longer.namesakes > 2 then longer.long_label',
  },
  {
    name: 'a trial is recurring revenue',
    file: 'models/intermediate/int_subscription_items__priced.sql',
    find: "when items.status = 'active' then true",
    replace: "when items.status in ('active', 'in_trial') then true",
  },
  {
    name: 'a week is a quarter of a month',
    file: 'models/intermediate/int_subscription_items__priced.sql',
    find: "when lower(items.billing_interval) = 'week' then 52",
    replace: "when lower(items.billing_interval) = 'week' then 48",
  },
  {
    name: 'tax that only a header tells is net',
    file: 'models/intermediate/int_spend__lined.sql',
    find: 'balances.missing_amount - bill_taxes.untold_tax',
    replace: 'balances.missing_amount',
  },
  {
    name: 'a line that holds the tax of its header has none',
    file: 'models/intermediate/int_bill_lines__netted.sql',
    find: 'case when has_tax_of_header then only_net_amount else net_amount end',
    replace: 'net_amount',
  },
  {
    name: 'a payment back is weighed with the payments',
    file: 'models/marts/ap_kpis_monthly.sql',
    find: 'coalesce(allocations.allocated_amount > 0, true) and coalesce(bills.total_amount > 0, true) as is_weighed',
    replace: 'true as is_weighed',
  },
  {
    name: 'days payable have bills of which no purchase is known',
    file: 'models/marts/ap_kpis_monthly.sql',
    find: "'not is_credit and issue_date is not null'",
    replace: "'not is_credit'",
  },
  {
    name: 'a vendor that gave back more has a share below 0',
    file: 'models/marts/vendor_spend_monthly.sql',
    find: 'case when spend < 0 then 0 else spend end as positive_spend',
    replace: 'spend as positive_spend',
  },
  {
    name: 'spend still to come counts in this month',
    file: 'models/marts/vendor_spend_monthly.sql',
    find: "where posting_status = 'posted' and not is_in_future",
    replace: "where posting_status = 'posted'",
  },
  {
    name: 'a month opens with what was read last',
    file: 'models/marts/mrr_movements_monthly.sql',
    find: 'else lag(closing) over (',
    replace: 'else lag(case when is_observed then closing end ignore nulls) over (',
  },
  {
    name: 'who changes the currency is new, and lost',
    file: 'models/marts/mrr_movements_monthly.sql',
    find: 'bool_or(opened.{{ end }} <> 0) over customer_month',
    replace: 'opened.{{ end }} <> 0',
  },
  {
    name: 'subscriptions of nobody are one customer',
    file: 'models/intermediate/int_subscription_items__priced.sql',
    find: "coalesce(owned.platform_customer_id, '(none) ' || items.subscription_id)",
    replace: "coalesce(owned.platform_customer_id, '(none)')",
  },
  {
    name: 'what is expected before today is overdue',
    file: 'models/marts/cash_requirements.sql',
    find: 'case when due_date >= as_of_date then as_of_date end as not_before',
    replace: 'cast(null as date) as not_before',
  },
  {
    name: 'bills of nobody have a habit in common',
    file: 'models/marts/cash_requirements.sql',
    find: "and vendor_id <> '(none)'",
    replace: 'and true',
  },
  {
    name: 'the residue of a double is open',
    file: 'models/intermediate/int_ap_documents__standing.sql',
    find: "abs(amount) > {{ daybook.noise('currency_code') }}",
    replace: 'amount <> 0',
  },
  {
    name: 'a credit counts when the credit says, a bill when the bill says',
    file: 'models/intermediate/int_credit_links__dated.sql',
    find: 'coalesce(bill_date, credit_date) as counted_date',
    replace:
      "case when told_by = 'bill' then coalesce(bill_date, credit_date) else coalesce(credit_date, bill_date) end as counted_date",
  },
  {
    name: 'a credit that is told in parts counts row by row',
    file: 'models/intermediate/int_credit_links__dated.sql',
    find: 'and (min(allocated_amount) over pair > 0 or max(allocated_amount) over pair < 0) as has_measure',
    replace: 'and false as has_measure',
  },
  {
    name: 'a credit counts before both documents are issued',
    file: 'models/intermediate/int_ap_allocations__signed.sql',
    find: 'else greatest(credit_links.counted_date, bills.issue_date, credits.issue_date)',
    replace: 'else credit_links.counted_date',
  },
  {
    name: 'a bill below 0 is taken off what is owed',
    file: 'models/intermediate/int_ap_documents__standing.sql',
    find: "document_type = 'vendor_credit' or coalesce(amount < 0, false) as is_credit",
    replace: "document_type = 'vendor_credit' as is_credit",
  },
  {
    name: 'a status that nobody knows pays nothing',
    file: 'models/intermediate/int_subscription_items__priced.sql',
    find: "when items.status in ('in_trial', 'paused', 'canceled') then false",
    replace: 'else false',
  },
  {
    name: 'what has no price is lost revenue',
    file: 'models/marts/mrr_movements_monthly.sql',
    find: "{{ daybook.whole_sum('mrr') }} as mrr",
    replace: 'coalesce(sum(mrr), 0) as mrr',
  },
  {
    name: 'who may still pay in another currency is lost',
    file: 'models/marts/mrr_movements_monthly.sql',
    find: 'when bool_or(opened.{{ end }} is null) over customer_month then null',
    replace: 'when false then null',
  },
  {
    name: 'what a credit is more than its lines is net',
    file: 'models/intermediate/int_spend__lined.sql',
    find: "balances.document_type = 'vendor_credit'\n                and abs(balances.missing_amount) >",
    replace: 'false and abs(balances.missing_amount) >',
  },
  {
    name: 'tax that the vendor does not charge is on top',
    file: 'macros/taxed_lines.sql',
    find: "when {{ has_tax_beside }} and headers.is_sum_of_lines then 'not_charged'",
    replace: '',
  },
  {
    name: 'both amounts of a pair are in the currency of the first',
    file: 'models/marts/duplicate_bills.sql',
    find: 'b.currency_code as currency_code_b',
    replace: 'a.currency_code as currency_code_b',
  },
  {
    name: 'a payment that moves nothing is the last one',
    file: 'models/intermediate/int_bills__paid_off.sql',
    find: "and paid_by_then - paid < paid_in_all - {{ daybook.noise('currency_code') }}",
    replace: 'and true',
  },
  {
    name: 'a bill without a due date is paid in time',
    file: 'models/marts/ap_kpis_monthly.sql',
    find: 'allocations.allocated_date > bills.due_date as is_late',
    replace: 'coalesce(allocations.allocated_date > bills.due_date, false) as is_late',
  },
  {
    name: 'months that are gone from history are told',
    file: 'models/intermediate/int_subscription_months__observed.sql',
    find: 'coalesce(series.month > pruned.last_pruned_month, true)',
    replace: 'true',
  },
  {
    name: 'a payment that is not taken off yet is due twice',
    file: 'macros/no_more_than_its_total.sql',
    find: "when {{ document_type }} = 'bill' and {{ total_amount }} > 0",
    replace: "when {{ document_type }} = 'bill' and {{ total_amount }} < 0",
  },
  {
    name: 'a bill that is open was paid off',
    file: 'models/marts/bills.sql',
    find: "case when posting_status = 'posted' and not is_open and not is_dated_ahead then last_settled_date end",
    replace: 'last_settled_date',
  },
  {
    name: 'open bills are set against purchases less what was returned',
    file: 'models/marts/ap_kpis_monthly.sql',
    find: "{{ daybook.whole_sum_over('purchases_above_0', 'three_months') }}",
    replace: "{{ daybook.whole_sum_over('purchases', 'three_months') }}",
  },
  {
    name: 'a subscription is of nobody until it names its customer',
    file: 'models/intermediate/int_subscription_items__priced.sql',
    find: "coalesce(owned.platform_customer_id, '(none) ' || items.subscription_id)",
    replace: "coalesce(items.platform_customer_id, '(none) ' || items.subscription_id)",
  },
];
