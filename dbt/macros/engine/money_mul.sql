{#-
    An amount times a rate, rounded half away from zero to `scale` decimals (an expression, 0 to 7), exactly and equally on both
    engines. Null unless |amount| < 10^17, |rate| < 10^8 and |product| < 10^17.
-#}
{% macro money_mul(amount, rate, scale) -%}
    {{ return(adapter.dispatch('money_mul', 'daybook')(amount, rate, scale)) }}
{%- endmacro %}

{% macro postgres__money_mul(amount, rate, scale) -%}
    {%- set product = "round(" ~ amount ~ " * " ~ rate ~ ", cast(" ~ scale ~ " as integer))" -%}
    cast(
        case when abs({{ amount }}) < 1e17 and abs({{ rate }}) < 1e8 and abs({{ product }}) < 1e17 then {{ product }} end
        as numeric(38, 9)
    )
{%- endmacro %}

{#-
    Decimals of 9 and 12 places would need 21 of the 38 digits DuckDB has. So whole numbers: the amount is cut in two, and what
    is below 8 decimals can be dropped, since it decides no half.
-#}
{% macro duckdb__money_mul(amount, rate, scale) -%}
    {%- set units = "cast(abs(" ~ amount ~ ") * 1000000000 as hugeint)" -%}
    {%- set parts = "cast(abs(" ~ rate ~ ") * 1000000000000 as hugeint)" -%}
    {%- set ten_trillion = "cast(10000000000000 as hugeint)" -%}
    {%- set eighths = "((" ~ units ~ " // " ~ ten_trillion ~ ") * " ~ parts ~ " + ((" ~ units ~ " % " ~ ten_trillion ~ ") * " ~ parts ~ ") // " ~ ten_trillion ~ ")" -%}
    {%- set step = "cast(power(10, 8 - (" ~ scale ~ ")) as hugeint)" -%}
    {%- set rounded = "((" ~ eighths ~ " + " ~ step ~ " // 2) // " ~ step ~ " * " ~ step ~ ")" -%}
    case
        when abs({{ amount }}) < 100000000000000000 and abs({{ rate }}) < 100000000
            then case
                when {{ rounded }} < cast(10000000000000000000000000 as hugeint)
                    then
                        sign({{ amount }}) * sign({{ rate }})
                        * cast(cast({{ rounded }} as numeric(38, 0)) * cast(0.00000001 as numeric(9, 8)) as numeric(38, 9))
            end
    end
{%- endmacro %}
