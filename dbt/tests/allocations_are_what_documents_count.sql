-- The settled amounts of a bill in allocations are its paid and credited amounts, and those of a vendor credit are its applied
-- amount, whichever side tells them.
with documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        paid_amount,
        credited_amount
    from {{ ref('bills') }}
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        vendor_credit_id as document_id,
        cast(0 as numeric(38, 9)) as paid_amount,
        applied_amount as credited_amount
    from {{ ref('vendor_credits') }}
),

settled as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        {{ daybook.whole_sum('bill_amount', "source_type = 'payment'") }} as paid_amount,
        {{ daybook.whole_sum('bill_amount', "source_type = 'credit'") }} as credited_amount
    from {{ ref('allocations') }}
    group by connection_id, bill_id
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        source_id as document_id,
        {{ daybook.whole_sum('credit_amount', "source_type = 'payment'") }} as paid_amount,
        {{ daybook.whole_sum('credit_amount', "source_type = 'credit'") }} as credited_amount
    from {{ ref('allocations') }}
    where source_type = 'credit'
    group by connection_id, source_id
)

select
    documents.*,
    settled.paid_amount as allocated_as_paid,
    settled.credited_amount as allocated_as_credited
from documents
left join settled
    on
        documents.connection_id = settled.connection_id
        and documents.document_type = settled.document_type
        and documents.document_id = settled.document_id
where
    documents.paid_amount is distinct from case when settled.document_id is null then 0 else settled.paid_amount end
    or documents.credited_amount is distinct from case when settled.document_id is null then 0 else settled.credited_amount end
