{#- Postgres plans a table that was filled a moment ago by guessing, unless it is told. -#}
{% macro analyze(relation) -%}
    {{ return(adapter.dispatch('analyze', 'daybook')(relation)) }}
{%- endmacro %}

{% macro default__analyze(relation) -%}{%- endmacro %}

{% macro postgres__analyze(relation) -%}
    analyze {{ relation }}
{%- endmacro %}
