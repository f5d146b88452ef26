with listed as (
    {{ daybook.unfit_values() }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Rounded by the snapshot but still too large for the marts, so it is null here.
in_this_world as (
    select
        table_name,
        connection_id,
        record_id,
        position,
        recorded_at,
        column_name,
        bool_and(is_rounded) as is_rounded
    from listed
    where connection_id in (select connections.connection_id from connections)
    group by table_name, connection_id, record_id, position, recorded_at, column_name
)

select * from in_this_world
