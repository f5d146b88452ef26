-- The records that each check of the macro quality_checks found, each record once a check.
with bills as (
    select * from {{ ref('bills') }}
),

posted_bills as (
    select * from bills
    where posting_status = 'posted'
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

spend_lines as (
    select * from {{ ref('spend_lines') }}
),

allocations as (
    select * from {{ ref('allocations') }}
),

customers as (
    select * from {{ ref('customers') }}
),

subscription_items as (
    select * from {{ ref('subscription_mrr_monthly') }}
),

duplicate_bills as (
    select * from {{ ref('duplicate_bills') }}
),

unfit_values as (
    select * from {{ ref('stg_finance__unfit_values') }}
),

allocation_sides as (
    select
        connection_id,
        bill_id,
        source_id,
        coalesce(min(case when told_by = 'bill' then currency_code end), min(currency_code)) as currency_code,
        {{ daybook.whole_sum('allocated_amount', "told_by = 'bill'") }} as told_by_bill,
        {{ daybook.whole_sum('memo_side_amount', "told_by = 'vendor_credit'") }} as told_by_credit
    from allocations
    where source_type = 'credit' and not is_orphan
    group by connection_id, bill_id, source_id
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
