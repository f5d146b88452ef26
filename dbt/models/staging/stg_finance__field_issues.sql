with captured as (
    {{ daybook.newer_source('field_issues', ['connection_id', 'resource', 'id', 'field']) }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        resource,
        id as record_id,
        field
    from captured
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
