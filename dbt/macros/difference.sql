{#- Rows that only one of two relations has. None if the relations are the same. -#}
{% macro difference(one, other) -%}
    (select * from {{ one }} except select * from {{ other }})
    union all
    (select * from {{ other }} except select * from {{ one }})
{%- endmacro %}
