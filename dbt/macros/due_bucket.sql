{#- overdue, w00 (the next seven days, today included) to w12, later, no_date. -#}
{% macro due_bucket(days) -%}
    case
        when {{ days }} is null then 'no_date'
        when {{ days }} < 0 then 'overdue'
        when {{ days }} >= 91 then 'later'
        else 'w' || lpad(cast({{ daybook.weeks_in(days) }} as {{ daybook.text_type() }}), 2, '0')
    end
{%- endmacro %}
