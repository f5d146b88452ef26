{#-
    The top of each customer's line of parents on an engine without recursion (Spark 4.0), which computes a step of a query again
    for each step that uses it. So each step is a table, and leads twice as far up as the one before. A step that finds the top of
    no further customer is the last: the remaining customers form cycles.
-#}
{% macro rooted_by_steps(customers) -%}
    {%- if execute -%}
        {%- set steps = this.schema ~ '.int_customers__step_' -%}
        {%- do run_query(
            'create or replace table ' ~ steps ~ '0 using iceberg as
            select
                known.connection_id,
                known.customer_id,
                coalesce(parents.customer_id, known.customer_id) as ancestor_id,
                parents.customer_id is null as is_top
            from ' ~ customers ~ ' as known
            left join ' ~ customers ~ ' as parents
                on known.connection_id = parents.connection_id and known.parent_id = parents.customer_id'
        ) -%}
        {%- set walk = namespace(last=0, left=-1, goes_on=true) -%}
        {%- for step in range(1, 40) -%}
            {%- if walk.goes_on -%}
                {%- set left = run_query('select count(*) from ' ~ steps ~ walk.last ~ ' where not is_top').rows[0][0] | int -%}
                {%- set walk.goes_on = left not in (0, walk.left) -%}
                {%- set walk.left = left -%}
            {%- endif -%}
            {%- if walk.goes_on -%}
                {%- do run_query(
                    'create or replace table ' ~ steps ~ step ~ ' using iceberg as
                    select
                        near.connection_id,
                        near.customer_id,
                        coalesce(further.ancestor_id, near.ancestor_id) as ancestor_id,
                        near.is_top or coalesce(further.is_top, false) as is_top
                    from ' ~ steps ~ walk.last ~ ' as near
                    left join ' ~ steps ~ walk.last ~ ' as further
                        on near.connection_id = further.connection_id and near.ancestor_id = further.customer_id and not near.is_top'
                ) -%}
                {%- set walk.last = step -%}
            {%- endif -%}
        {%- endfor -%}
        select
            connection_id,
            customer_id,
            not is_top as is_cyclic,
            case when is_top then ancestor_id end as top_parent_id
        from {{ steps ~ walk.last }}
    {%- else -%}
        select * from {{ customers }}
    {%- endif -%}
{%- endmacro %}
