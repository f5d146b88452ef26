{#-
    Rows of a table with a value in one of these columns that does not fit, each once. Such a value reads as null, but not because
    it is missing.
-#}
{% macro unfit_rows(table, columns) -%}
    select distinct
        connection_id,
        record_id,
        position,
        recorded_at
    from {{ ref('stg_finance__unfit_values') }}
    where table_name = '{{ table }}' and column_name in ('{{ columns | join("', '") }}') and not is_rounded
{%- endmacro %}
