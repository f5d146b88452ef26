with credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

allocations as (
    select * from {{ ref('int_ap_allocations__signed') }}
    where document_type = 'vendor_credit'
),

rated as (
    select * from {{ ref('int_documents__rated') }}
    where document_type = 'vendor_credit'
),

line_totals as (
    select
        connection_id,
        document_id,
        {{ daybook.whole_sum('gross_amount_base') }} as total_amount_base
    from {{ ref('int_spend__lined') }}
    where document_type = 'vendor_credit'
    group by connection_id, document_id
),

standing as (
    select * from {{ ref('int_ap_documents__standing') }}
    where is_today and document_type = 'vendor_credit'
),

credited_later as (
    select * from {{ ref('int_ap_documents__credited_later') }}
    where document_type = 'vendor_credit'
),

-- Includes applications that only the bill tells, as far as balances count them.
applied as (
    select
        connection_id,
        document_id,
        -({{ daybook.whole_sum('allocated_amount') }}) as applied_amount
    from allocations
    group by connection_id, document_id
),

waiting as (
    select * from {{ ref('stg_finance__waiting_deletions') }}
    where resource = 'bill_credit_memos'
),

joined as (
    select
        credits.*,
        {{ daybook.posting_status('credits.status') }} as posting_status,
        case when applied.document_id is null then 0 else applied.applied_amount end as applied_amount,
        standing.document_id is not null as is_unapplied,
        case when standing.document_id is null then 0 else -standing.amount end as unapplied_amount,
        case
            when credited_later.document_id is null then 0
            else -credited_later.credited_later_amount
        end as applied_later_amount,
        rated.base_currency,
        rated.fx_rate,
        rated.fx_status,
        case
            when line_totals.document_id is not null then -line_totals.total_amount_base
            when rated.fx_rate is not null then credits.total_amount
        end as total_amount_base,
        {{ daybook.to_base('credits.total_amount', 'rated') }} as converted_total,
        {{ daybook.to_base('credits.remaining_amount', 'rated') }} as remaining_amount_base,
        waiting.record_id is not null as awaits_deletion
    from credits
    inner join rated
        on credits.connection_id = rated.connection_id and credits.bill_credit_memo_id = rated.document_id
    left join line_totals
        on credits.connection_id = line_totals.connection_id and credits.bill_credit_memo_id = line_totals.document_id
    left join standing
        on credits.connection_id = standing.connection_id and credits.bill_credit_memo_id = standing.document_id
    left join credited_later
        on
            credits.connection_id = credited_later.connection_id
            and credits.bill_credit_memo_id = credited_later.document_id
    left join applied
        on credits.connection_id = applied.connection_id and credits.bill_credit_memo_id = applied.document_id
    left join waiting
        on credits.connection_id = waiting.connection_id and credits.bill_credit_memo_id = waiting.record_id
),

final as (
    select
        connection_id,
        bill_credit_memo_id as vendor_credit_id,
        platform_id,
        document_number,
        coalesce(vendor_id, '(none)') as vendor_id,
        account_id,
        issue_date,
        status as source_status,
        posting_status,
        currency_code,
        total_amount,
        remaining_amount,
        cast(unapplied_amount as numeric(38, 9)) as unapplied_amount,
        cast(applied_later_amount as numeric(38, 9)) as applied_later_amount,
        cast(applied_amount as numeric(38, 9)) as applied_amount,
        cast(total_amount - applied_amount as numeric(38, 9)) as computed_remaining_amount,
        cast(remaining_amount - (total_amount - applied_amount) as numeric(38, 9)) as remaining_amount_variance,
        is_unapplied,
        {{ daybook.days_between('issue_date', daybook.as_of_date()) }} as age_days,
        {{ daybook.as_of_date() }} as as_of_date,
        base_currency,
        fx_rate,
        fx_status,
        cast(total_amount_base as numeric(38, 9)) as total_amount_base,
        cast(total_amount_base - converted_total as numeric(38, 9)) as base_rounding_amount,
        cast(remaining_amount_base as numeric(38, 9)) as remaining_amount_base,
        awaits_deletion,
        memo,
        created_at,
        updated_at,
        last_synced_at
    from joined
)

select * from final
