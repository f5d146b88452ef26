{#- The rows that are in one of two relations and not in the other. -#}
{% macro differences(one, other) -%}
    (select * from {{ one }} except select * from {{ other }})
    union all
    (select * from {{ other }} except select * from {{ one }})
{%- endmacro %}
