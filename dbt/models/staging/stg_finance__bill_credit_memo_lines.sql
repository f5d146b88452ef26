with source as (
    select * from {{ source('finance', 'bill_credit_memo_lines') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        bill_credit_memo_id,
        {{ daybook.line_columns() }}
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
