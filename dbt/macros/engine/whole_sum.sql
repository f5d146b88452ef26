{#-
    A sum that has every amount in it, 0 without any; null where one of them is null, which means not known. `condition` says which
    rows are summed up.
-#}
{% macro whole_sum(amount, condition='true') -%}
    case
        when count(*) filter (where {{ condition }}) = count({{ amount }}) filter (where {{ condition }})
            then coalesce(sum({{ amount }}) filter (where {{ condition }}), 0)
    end
{%- endmacro %}

{#- The same over a window. -#}
{% macro whole_sum_over(amount, window) -%}
    case when count(*) over {{ window }} = count({{ amount }}) over {{ window }} then sum({{ amount }}) over {{ window }} end
{%- endmacro %}
