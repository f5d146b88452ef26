{#-
    Whether two values are the same, with null equal to null, as a join condition. With "is not distinct from" Postgres would
    compare every pair of rows, while it looks equal values up.
-#}
{% macro same_value(one, other) -%}
    coalesce({{ one }}, '') = coalesce({{ other }}, '') and ({{ one }} is null) = ({{ other }} is null)
{%- endmacro %}
