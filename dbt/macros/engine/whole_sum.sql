{#-
    A sum of all amounts, 0 without any. Null if one of them is null, which means not known. `condition` selects the rows to sum.
-#}
{% macro whole_sum(amount, condition='true') -%}
    case
        when count(*) filter (where {{ condition }}) = count({{ amount }}) filter (where {{ condition }})
            then coalesce(sum({{ amount }}) filter (where {{ condition }}), 0)
    end
{%- endmacro %}

{#- The same sum over a window. -#}
{% macro whole_sum_over(amount, window) -%}
    case when count(*) over {{ window }} = count({{ amount }}) over {{ window }} then sum({{ amount }}) over {{ window }} end
{%- endmacro %}
