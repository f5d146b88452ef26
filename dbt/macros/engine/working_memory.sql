{#- What Postgres gives a step of a query by default, 4 MB, sends the sums of large books to the disk. -#}
{% macro working_memory() -%}
    {{ return(adapter.dispatch('working_memory', 'daybook')()) }}
{%- endmacro %}

{% macro default__working_memory() -%}{%- endmacro %}

{% macro postgres__working_memory() -%}
    set local work_mem = '64MB'
{%- endmacro %}
