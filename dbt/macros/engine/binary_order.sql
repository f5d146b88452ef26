{#- Texts compared by their bytes: the collation of a database is not the same everywhere, and DuckDB has none. -#}
{% macro binary_order(expression) -%}
    {{ return(adapter.dispatch('binary_order', 'daybook')(expression)) }}
{%- endmacro %}

{% macro postgres__binary_order(expression) -%}
    {{ expression }} collate "C"
{%- endmacro %}

{% macro duckdb__binary_order(expression) -%}
    {{ expression }}
{%- endmacro %}
