{#- An amount of a document in the base currency, by the columns of int_documents__rated. Null without a rate. -#}
{% macro to_base(amount, rated) -%}
    case
        when {{ rated }}.fx_status = 'base_currency' then {{ amount }}
        else {{ daybook.money_mul(amount, rated ~ '.fx_rate', rated ~ '.base_minor_units') }}
    end
{%- endmacro %}
