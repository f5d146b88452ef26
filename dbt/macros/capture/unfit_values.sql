{#-
    Rows (table_name, connection_id, record_id, column_name) of amounts, quantities and rates that no decimal of ours can hold.
    `tables` gives each source table its key column and its columns. A snapshot has already left out what did not fit its
    types, and lists it in its manifest.
-#}
{% macro unfit_values(tables) -%}
    {%- for table, (key, columns) in tables.items() %}
        {%- for column in columns %}
            {%- set scale = 12 if column in ('currency_rate', 'item_unit_amount', 'bill_unit_price', 'invoice_unit_price', 'unit_amount') else 9 %}
            select '{{ table }}' as table_name, connection_id, {{ key }} as record_id, '{{ column }}' as column_name
            from {{ source('finance', table) }}
            where {{ column }} is not null and {{ daybook.fitting_decimal(column, scale) }} is null
            union all
        {%- endfor %}
    {%- endfor %}
    {{ adapter.dispatch('listed_unfit_values', 'daybook')(tables) }}
{%- endmacro %}

{% macro postgres__listed_unfit_values(tables) -%}
    select cast(null as text), cast(null as text), cast(null as text), cast(null as text) where false
{%- endmacro %}

{% macro duckdb__listed_unfit_values(tables) -%}
    select
        listed."table",
        listed."key" ->> 'connection_id',
        coalesce(
            listed."key" ->> 'id', listed."key" ->> 'bill_id', listed."key" ->> 'expense_id',
            listed."key" ->> 'bill_credit_memo_id', listed."key" ->> 'subscription_id', listed."key" ->> 'customer_id'
        ),
        listed."column"
    from (
        select unnest(unfit) as listed
        from read_json(
            '{{ var("daybook_snapshot") | replace("'", "''") }}/_manifest.json',
            columns = {unfit: 'struct("table" varchar, "column" varchar, "key" json)[]'}
        )
    )
    where
        {% for table, (key, columns) in tables.items() -%}
            (listed."table" = '{{ table }}' and listed."column" in ('{{ columns | join("', '") }}'))
            {{ "or " if not loop.last }}
        {%- endfor %}
{%- endmacro %}
