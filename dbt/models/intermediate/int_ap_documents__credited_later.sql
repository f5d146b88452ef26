-- The part of the amount due on a document today, or remaining of a vendor credit, that applications of credits settle on a later
-- day, because they are dated then or because one of the two documents is. It stands until then, and nobody pays it. Limited to
-- the standing amount, and without parts that the other document does not count: there they are paid, or remain.
with standing as (
    select * from {{ ref('int_ap_documents__standing') }}
    where is_today
),

settled as (
    select * from {{ ref('int_credit_links__settled') }}
),

applied as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('allocated_amount') }} as credited_amount
    from {{ ref('int_ap_allocations__signed') }}
    where source_type = 'credit' and counted_date > {{ daybook.as_of_date() }}
    group by connection_id, document_type, document_id
),

uncounted as (
    select
        connection_id,
        told_by as document_type,
        document_id,
        {{ daybook.whole_sum(
            "case told_by when 'bill' then uncounted_later_amount else -uncounted_later_amount end"
        ) }} as uncounted_amount
    from settled
    group by connection_id, told_by, document_id
),

to_come as (
    select
        applied.connection_id,
        applied.document_type,
        applied.document_id,
        case
            when uncounted.document_id is null then applied.credited_amount
            else applied.credited_amount - uncounted.uncounted_amount
        end as credited_amount
    from applied
    left join uncounted
        on
            applied.connection_id = uncounted.connection_id
            and applied.document_type = uncounted.document_type
            and applied.document_id = uncounted.document_id
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
