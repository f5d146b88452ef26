with items as (
    select * from {{ ref('stg_finance__items') }}
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
        connection_id,
        item_id,
        platform_id,
        code,
        name,
        label as item_label,
        type,
        status as source_status,
        case when status in ('active', 'archived') then status else 'unknown' end as status,
        bill_description as purchase_description,
        bill_unit_price as purchase_unit_price,
        invoice_description as sales_description,
        invoice_unit_price as sales_unit_price,
        cast(invoice_unit_price - bill_unit_price as numeric(38, 12)) as unit_margin,
        {{ daybook.ratio('invoice_unit_price - bill_unit_price', 'invoice_unit_price') }} as margin_share,
        quantity_on_hand,
        updated_at,
        last_synced_at
    from labelled
)

select * from final
