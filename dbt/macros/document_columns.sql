{#- The columns that lines of bills and of credit memos share (API document 2.1), after the key of their document. -#}
{% macro line_columns() -%}
    cast(position as bigint) as position,
        account_id,
        class_id,
        customer_id,
        department_id,
        location_id,
        tax_rate_id,
        left(description, 4000) as description,
        {{ daybook.money('discount_amount') }} as discount_amount,
        {{ daybook.money('discount_percentage') }} as discount_percentage,
        {{ daybook.money('sub_total') }} as sub_total,
        {{ daybook.money('tax_amount') }} as tax_amount,
        {{ daybook.money('total_amount') }} as total_amount,
        item_id,
        {{ daybook.money('item_quantity') }} as item_quantity,
        {{ daybook.rate('item_unit_amount') }} as item_unit_amount
{%- endmacro %}

{#- The columns that allocations share. -#}
{% macro allocation_columns() -%}
    cast(position as bigint) as position,
        linked_id,
        allocated_date,
        {{ daybook.money('allocated_amount') }} as allocated_amount
{%- endmacro %}
