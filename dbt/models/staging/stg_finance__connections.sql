with source as (
    select * from {{ source('finance', 'connections') }}
),

in_this_world as (
    select
        connection_id,
        name,
        platform,
        org_id,
        api_address,
        created_at
    from source
    {% if var('daybook_api_address', '') %}
        where api_address = '{{ var("daybook_api_address") }}'
    {% endif %}
)

select * from in_this_world
