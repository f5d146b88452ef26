{#- Compares texts by their bytes, because databases differ in collation, and DuckDB and Spark have none. -#}
{% macro binary_order(expression) -%}
    {{ return(adapter.dispatch('binary_order', 'daybook')(expression)) }}
{%- endmacro %}

{% macro postgres__binary_order(expression) -%}
    {{ expression }} collate "C"
{%- endmacro %}

{% macro default__binary_order(expression) -%}
    {{ expression }}
{%- endmacro %}
