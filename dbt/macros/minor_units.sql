{#- Decimals of a currency (ISO 4217). -#}
{% macro minor_units(currency) -%}
    case
        when {{ currency }} in (
            'BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'
        ) then 0
        when {{ currency }} in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 3
        when {{ currency }} in ('CLF', 'UYW') then 4
        else 2
    end
{%- endmacro %}

{#- What doubles that were added up differ by: far less than any amount that is meant. -#}
{% macro binary_noise() -%}
    0.000001
{%- endmacro %}

{#- Half a minor unit: what two amounts may differ by, and be the same to a check. Services compute in doubles. -#}
{% macro noise(currency) -%}
    case {{ daybook.minor_units(currency) }} when 0 then 0.5 when 3 then 0.0005 when 4 then 0.00005 else 0.005 end
{%- endmacro %}
