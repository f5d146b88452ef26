{#- A document number without what people type differently: case, punctuation, leading zeros. -#}
{% macro normalised_number(number) -%}
    nullif(ltrim(upper(regexp_replace({{ number }}, '[^A-Za-z0-9]', '', 'g')), '0'), '')
{%- endmacro %}
