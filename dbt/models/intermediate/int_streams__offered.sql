-- Every list that is read for a connection, and whether the platform offers it, or ever did. A list that is no longer offered was
-- read until then: to its end at least once, or in part if records of it are here. A list that never was offered has nothing.
with streams as (
    select * from {{ ref('stg_finance__streams') }}
),

{% set models = {
    'bills': 'stg_finance__bills', 'bill_credit_memos': 'stg_finance__bill_credit_memos',
    'customers': 'stg_finance__customers', 'items': 'stg_finance__items', 'subscriptions': 'stg_finance__subscriptions'
} -%}
held as (
    {% for stream, model in models.items() -%}
        select distinct
            connection_id,
            '{{ stream }}' as stream
        from {{ ref(model) }}
        union all
    {% endfor -%}
    select distinct
        connection_id,
        case when expense_type = 'refund' then 'refunds' else 'expenses' end as stream
    from {{ ref('stg_finance__expenses') }}
),

final as (
    select
        streams.connection_id,
        streams.stream,
        streams.resource,
        streams.capability,
        streams.watermark,
        streams.is_stalled,
        streams.last_success_at,
        streams.last_reconcile_at,
        streams.capability <> 'unsupported' or streams.last_success_at is not null or held.stream is not null as was_offered
    from streams
    left join held on streams.connection_id = held.connection_id and streams.stream = held.stream
)

select * from final
