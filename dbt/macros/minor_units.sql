{#- Decimals of a currency (ISO 4217). -#}
{% macro minor_units(currency) -%}
    case
        when {{ currency }} in (
            'BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'
        ) then 0
        when {{ currency }} in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 3
        else 2
    end
{%- endmacro %}

{#- What rounding may explain: half a minor unit would already be odd, a whole one is forgiven. -#}
{% macro tolerance(currency) -%}
    case {{ daybook.minor_units(currency) }} when 0 then 1 when 3 then 0.001 else 0.01 end
{%- endmacro %}
