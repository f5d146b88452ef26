-- The records that each check of the macro quality_checks found, once per check.
with bills as (
    select * from {{ ref('bills') }}
),

posted_bills as (
    select * from bills
    where posting_status = 'posted'
),

bill_taxes as (
    select * from {{ ref('int_bills__taxed') }}
),

taxed_bills as (
    select
        bill_taxes.connection_id,
        bill_taxes.bill_id,
        bill_taxes.has_untold_tax
    from bill_taxes
    inner join posted_bills
        on bill_taxes.connection_id = posted_bills.connection_id and bill_taxes.bill_id = posted_bills.bill_id
),

vendor_credits as (
    select * from {{ ref('vendor_credits') }}
),

posted_credits as (
    select * from vendor_credits
    where posting_status = 'posted'
),

expenses as (
    select * from {{ ref('expenses') }}
),

expense_lines as (
    select * from {{ ref('expense_lines') }}
),

-- The API tells no total of an expense. If no line has one, the expense counts as 0 and nobody knows what it cost. Another check
-- finds lines whose total does not fit.
expenses_without_amount as (
    select
        expenses.connection_id,
        expenses.expense_id
    from expenses
    left join expense_lines
        on
            expenses.connection_id = expense_lines.connection_id
            and expenses.expense_id = expense_lines.expense_id
            and (expense_lines.total_amount is not null or expense_lines.signed_amount is null)
    where expense_lines.expense_id is null
),

-- Every kind of document, dated in a year that nobody looks at.
dated_documents as (
    select
        connection_id,
        bill_id as document_id,
        least(issue_date, due_date) as first_date,
        greatest(issue_date, due_date) as last_date
    from posted_bills
    union all
    select
        connection_id,
        vendor_credit_id as document_id,
        issue_date as first_date,
        issue_date as last_date
    from posted_credits
    union all
    select
        connection_id,
        expense_id as document_id,
        transaction_date as first_date,
        transaction_date as last_date
    from expenses
),

-- Rates of documents are in the currency of the books. A foreign document has the rate 1 if the base currency differs from it, or
-- if nobody filled in the rate.
rated_documents as (
    select
        connection_id,
        bill_id as document_id,
        fx_status,
        fx_rate
    from posted_bills
    union all
    select
        connection_id,
        expense_id as document_id,
        fx_status,
        fx_rate
    from expenses
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- If one company has two connections, each of its bills is in both. Two companies may have the same number as a platform ID; with
-- the same day and amount it is one bill.
bills_of_companies as (
    select
        posted_bills.connection_id,
        posted_bills.bill_id,
        min(posted_bills.connection_id) over one_bill <> max(posted_bills.connection_id) over one_bill as is_elsewhere
    from posted_bills
    inner join connections on posted_bills.connection_id = connections.connection_id
    where
        posted_bills.platform_id is not null and posted_bills.issue_date is not null
        and posted_bills.total_amount is not null
    window one_bill as (
        partition by
            connections.platform, connections.org_id, posted_bills.platform_id, posted_bills.issue_date,
            posted_bills.currency_code, posted_bills.total_amount
    )
),

sources as (
    select * from {{ ref('connections') }}
),

spend_lines as (
    select * from {{ ref('spend_lines') }}
),

accounts as (
    select * from {{ ref('accounts') }}
),

-- If the card or the bill that a document pays off was itself recorded, its lines are spent twice.
lines_on_payment_accounts as (
    select
        spend_lines.connection_id,
        spend_lines.document_id
    from spend_lines
    inner join accounts
        on spend_lines.connection_id = accounts.connection_id and spend_lines.account_id = accounts.account_id
    where
        spend_lines.posting_status = 'posted' and coalesce(spend_lines.gross_amount <> 0, true)
        and accounts.role in ('ap_credit', 'payment_source')
),

balancing_credit_lines as (
    select * from spend_lines
    where source_type = 'vendor_credit' and position = -1 and posting_status = 'posted'
),

allocations as (
    select * from {{ ref('allocations') }}
),

customers as (
    select * from {{ ref('customers') }}
),

items as (
    select * from {{ ref('items') }}
),

-- Lines whose customer or item was deleted, or was never read: a join by it loses the line.
lines_of_unknown_customers as (
    select
        spend_lines.connection_id,
        spend_lines.document_id
    from spend_lines
    left join customers
        on spend_lines.connection_id = customers.connection_id and spend_lines.customer_id = customers.customer_id
    where spend_lines.customer_id is not null and customers.customer_id is null
),

lines_of_unknown_items as (
    select
        spend_lines.connection_id,
        spend_lines.document_id
    from spend_lines
    left join items on spend_lines.connection_id = items.connection_id and spend_lines.item_id = items.item_id
    where spend_lines.item_id is not null and items.item_id is null
),

-- Items of existing subscriptions as they are now: an item that the source has corrected is no longer odd, whatever it was worth
-- before.
subscription_items as (
    select * from {{ ref('int_subscription_item_versions__priced') }}
    where next_month is null
),

subscriptions as (
    select * from {{ ref('stg_finance__subscriptions') }}
),

learned_late as (
    select * from {{ ref('int_subscriptions__learned_late') }}
),

late_subscriptions as (
    select
        learned_late.connection_id,
        learned_late.subscription_id
    from learned_late
    inner join subscriptions
        on
            learned_late.connection_id = subscriptions.connection_id
            and learned_late.subscription_id = subscriptions.subscription_id
),

duplicate_bills as (
    select * from {{ ref('duplicate_bills') }}
),

unfit_values as (
    select * from {{ ref('stg_finance__unfit_values') }}
),

field_issues as (
    select * from {{ ref('stg_finance__field_issues') }}
),

waiting_deletions as (
    select * from {{ ref('stg_finance__waiting_deletions') }}
),

credit_links as (
    select
        connection_id,
        document_id as bill_id,
        has_other_date
    from {{ ref('int_credit_links__dated') }}
    where told_by = 'bill'
),

allocation_sides as (
    select
        allocations.connection_id,
        allocations.bill_id,
        allocations.source_id,
        bills.currency_code,
        {{ daybook.whole_sum('allocations.allocated_amount', "allocations.told_by = 'bill'") }} as told_by_bill,
        {{ daybook.whole_sum('allocations.memo_side_amount', "allocations.told_by = 'vendor_credit'") }} as told_by_credit
    from allocations
    inner join bills
        on allocations.connection_id = bills.connection_id and allocations.bill_id = bills.bill_id
    left join vendor_credits as credits
        on allocations.connection_id = credits.connection_id and allocations.source_id = credits.vendor_credit_id
    where
        allocations.source_type = 'credit' and not allocations.is_orphan
        -- Amounts in two currencies cannot be compared.
        and (credits.vendor_credit_id is null or credits.currency_code is not distinct from bills.currency_code)
    group by allocations.connection_id, allocations.bill_id, allocations.source_id, bills.currency_code
),

found as (
    {% for check_name, rows, key, condition in daybook.quality_checks() -%}
        select distinct
            connection_id,
            '{{ check_name }}' as check_name,
            {{ key }} as record_id
        from {{ rows }}
        where {{ condition }}
        {{ "union all" if not loop.last }}
    {% endfor %}
)

select * from found
