{#-
    An amount times a rate, rounded half away from zero to `scale` decimals (an expression, 0 to 9), exactly and equally on every
    engine. Null unless |amount| < 10^17, |rate| < 10^13 and |product| < 10^17.
-#}
{% macro money_mul(amount, rate, scale) -%}
    {{ return(adapter.dispatch('money_mul', 'daybook')(amount, rate, scale)) }}
{%- endmacro %}

{% macro postgres__money_mul(amount, rate, scale) -%}
    {%- set product = "round(" ~ amount ~ " * " ~ rate ~ ", cast(" ~ scale ~ " as integer))" -%}
    cast(
        case when abs({{ amount }}) < 1e17 and abs({{ rate }}) < 1e13 and abs({{ product }}) < 1e17 then {{ product }} end
        as numeric(38, 9)
    )
{%- endmacro %}

{#-
    Decimals of 9 and 12 places would need 21 of DuckDB's 38 digits, so this computes with integers. The larger of amount and rate
    is cut in two, and digits beyond 10 decimals are dropped, because they decide no half. An amount of 10^9 times a rate of 10^8
    is too large.
-#}
{% macro duckdb__money_mul(amount, rate, scale) -%}
    {%- set units = "cast(abs(" ~ amount ~ ") * 1000000000 as hugeint)" -%}
    {%- set parts = "cast(abs(" ~ rate ~ ") * 1000000000000 as hugeint)" -%}
    {%- set cut = "cast(100000000000 as hugeint)" -%}
    case
        when abs({{ amount }}) < 100000000000000000 and abs({{ rate }}) < 100000000
            then {{ daybook.rounded_product(units, parts, cut, amount, rate, scale) }}
        when abs({{ amount }}) < 1000000000 and abs({{ rate }}) < 10000000000000
            then {{ daybook.rounded_product(parts, units, cut, amount, rate, scale) }}
    end
{%- endmacro %}

{#- The product of two integers that have 21 decimals together. The first one is cut. -#}
{% macro rounded_product(large, small, cut, amount, rate, scale) -%}
    {%- set tenths = "((" ~ large ~ " // " ~ cut ~ ") * " ~ small ~ " + ((" ~ large ~ " % " ~ cut ~ ") * " ~ small ~ ") // " ~ cut ~ ")" -%}
    {%- set step = "cast(power(10, 10 - (" ~ scale ~ ")) as hugeint)" -%}
    {%- set rounded = "((" ~ tenths ~ " + " ~ step ~ " // 2) // " ~ step ~ " * " ~ step ~ ")" -%}
    case
        when {{ rounded }} < cast(1000000000000000000000000000 as hugeint)
            then
                sign({{ amount }}) * sign({{ rate }})
                * cast(cast({{ rounded }} as numeric(38, 0)) * cast(0.0000000001 as numeric(11, 10)) as numeric(38, 9))
    end
{%- endmacro %}

{#-
    The session lets a product keep its decimals (spark.sql.decimalOperations.allowPrecisionLoss is false), so 9 and 12 places
    take 21 of 38 digits. The rest leaves 10^17 before the point, the limit itself. Beyond it the product is null, not cut.
-#}
{% macro spark__money_mul(amount, rate, scale) -%}
    {%- set product = "try_multiply(cast(" ~ amount ~ " as numeric(38, 9)), cast(" ~ rate ~ " as numeric(38, 12)))" -%}
    case
        when abs({{ amount }}) < 100000000000000000 and abs({{ rate }}) < 10000000000000
            then {{ daybook.rounded_to(product, scale, 100000000000000000) }}
    end
{%- endmacro %}

{#- Rounds half away from zero; null from a limit on. Spark's `round` does not take an expression for the scale. -#}
{% macro rounded_to(number, scale, limit) -%}
    case cast({{ scale }} as int)
        {%- for places in range(10) %}
            when {{ places }} then case when abs(round({{ number }}, {{ places }})) < {{ limit }} then cast(round({{ number }}, {{ places }}) as numeric(38, 9)) end
        {%- endfor %}
    end
{%- endmacro %}
