-- Spend is bills plus expenses, less refunds and vendor credits, to the digit, document by document. An unknown line makes its
-- document unknown in spend, and an unknown document is no sum anywhere.
with documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        currency_code,
        total_amount as amount
    from {{ ref('bills') }}
    where posting_status <> 'excluded'
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        vendor_credit_id as document_id,
        currency_code,
        cast(-total_amount as numeric(38, 9)) as amount
    from {{ ref('vendor_credits') }}
    where posting_status <> 'excluded'
    union all
    select
        connection_id,
        'expense' as document_type,
        expense_id as document_id,
        currency_code,
        signed_amount as amount
    from {{ ref('expenses') }}
),

lines as (
    select
        connection_id,
        case when source_type = 'refund' then 'expense' else source_type end as document_type,
        document_id,
        currency_code,
        cast({{ daybook.whole_sum('gross_amount') }} as numeric(38, 9)) as amount
    from {{ ref('spend_lines') }}
    group by
        connection_id, case when source_type = 'refund' then 'expense' else source_type end, document_id, currency_code
),

expected as (
    select * from documents
    where amount is distinct from 0
)

select
    expected.*,
    lines.amount as found_amount
from expected
left join lines
    on
        expected.connection_id = lines.connection_id
        and expected.document_type = lines.document_type
        and expected.document_id = lines.document_id
where lines.document_id is null or lines.amount <> expected.amount
union all
select
    lines.connection_id,
    lines.document_type,
    lines.document_id,
    lines.currency_code,
    documents.amount,
    lines.amount as found_amount
from lines
left join documents
    on
        lines.connection_id = documents.connection_id
        and lines.document_type = documents.document_type
        and lines.document_id = documents.document_id
where
    documents.document_id is null
    or (documents.amount = 0 and lines.amount <> 0)
    or (documents.amount is null and lines.amount is not null)
