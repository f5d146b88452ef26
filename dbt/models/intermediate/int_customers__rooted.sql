-- The top of each customer's line of parents. A cyclic line has no top. Lines are first walked customer by customer, as far as
-- the lines of real companies go. From there each step leads twice as far up as the one before, up to a million customers. So a
-- long line costs no more than as many short ones, while keeping every ancestor of every customer would cost the square of its
-- length, or the cube.
-- SQL between Jinja blocks is not indented by them.
-- noqa: disable=LT02
{%- if target.type == 'spark' %}
{{ daybook.rooted_by_steps(ref('stg_finance__customers')) }}
{%- else %}
{%- set walked = 16 %}
{%- set steps = 16 %}
with recursive known as (
    select * from {{ ref('stg_finance__customers') }}
),

-- A parent that does not exist counts as none.
customers as (
    select
        known.connection_id,
        known.customer_id,
        parents.customer_id as parent_id
    from known
    left join known as parents on known.connection_id = parents.connection_id and known.parent_id = parents.customer_id
),

lineage as (
    select
        connection_id,
        customer_id,
        customer_id as ancestor_id,
        parent_id as next_id,
        0 as distance
    from customers
    union all
    select
        lineage.connection_id,
        lineage.customer_id,
        customers.customer_id as ancestor_id,
        customers.parent_id as next_id,
        lineage.distance + 1 as distance
    from lineage
    inner join customers
        on lineage.connection_id = customers.connection_id and lineage.next_id = customers.customer_id
    where lineage.distance < {{ walked }}
),

tops as (
    select
        connection_id,
        customer_id,
        ancestor_id as top_id
    from lineage
    where next_id is null
),

step_0 as materialized (
    select
        connection_id,
        customer_id,
        ancestor_id
    from lineage
    where distance = {{ walked }} and next_id is not null
),
{% for step in range(1, steps + 1) %}
    -- Grouped only for the planner, which expects each join to multiply the rows of the one before.
    step_{{ step }} as materialized (
        select
            steps.connection_id,
            steps.customer_id,
            max(coalesce(further.ancestor_id, steps.ancestor_id)) as ancestor_id
        from step_{{ step - 1 }} as steps
        left join step_{{ step - 1 }} as further
            on steps.connection_id = further.connection_id and steps.ancestor_id = further.customer_id
        group by steps.connection_id, steps.customer_id
    ),
{% endfor %}
-- If all steps led to no customer with a top, the line is a cycle.
rooted as (
    select
        customers.connection_id,
        customers.customer_id,
        tops.top_id is null as is_cyclic,
        tops.top_id as top_parent_id
    from customers
    left join step_{{ steps }} as lines
        on customers.connection_id = lines.connection_id and customers.customer_id = lines.customer_id
    left join tops
        on
            customers.connection_id = tops.connection_id
            and coalesce(lines.ancestor_id, customers.customer_id) = tops.customer_id
)

select * from rooted
{%- endif %}
