{#- A word in lower case. A to Z only, whatever the locale of the database. -#}
{% macro lowered(word) -%}
    translate({{ word }}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
{%- endmacro %}
