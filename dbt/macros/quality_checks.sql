{#-
    Checks for oddities of the source. Each names a CTE of int_quality__found, the column that names the record, and the condition
    that finds it. No check stops a build.
-#}
{% macro quality_checks() -%}
    {%- set today = daybook.as_of_date() -%}
    {%- set noise = daybook.noise('currency_code') -%}
    {%- set in_five_years = daybook.add_months(today, 60) -%}
    {%- set year_2000 = "cast('2000-01-01' as date)" -%}
    {{ return([
        ('amount_due_unexplained', 'posted_bills', 'bill_id', 'has_unexplained_amount'),
        ('bill_status_incoherent', 'posted_bills', 'bill_id',
            "case source_status when 'paid' then abs(amount_due) > " ~ noise
            ~ " when 'open' then abs(amount_due - total_amount) > " ~ noise
            ~ " when 'partially_paid' then abs(amount_due) <= " ~ noise ~ ' or abs(amount_due - total_amount) <= ' ~ noise ~ ' end'),
        ('lines_differ_from_header', 'posted_bills', 'bill_id',
            'abs(line_variance) > ' ~ noise ~ ' and abs(line_variance + coalesce(total_discount, 0)) > ' ~ noise
            ~ ' and abs(line_variance + coalesce(total_discount, 0) - coalesce(tax_amount, 0)) > ' ~ noise),
        ('credit_lines_differ_from_header', 'balancing_credit_lines', 'document_id', 'abs(gross_amount) > ' ~ noise),
        ('header_tax_not_in_lines', 'taxed_bills', 'bill_id', 'has_untold_tax'),
        ('negative_bill', 'posted_bills', 'bill_id', 'total_amount < 0'),
        ('unconverted_bill', 'posted_bills', 'bill_id', "fx_status in ('missing_rate', 'unverified_direction')"),
        ('due_before_issue', 'posted_bills', 'bill_id', 'due_date < issue_date'),
        ('no_issue_date', 'posted_bills', 'bill_id', 'issue_date is null'),
        ('no_due_date', 'posted_bills', 'bill_id', 'due_date is null'),
        ('date_out_of_range', 'dated_documents', 'document_id',
            'first_date < ' ~ year_2000 ~ ' or last_date > ' ~ in_five_years),
        ('unposted_bill_settled', 'bills', 'bill_id', "posting_status = 'excluded' and (paid_amount <> 0 or credited_amount <> 0)"),
        ('company_twice', 'bills_of_companies', 'bill_id', 'is_elsewhere'),
        ('unknown_bill_status', 'bills', 'bill_id', "posting_status = 'unknown'"),
        ('credit_remaining_unexplained', 'posted_credits', 'vendor_credit_id',
            'abs(remaining_amount_variance) > ' ~ noise),
        ('negative_vendor_credit', 'posted_credits', 'vendor_credit_id', 'total_amount < 0'),
        ('unconverted_vendor_credit', 'posted_credits', 'vendor_credit_id',
            "fx_status in ('missing_rate', 'unverified_direction', 'no_rate_in_source')"),
        ('unknown_credit_status', 'vendor_credits', 'vendor_credit_id', "posting_status = 'unknown'"),
        ('unposted_credit_applied', 'vendor_credits', 'vendor_credit_id', "posting_status = 'excluded' and applied_amount <> 0"),
        ('undated_vendor_credit', 'posted_credits', 'vendor_credit_id', 'issue_date is null'),
        ('refund_sign', 'expenses', 'expense_id', 'has_unexpected_sign'),
        ('unconverted_expense', 'expenses', 'expense_id', "fx_status in ('missing_rate', 'unverified_direction')"),
        ('foreign_rate_is_one', 'rated_documents', 'document_id', "fx_status = 'document_rate' and fx_rate = 1"),
        ('undated_expense', 'expenses', 'expense_id', 'transaction_date is null'),
        ('unknown_expense_type', 'expenses', 'expense_id', "coalesce(source_type, '') not in ('expense', 'refund')"),
        ('expense_without_amount', 'expenses_without_amount', 'expense_id', 'true'),
        ('spend_in_future', 'spend_lines', 'document_id', 'is_in_future'),
        ('no_currency', 'spend_lines', 'document_id', 'currency_code is null'),
        ('spend_on_payment_account', 'lines_on_payment_accounts', 'document_id', 'true'),
        ('line_of_unknown_customer', 'lines_of_unknown_customers', 'document_id', 'true'),
        ('line_of_unknown_item', 'lines_of_unknown_items', 'document_id', 'true'),
        ('unknown_tax_treatment', 'spend_lines', 'document_id',
            "tax_treatment = 'unknown' and gross_amount is not null and source_type in ('bill', 'vendor_credit')"),
        ('undated_allocation', 'allocations', 'document_id', 'allocated_date is null'),
        ('orphan_allocation', 'allocations', 'document_id', 'is_orphan'),
        ('credit_allocation_one_sided', 'allocation_sides', 'bill_id', 'abs(told_by_bill - told_by_credit) > ' ~ noise),
        ('credit_link_dates_differ', 'credit_links', 'bill_id', 'has_other_date'),
        ('amount_rounded', 'unfit_values', 'record_id', 'is_rounded'),
        ('amount_does_not_fit', 'unfit_values', 'record_id', 'not is_rounded'),
        ('decimal_text_unreadable', 'field_issues', 'record_id', 'true'),
        ('deletion_awaits_approval', 'waiting_deletions', 'record_id', 'true'),
        ('cyclic_customer_parents', 'customers', 'customer_id', 'has_cyclic_parents'),
        ('unpriced_subscription', 'subscription_items', 'subscription_id', "mrr_status in ('unknown_interval', 'no_amount')"),
        ('item_amount_unexplained', 'subscription_items', 'subscription_id', 'abs(period_amount_variance) > ' ~ noise),
        ('unknown_subscription_status', 'subscription_items', 'subscription_id', "mrr_status = 'unknown_status'"),
        ('source_quiet', 'sources', 'connection_id', 'is_quiet'),
        ('subscription_learned_late', 'late_subscriptions', 'subscription_id', 'true'),
        ('possible_duplicate', 'duplicate_bills', 'bill_id_a', 'true')
    ]) }}
{%- endmacro %}
