{#-
    A query of `named` (connection_id, an ID, a name that may be null) with a label that is unique within its connection: the
    first 1,000 characters of the name without surrounding white space, else `kind` and the ID. The ID follows the label if two
    have the same one, or if another one's label with its ID would be the same. In that place the ID contains no opening
    parenthesis, so no other name and ID read the same.
-#}
{% macro labelled(named, id, name, kind) -%}
    trimmed as (
        select
            *,
            -- A platform may send a name of megabytes, and every line of the marts would contain it.
            coalesce(left(nullif({{ daybook.trimmed(name) }}, ''), 1000), '{{ kind }} ' || {{ id }}) as plain_label
        from {{ named }}
    ),

    longer as (
        select
            *,
            plain_label || ' (' || replace(replace({{ id }}, '%', '%25'), '(', '%28') || ')' as long_label,
            count(*) over (partition by connection_id, plain_label) as namesakes
        from trimmed
    ),

    labelled as (
        select
            longer.*,
            case
                when longer.namesakes > 1 then longer.long_label
                when others.long_label is not null then longer.long_label
                else longer.plain_label
            end as label
        from longer
        -- Joins at most one row, because no two long labels are equal. With `exists`, Postgres would scan all of them for each
        -- row once they are many.
        left join longer as others
            on others.connection_id = longer.connection_id and others.long_label = longer.plain_label
    )
{%- endmacro %}
