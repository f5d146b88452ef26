{#- Joins the texts of a group into one, in order. -#}
{% macro text_list(expression, order, condition) -%}
    {{ return(adapter.dispatch('text_list', 'daybook')(expression, order, condition)) }}
{%- endmacro %}

{% macro default__text_list(expression, order, condition) -%}
    string_agg({{ expression }}, ', ' order by {{ order }}) filter (where {{ condition }})
{%- endmacro %}

{% macro spark__text_list(expression, order, condition) -%}
    listagg({{ expression }}, ', ') within group (order by {{ order }}) filter (where {{ condition }})
{%- endmacro %}
