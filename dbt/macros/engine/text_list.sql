{#- Texts of a group in one, in order. -#}
{% macro text_list(expression, order, condition) -%}
    string_agg({{ expression }}, ', ' order by {{ order }}) filter (where {{ condition }})
{%- endmacro %}
