{#- A currency code in upper case, because Stripe writes nzd. Changes only A to Z, whatever the locale of the database. -#}
{% macro currency_code(code) -%}
    translate({{ code }}, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
{%- endmacro %}
