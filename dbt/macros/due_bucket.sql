{#- overdue, w00 (the next seven days, today included) to w12, later, no_date; `earliest` is a day before which nothing is due. -#}
{% macro due_bucket(days, earliest) -%}
    case
        when {{ days }} is null then 'no_date'
        when greatest({{ days }}, {{ earliest }}) < 0 then 'overdue'
        when greatest({{ days }}, {{ earliest }}) >= 91 then 'later'
        else 'w' || lpad(cast({{ daybook.weeks_in('greatest(' ~ days ~ ', ' ~ earliest ~ ')') }} as varchar), 2, '0')
    end
{%- endmacro %}
