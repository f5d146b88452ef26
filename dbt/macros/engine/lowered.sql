{#- A word in lower case. Changes only A to Z, whatever the locale of the database. -#}
{% macro lowered(word) -%}
    translate({{ word }}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
{%- endmacro %}
