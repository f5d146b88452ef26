-- What of what is due on a document today, or of what remains of a vendor credit, applications of credits settle from a later day
-- on: because they are dated then, or because one of the two documents is. It stands until then, and nobody pays it. No more
-- than stands.
with standing as (
    select * from {{ ref('int_ap_documents__standing') }}
    where is_today
),

to_come as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('allocated_amount') }} as credited_amount
    from {{ ref('int_ap_allocations__signed') }}
    where source_type = 'credit' and counted_date > {{ daybook.as_of_date() }}
    group by connection_id, document_type, document_id
)

select
    standing.connection_id,
    standing.document_type,
    standing.document_id,
    cast(
        case
            when to_come.credited_amount = 0 then 0
            when standing.amount is null or to_come.credited_amount is null then null
            when standing.amount > 0 then least(greatest(to_come.credited_amount, 0), standing.amount)
            else greatest(least(to_come.credited_amount, 0), standing.amount)
        end as numeric(38, 9)
    ) as credited_later_amount
from standing
inner join to_come
    on
        standing.connection_id = to_come.connection_id
        and standing.document_type = to_come.document_type
        and standing.document_id = to_come.document_id
