-- The settings that decide how amounts of a connection are converted.
with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

settings as (
    select
        connection_id,
        {{ daybook.currency_code('base_currency') }} as base_currency,
        fx_direction
    from {{ ref('connection_settings') }}
),

settled as (
    select
        connections.connection_id,
        connections.platform,
        settings.base_currency,
        {{ daybook.minor_units('settings.base_currency') }} as base_minor_units,
        coalesce(
            settings.fx_direction = 'multiply'
            or connections.platform in (
                {%- for platform in var('daybook_multiplying_platforms', ['QUICKBOOKS']) -%}
                    '{{ platform }}'{{ ", " if not loop.last }}
                {%- endfor -%}
            ),
            false
        ) as rates_multiply
    from connections
    left join settings on connections.connection_id = settings.connection_id
)

select * from settled
