{#- The grain of a model: no two rows agree in all of these columns. Nulls count as equal. -#}
{% test unique_together(model, columns) %}
    select {{ columns | join(', ') }}
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
