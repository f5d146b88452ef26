{#- A code of a currency in upper case: Stripe writes nzd. A to Z only, whatever the locale of the database. -#}
{% macro currency_code(code) -%}
    translate({{ code }}, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
{%- endmacro %}
