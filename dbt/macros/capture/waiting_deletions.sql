{#- The rows of the source waiting_deletions. A snapshot of Daybook 0.5 or older has none: it does not say what waits. -#}
{% macro waiting_deletions(source) -%}
    {{ return(adapter.dispatch('waiting_deletions', 'daybook')(source)) }}
{%- endmacro %}

{% macro default__waiting_deletions(source) -%}
    select
        connection_id,
        resource,
        id
    from {{ source }}
{%- endmacro %}

{% macro duckdb__waiting_deletions(source) -%}
    {%- set files = "select count(*) from glob('" ~ var('daybook_snapshot', '') | replace("'", "''") ~ "/waiting_deletions/*.parquet')" %}
    {%- if execute and run_query(files).rows[0][0] == 0 %}
    select
        cast(null as text) as connection_id,
        cast(null as text) as resource,
        cast(null as text) as id
    where false
    {%- else %}
    {{- daybook.default__waiting_deletions(source) }}
    {%- endif %}
{%- endmacro %}
