{#- The columns of a source, without rows for snapshots of Daybook 0.5 or older, which lack the source. -#}
{% macro newer_source(table, columns) -%}
    {{ return(adapter.dispatch('newer_source', 'daybook')(table, columns)) }}
{%- endmacro %}

{% macro default__newer_source(table, columns) -%}
    select
        {{ columns | join(",\n        ") }}
    from {{ source('finance', table) }}
{%- endmacro %}

{% macro duckdb__newer_source(table, columns) -%}
    {%- set files = "select count(*) from glob('" ~ var('daybook_snapshot', '') | replace("'", "''") ~ "/" ~ table ~ "/*.parquet')" %}
    {%- if execute and run_query(files).rows[0][0] == 0 %}
    select
        {%- for column in columns %}
        cast(null as text) as {{ column }}{{ "," if not loop.last }}
        {%- endfor %}
    where false
    {%- else %}
    {{- daybook.default__newer_source(table, columns) }}
    {%- endif %}
{%- endmacro %}
