-- Every list that is read of a connection, and whether the platform offers it, or ever did. One that it does not offer any more
-- was read until then: to its end once, or in part, where records of it are here. One that it never offered has nothing.
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
