{#-
    Rows (table_name, connection_id, record_id, position, recorded_at, column_name, is_rounded) of amounts, quantities and rates
    that staging rounds or cannot hold. A snapshot has already rounded or left out values that did not fit its types, and lists
    them in a table; a snapshot of Daybook 0.5 or older lists them in its manifest.
-#}
{% macro unfit_values() -%}
    {%- set tables = daybook.unfit_columns() %}
    {{ adapter.dispatch('found_unfit_values', 'daybook')(tables) }}
    {{ adapter.dispatch('listed_unfit_values', 'daybook')(tables) }}
{%- endmacro %}

{% macro default__found_unfit_values(tables) -%}
    {%- for table, found in tables.items() %}
        {%- for column, scale in found.scales.items() %}
            {%- set fits = daybook.is_below_limit(column, scale) %}
            select
                '{{ table }}' as table_name,
                connection_id,
                {{ found.key }} as record_id,
                cast({{ 'position' if 'position' in found.places else 'null' }} as bigint) as position,
                cast({{ 'recorded_at' if 'recorded_at' in found.places else 'null' }} as {{ daybook.moment_type() }}) as recorded_at,
                '{{ column }}' as column_name,
                {{ fits }} as is_rounded
            from {{ source('finance', table) }}
            where not {{ fits }} or {{ daybook.has_more_decimals(column, scale) }}
            union all
        {%- endfor %}
    {%- endfor %}
{%- endmacro %}

{#- Reads a table's columns side by side, because planning a read of the table takes longer than reading a column. -#}
{% macro spark__found_unfit_values(tables) -%}
    {%- for table, found in tables.items() %}
            select
                '{{ table }}' as table_name,
                connection_id,
                record_id,
                position,
                recorded_at,
                column_name,
                false as is_rounded
            from (
                select
                    connection_id,
                    {{ found.key }} as record_id,
                    cast({{ 'position' if 'position' in found.places else 'null' }} as bigint) as position,
                    cast({{ 'recorded_at' if 'recorded_at' in found.places else 'null' }} as timestamp) as recorded_at,
                    explode(array(
                        {%- for column, scale in found.scales.items() %}
                            case when not {{ daybook.is_below_limit(column, scale) }} then '{{ column }}' end{{ "," if not loop.last }}
                        {%- endfor %}
                    )) as column_name
                from {{ source('finance', table) }}
            )
            where column_name is not null
            union all
    {%- endfor %}
{%- endmacro %}

{% macro has_more_decimals(expression, scale) -%}
    {{ return(adapter.dispatch('has_more_decimals', 'daybook')(expression, scale)) }}
{%- endmacro %}

{% macro postgres__has_more_decimals(expression, scale) -%}
    min_scale({{ expression }}) > {{ scale }}
{%- endmacro %}

{#- The input is a snapshot, whose values are rounded already. -#}
{% macro default__has_more_decimals(expression, scale) -%}
    false
{%- endmacro %}

{% macro postgres__listed_unfit_values(tables) -%}
    select null, null, null, cast(null as bigint), cast(null as timestamptz), null, cast(null as boolean) where false
{%- endmacro %}

{% macro duckdb__listed_unfit_values(tables) -%}
    {%- set files = (var('daybook_snapshot', '') | replace("'", "''")) ~ '/unfit_values/*.parquet' %}
    {%- if execute and run_query("select count(*) from glob('" ~ files ~ "')").rows[0][0] > 0 %}
    {{- daybook.unfit_values_in("read_parquet('" ~ files ~ "', hive_partitioning = false)", tables) }}
    {%- else %}
    {{- daybook.unfit_values_of_manifest(tables) }}
    {%- endif %}
{%- endmacro %}

{#- Reads the view that the session made of the snapshot's table or, without such a table, of the list in its manifest. -#}
{% macro spark__listed_unfit_values(tables) -%}
    {{- daybook.unfit_values_in(source('finance', 'bills').schema ~ '.captured_unfit_values', tables) }}
{%- endmacro %}

{%- macro unfit_values_in(relation, tables) %}
    select
        table_name,
        connection_id,
        record_id,
        position,
        recorded_at,
        column_name,
        is_rounded
    from {{ relation }}
    where
        {{ daybook.is_unfit_column(tables, 'table_name', 'column_name') }}
{%- endmacro %}

{#- A snapshot of Daybook 0.5 or older left out values that it did not round, and lacks `rounded`. -#}
{%- macro unfit_values_of_manifest(tables) %}
    {%- set manifest = (var('daybook_snapshot', '') | replace("'", "''")) ~ '/_manifest.json' %}
    {%- set sizes = run_query("select coalesce(max(size), 0) from read_blob('" ~ manifest ~ "')").rows[0] if execute else [0] %}
    select
        listed."table",
        listed."key" ->> 'connection_id',
        coalesce(
            listed."key" ->> 'id', listed."key" ->> 'bill_id', listed."key" ->> 'expense_id',
            listed."key" ->> 'bill_credit_memo_id', listed."key" ->> 'subscription_id', listed."key" ->> 'customer_id'
        ),
        cast(listed."key" ->> 'position' as bigint),
        cast(listed."key" ->> 'recorded_at' as timestamptz),
        listed."column",
        coalesce(listed.rounded, false)
    from (
        select unnest(unfit) as listed
        from read_json(
            '{{ manifest }}',
            columns = {unfit: 'struct("table" varchar, "column" varchar, "key" json, rounded boolean)[]'},
            maximum_object_size = {{ [16777216, sizes[0] + 1] | max }}
        )
    )
    where
        {{ daybook.is_unfit_column(tables, 'listed."table"', 'listed."column"') }}
{%- endmacro %}

{#- Whether a value is of a column that models look at, from the columns that name its table and its column. -#}
{%- macro is_unfit_column(tables, table_name, column_name) -%}
    {%- for table, found in tables.items() -%}
        ({{ table_name }} = '{{ table }}' and {{ column_name }} in ('{{ found.scales.keys() | join("', '") }}'))
        {{- " or " if not loop.last }}
    {%- endfor %}
{%- endmacro %}
