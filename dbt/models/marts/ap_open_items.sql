with documents as (
    select * from {{ ref('int_ap_documents__settled') }}
),

allocations as (
    select * from {{ ref('int_ap_allocations__signed') }}
),

open_documents as (
    select * from {{ ref('int_ap_documents__standing') }}
    where not is_dated_ahead
),

undated as (
    select distinct
        connection_id,
        document_type,
        document_id
    from allocations
    where counted_date is null
),

described as (
    select
        open_documents.as_of_date,
        open_documents.is_today,
        open_documents.connection_id,
        open_documents.document_type,
        open_documents.document_id,
        documents.document_number,
        documents.vendor_id,
        documents.currency_code,
        documents.issue_date,
        documents.due_date,
        open_documents.is_credit,
        open_documents.amount as open_amount,
        open_documents.due_beyond_total,
        {{ daybook.to_base('open_documents.amount', 'documents') }} as open_amount_base,
        documents.base_currency,
        documents.fx_status,
        case
            when not open_documents.is_credit
                then {{ daybook.days_between('documents.due_date', 'open_documents.as_of_date') }}
        end as days_past_due,
        undated.document_id is not null as has_undated_allocation
    from open_documents
    inner join documents
        on
            open_documents.connection_id = documents.connection_id
            and open_documents.document_type = documents.document_type
            and open_documents.document_id = documents.document_id
    left join undated
        on
            open_documents.connection_id = undated.connection_id
            and open_documents.document_type = undated.document_type
            and open_documents.document_id = undated.document_id
),

final as (
    select
        as_of_date,
        is_today,
        connection_id,
        document_type,
        document_id,
        document_number,
        vendor_id,
        currency_code,
        issue_date,
        due_date,
        days_past_due,
        case
            when days_past_due is null then 'no_due_date'
            when days_past_due <= 0 then 'not_due'
            when days_past_due <= 30 then '1-30'
            when days_past_due <= 60 then '31-60'
            when days_past_due <= 90 then '61-90'
            else '90+'
        end as bucket,
        is_credit,
        open_amount,
        cast(open_amount_base as numeric(38, 9)) as open_amount_base,
        due_beyond_total,
        base_currency,
        fx_status,
        has_undated_allocation
    from described
)

select * from final
