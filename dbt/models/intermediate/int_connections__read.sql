-- Up to which day what was bought is known: the last one that was over when the stalest of the lists of bills, expenses and
-- credits was last read to its end, and none while one never was. Of the day of that reading the rest is still to come. A list
-- that the platform does not offer any more was read until then; one that it never offered has nothing. One that has stalled was
-- read to its watermark.
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
