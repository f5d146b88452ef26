-- Posted bills and vendor credits with their open amount today. Credits are negative.
with bills as (
    select * from {{ ref('stg_finance__bills') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

rated as (
    select * from {{ ref('int_documents__rated') }}
),

documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        document_number,
        vendor_id,
        currency_code,
        issue_date,
        due_date,
        amount_due as open_amount,
        total_amount
    from bills
    where {{ daybook.posting_status('status') }} = 'posted'
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        bill_credit_memo_id as document_id,
        document_number,
        vendor_id,
        currency_code,
        issue_date,
        cast(null as date) as due_date,
        -remaining_amount as open_amount,
        -total_amount as total_amount
    from credits
    where {{ daybook.posting_status('status') }} = 'posted'
),

settled as (
    select
        documents.connection_id,
        documents.document_type,
        documents.document_id,
        documents.document_number,
        coalesce(documents.vendor_id, '(none)') as vendor_id,
        documents.currency_code,
        documents.issue_date,
        documents.due_date,
        documents.open_amount,
        documents.total_amount,
        rated.base_currency,
        rated.base_minor_units,
        rated.fx_rate,
        rated.fx_status
    from documents
    inner join rated
        on
            documents.connection_id = rated.connection_id
            and documents.document_type = rated.document_type
            and documents.document_id = rated.document_id
)

select * from settled
