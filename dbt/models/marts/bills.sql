with bills as (
    select * from {{ ref('stg_finance__bills') }}
),

allocations as (
    select * from {{ ref('int_bill_allocations__unioned') }}
),

paid_off as (
    select * from {{ ref('int_bills__paid_off') }}
),

lines as (
    select * from {{ ref('int_spend__lined') }}
    where document_type = 'bill'
),

rated as (
    select * from {{ ref('int_documents__rated') }}
    where document_type = 'bill'
),

standing as (
    select * from {{ ref('int_ap_documents__standing') }}
    where is_today and document_type = 'bill'
),

credited_later as (
    select * from {{ ref('int_ap_documents__credited_later') }}
    where document_type = 'bill'
),

waiting as (
    select * from {{ ref('stg_finance__waiting_deletions') }}
    where resource = 'bills'
),

unfit as (
    select distinct
        connection_id,
        record_id
    from {{ ref('stg_finance__unfit_values') }}
    where
        table_name in ('bills', 'bill_lines', 'bill_payment_allocations', 'bill_credit_allocations')
        and not is_rounded
),

settlements as (
    select
        connection_id,
        bill_id,
        {{ daybook.whole_sum('allocated_amount', "source_type = 'payment'") }} as paid_amount,
        min(allocated_date) filter (where source_type = 'payment') as first_payment_date,
        max(allocated_date) filter (where source_type = 'payment') as last_payment_date
    from allocations
    group by connection_id, bill_id
),

-- Includes credits that only the vendor credit tells, as far as balances count them.
counted as (
    select
        connection_id,
        document_id,
        {{ daybook.whole_sum('allocated_amount', "source_type = 'credit'") }} as credited_amount,
        {{ daybook.whole_sum('allocated_amount', 'counted_date is null') }} as undated_amount
    from {{ ref('int_ap_allocations__signed') }}
    where document_type = 'bill'
    group by connection_id, document_id
),

line_totals as (
    select
        connection_id,
        document_id,
        count(*) filter (where position >= 0) as line_count,
        {{ daybook.whole_sum('gross_amount', 'position >= 0') }} as line_total,
        {{ daybook.whole_sum('gross_amount_base') }} as total_amount_base
    from lines
    group by connection_id, document_id
),

joined as (
    select
        bills.connection_id,
        bills.bill_id,
        bills.platform_id,
        bills.document_number,
        coalesce(bills.vendor_id, '(none)') as vendor_id,
        bills.account_id,
        bills.payment_terms_id,
        bills.subsidiary_id,
        bills.issue_date,
        bills.due_date,
        bills.status as source_status,
        {{ daybook.posting_status('bills.status') }} as posting_status,
        bills.currency_code,
        bills.total_amount,
        bills.sub_total,
        bills.tax_amount,
        bills.total_discount,
        bills.amount_due,
        case when settlements.bill_id is null then 0 else settlements.paid_amount end as paid_amount,
        case when counted.document_id is null then 0 else counted.credited_amount end as credited_amount,
        case when counted.document_id is null then 0 else counted.undated_amount end as undated_amount,
        settlements.first_payment_date,
        settlements.last_payment_date,
        paid_off.paid_off_date as last_settled_date,
        coalesce(line_totals.line_count, 0) as line_count,
        case when line_totals.document_id is null then 0 else line_totals.line_total end as line_total,
        coalesce(not standing.is_dated_ahead and not standing.is_credit, false) as is_open,
        coalesce(standing.is_credit, false) as is_owed_back,
        coalesce(standing.is_dated_ahead, false) as is_dated_ahead,
        standing.amount as standing_amount,
        case
            when credited_later.document_id is null then 0
            else credited_later.credited_later_amount
        end as credited_later_amount,
        rated.base_currency,
        rated.fx_rate,
        rated.fx_status,
        case
            when line_totals.document_id is not null then line_totals.total_amount_base
            when rated.fx_rate is not null then bills.total_amount
        end as total_amount_base,
        {{ daybook.to_base('bills.total_amount', 'rated') }} as converted_total,
        {{ daybook.to_base('bills.amount_due', 'rated') }} as amount_due_base,
        unfit.record_id is not null as has_unfit_amount,
        waiting.record_id is not null as awaits_deletion,
        bills.memo,
        bills.created_at,
        bills.updated_at,
        bills.last_synced_at
    from bills
    inner join rated on bills.connection_id = rated.connection_id and bills.bill_id = rated.document_id
    left join settlements on bills.connection_id = settlements.connection_id and bills.bill_id = settlements.bill_id
    left join counted on bills.connection_id = counted.connection_id and bills.bill_id = counted.document_id
    left join paid_off on bills.connection_id = paid_off.connection_id and bills.bill_id = paid_off.bill_id
    left join line_totals on bills.connection_id = line_totals.connection_id and bills.bill_id = line_totals.document_id
    left join standing on bills.connection_id = standing.connection_id and bills.bill_id = standing.document_id
    left join credited_later
        on bills.connection_id = credited_later.connection_id and bills.bill_id = credited_later.document_id
    left join unfit on bills.connection_id = unfit.connection_id and bills.bill_id = unfit.record_id
    left join waiting on bills.connection_id = waiting.connection_id and bills.bill_id = waiting.record_id
),

-- An open or void bill was not paid off, whatever was paid of it.
settled as (
    select
        *,
        total_amount - paid_amount - credited_amount - amount_due as unexplained_amount,
        case when posting_status = 'posted' and not is_open and not is_dated_ahead then last_settled_date end as paid_off_date
    from joined
),

final as (
    select
        connection_id,
        bill_id,
        platform_id,
        document_number,
        vendor_id,
        account_id,
        payment_terms_id,
        subsidiary_id,
        issue_date,
        due_date,
        source_status,
        posting_status,
        posting_status = 'posted' as is_posted,
        coalesce(source_status = 'void', false) as is_void,
        coalesce(source_status = 'draft', false) as is_draft,
        is_open,
        is_dated_ahead,
        coalesce(is_open and due_date < {{ daybook.as_of_date() }}, false) as is_overdue,
        currency_code,
        total_amount,
        sub_total,
        tax_amount,
        total_discount,
        amount_due,
        cast(case when is_open then standing_amount else 0 end as numeric(38, 9)) as open_amount,
        cast(case when is_owed_back then -standing_amount else 0 end as numeric(38, 9)) as owed_back_amount,
        cast(case when is_dated_ahead then standing_amount else 0 end as numeric(38, 9)) as dated_ahead_amount,
        cast(credited_later_amount as numeric(38, 9)) as credited_later_amount,
        cast(paid_amount as numeric(38, 9)) as paid_amount,
        cast(credited_amount as numeric(38, 9)) as credited_amount,
        cast(total_amount - paid_amount - credited_amount as numeric(38, 9)) as computed_amount_due,
        cast(amount_due - (total_amount - paid_amount - credited_amount) as numeric(38, 9)) as amount_due_variance,
        cast(unexplained_amount as numeric(38, 9)) as unexplained_amount,
        coalesce(abs(unexplained_amount) > {{ daybook.noise('currency_code') }}, false) as has_unexplained_amount,
        cast(undated_amount as numeric(38, 9)) as undated_amount,
        line_count,
        cast(line_total as numeric(38, 9)) as line_total,
        cast(total_amount - line_total as numeric(38, 9)) as line_variance,
        base_currency,
        fx_rate,
        fx_status,
        cast(total_amount_base as numeric(38, 9)) as total_amount_base,
        cast(total_amount_base - converted_total as numeric(38, 9)) as base_rounding_amount,
        cast(amount_due_base as numeric(38, 9)) as amount_due_base,
        first_payment_date,
        last_payment_date,
        paid_off_date,
        {{ daybook.days_between('issue_date', 'paid_off_date') }} as days_to_pay,
        case
            when is_open and due_date < {{ daybook.as_of_date() }}
                then {{ daybook.days_between('due_date', daybook.as_of_date()) }}
        end as days_overdue,
        {{ daybook.as_of_date() }} as as_of_date,
        has_unfit_amount,
        awaits_deletion,
        memo,
        created_at,
        updated_at,
        last_synced_at
    from settled
)

select * from final
