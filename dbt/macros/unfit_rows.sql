{#- Rows of a table of which one of these columns does not fit, each once: as if null, and not for want of a value. -#}
{% macro unfit_rows(table, columns) -%}
    select distinct
        connection_id,
        record_id,
        position,
        recorded_at
    from {{ ref('stg_finance__unfit_values') }}
    where table_name = '{{ table }}' and column_name in ('{{ columns | join("', '") }}') and not is_rounded
{%- endmacro %}
