-- The last day up to which purchases are known: the last complete day before the stalest of the lists of bills, expenses and
-- credits was last read to its end; none while a list never was. The rest of the day of that reading is still unknown. A list
-- that the platform no longer offers was read until then; a list that it never offered has nothing. A stalled list was read up to
-- its watermark.
with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

streams as (
    select * from {{ ref('int_streams__offered') }}
    where resource in ('bills', 'expenses', 'bill_credit_memos') and was_offered
),

read_to_the_end as (
    select
        connection_id,
        case when count(*) = count(last_success_at) then min(last_success_at) end as last_success_at
    from streams
    group by connection_id
),

final as (
    select
        connections.connection_id,
        {{ daybook.reporting_day_of('read_to_the_end.last_success_at') }} - 1 as read_until,
        read_to_the_end.connection_id is not null as is_spend_offered
    from connections
    left join read_to_the_end on connections.connection_id = read_to_the_end.connection_id
)

select * from final
