{#-
    An amount times a fraction of two integers, rounded half away from zero to `scale` decimals (an expression, 0 to 8). Exact on
    every engine: nothing is divided before it is rounded. Null unless the denominator is above 0.
-#}
{% macro money_ratio(amount, numerator, denominator, scale) -%}
    {{ return(adapter.dispatch('money_ratio', 'daybook')(amount, numerator, denominator, scale)) }}
{%- endmacro %}

{% macro postgres__money_ratio(amount, numerator, denominator, scale) -%}
    {%- set step = "power(10::numeric, 9 - (" ~ scale ~ "))" -%}
    cast(
        case when {{ denominator }} > 0
            then
                sign({{ amount }})
                * div(
                    2 * abs({{ amount }}) * 1e9 * {{ numerator }} + {{ denominator }} * {{ step }},
                    2 * {{ denominator }} * {{ step }}
                )
                * {{ step }} * 0.000000001
        end
        as numeric(38, 9)
    )
{%- endmacro %}

{% macro duckdb__money_ratio(amount, numerator, denominator, scale) -%}
    {%- set units = "cast(abs(" ~ amount ~ ") * 1000000000 as hugeint)" -%}
    {%- set step = "cast(power(10, 9 - (" ~ scale ~ ")) as hugeint)" -%}
    case when {{ denominator }} > 0
        then
            sign({{ amount }})
            * cast(
                cast(
                    (2 * {{ units }} * {{ numerator }} + {{ denominator }} * {{ step }})
                    // (2 * {{ denominator }} * {{ step }}) * {{ step }}
                    as numeric(38, 0)
                ) * cast(0.000000001 as numeric(10, 9))
                as numeric(38, 9)
            )
    end
{%- endmacro %}

{#-
    A quotient on Spark keeps fewer decimals than it has, so the remainder is subtracted first, and the division is even. The
    fewer digits a divisor may have, the more digits the quotient has before the point: 15 are enough for 2 * 9,999 * 12 * 10^9.
-#}
{% macro spark__money_ratio(amount, numerator, denominator, scale) -%}
    {%- set units = "cast(cast(abs(" ~ amount ~ ") as numeric(38, 9)) * 1000000000 as numeric(38, 0))" -%}
    {%- set step = "cast(power(10, 9 - (" ~ scale ~ ")) as numeric(10, 0))" -%}
    {%- set divisor = "cast(2 * cast(" ~ denominator ~ " as bigint) * " ~ step ~ " as numeric(15, 0))" -%}
    {%- set dividend = "cast(2 * " ~ units ~ " * " ~ numerator ~ " + cast(" ~ denominator ~ " as bigint) * " ~ step ~ " as numeric(38, 0))" -%}
    case when {{ denominator }} > 0
        then
            cast(
                cast(sign({{ amount }}) as int)
                * cast((({{ dividend }} - {{ dividend }} % {{ divisor }}) / {{ divisor }}) * {{ step }} as numeric(38, 0))
                * 0.000000001
                as numeric(38, 9)
            )
    end
{%- endmacro %}
