with items as (
    select * from {{ ref('stg_finance__items') }}
),

unreadable as (
    select distinct
        connection_id,
        record_id
    from {{ ref('stg_finance__field_issues') }}
    where resource = 'items'
),

known as (
    select
        *,
        coalesce(nullif({{ daybook.trimmed('name') }}, ''), code) as known_name
    from items
),

{{ daybook.labelled('known', 'item_id', 'known_name', 'Item') }},

final as (
    select
        labelled.connection_id,
        labelled.item_id,
        labelled.platform_id,
        labelled.code,
        labelled.name,
        labelled.label as item_label,
        labelled.type,
        labelled.status as source_status,
        case when labelled.status in ('active', 'archived') then labelled.status else 'unknown' end as status,
        labelled.bill_description as purchase_description,
        labelled.bill_unit_price as purchase_unit_price,
        labelled.invoice_description as sales_description,
        labelled.invoice_unit_price as sales_unit_price,
        cast(labelled.invoice_unit_price - labelled.bill_unit_price as numeric(38, 12)) as unit_margin,
        {{ daybook.ratio(
            'labelled.invoice_unit_price - labelled.bill_unit_price', 'labelled.invoice_unit_price'
        ) }} as margin_share,
        unreadable.record_id is not null as has_unreadable_price,
        labelled.quantity_on_hand,
        labelled.updated_at,
        labelled.last_synced_at
    from labelled
    left join unreadable
        on labelled.connection_id = unreadable.connection_id and labelled.item_id = unreadable.record_id
)

select * from final
