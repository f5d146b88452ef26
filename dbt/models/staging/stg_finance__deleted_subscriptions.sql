with captured as (
    {{ daybook.newer_source('deleted_subscriptions', ['connection_id', 'subscription_id', 'created_at']) }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        subscription_id,
        cast(created_at as {{ daybook.moment_type() }}) as created_at
    from captured
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
