{#-
    Whether two are the same, none being the same as none, for the condition of a join: Postgres compares each row with each by
    "is not distinct from", where it looks equals up.
-#}
{% macro same_value(one, other) -%}
    coalesce({{ one }}, '') = coalesce({{ other }}, '') and ({{ one }} is null) = ({{ other }} is null)
{%- endmacro %}
