-- The open amounts of bills and credits equal today's open items, document by document.
with documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        case when is_open then open_amount else cast(-owed_back_amount as numeric(38, 9)) end as open_amount
    from {{ ref('bills') }}
    where is_open or owed_back_amount <> 0
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        vendor_credit_id as document_id,
        cast(-unapplied_amount as numeric(38, 9)) as open_amount
    from {{ ref('vendor_credits') }}
    where is_unapplied
),

items as (
    select
        connection_id,
        document_type,
        document_id,
        open_amount
    from {{ ref('ap_open_items') }}
    where is_today
)

{{ daybook.difference('documents', 'items') }}
