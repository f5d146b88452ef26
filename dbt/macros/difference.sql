{#- Rows that only one of two relations has: none, when they are the same. -#}
{% macro difference(one, other) -%}
    (select * from {{ one }} except select * from {{ other }})
    union all
    (select * from {{ other }} except select * from {{ one }})
{%- endmacro %}
