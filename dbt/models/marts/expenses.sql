with expenses as (
    select * from {{ ref('stg_finance__expenses') }}
),

lines as (
    select * from {{ ref('expense_lines') }}
),

rated as (
    select * from {{ ref('int_documents__rated') }}
    where document_type = 'expense'
),

line_totals as (
    select
        connection_id,
        expense_id,
        count(*) as line_count,
        case when count(*) = count(signed_amount) then coalesce(sum(total_amount), 0) end as total_amount,
        {{ daybook.whole_sum('signed_amount') }} as signed_amount,
        {{ daybook.whole_sum('signed_amount_base') }} as signed_amount_base
    from lines
    group by connection_id, expense_id
),

waiting as (
    select * from {{ ref('stg_finance__waiting_deletions') }}
    where resource = 'expenses'
),

final as (
    select
        expenses.connection_id,
        expenses.expense_id,
        expenses.platform_id,
        expenses.expense_type as source_type,
        case when expenses.expense_type = 'refund' then 'refund' else 'expense' end as expense_type,
        expenses.transaction_date,
        coalesce(expenses.vendor_id, '(none)') as vendor_id,
        expenses.account_id,
        expenses.subsidiary_id,
        expenses.currency_code,
        cast(case when line_totals.expense_id is null then 0 else line_totals.total_amount end as numeric(38, 9)) as total_amount,
        cast(
            case when line_totals.expense_id is null then 0 else line_totals.signed_amount end as numeric(38, 9)
        ) as signed_amount,
        coalesce(expenses.expense_type = 'refund' and line_totals.total_amount <= 0, false) as has_unexpected_sign,
        coalesce(line_totals.line_count, 0) as line_count,
        rated.base_currency,
        rated.fx_rate,
        rated.fx_status,
        cast(
            case
                when line_totals.expense_id is null and rated.fx_rate is not null then 0
                else line_totals.signed_amount_base
            end as numeric(38, 9)
        ) as signed_amount_base,
        waiting.record_id is not null as awaits_deletion,
        expenses.memo,
        expenses.created_at,
        expenses.updated_at,
        expenses.last_synced_at
    from expenses
    inner join rated on expenses.connection_id = rated.connection_id and expenses.expense_id = rated.document_id
    left join line_totals
        on expenses.connection_id = line_totals.connection_id and expenses.expense_id = line_totals.expense_id
    left join waiting on expenses.connection_id = waiting.connection_id and expenses.expense_id = waiting.record_id
)

select * from final
