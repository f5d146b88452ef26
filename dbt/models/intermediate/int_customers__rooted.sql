-- The top of each customer's line of parents. A line that comes back to itself has no top.
with recursive customers as (
    select * from {{ ref('stg_finance__customers') }}
),

lineage as (
    select
        connection_id,
        customer_id,
        customer_id as ancestor_id,
        parent_id as next_id,
        '|' || customer_id || '|' as path,
        false as is_cyclic
    from customers
    union all
    select
        lineage.connection_id,
        lineage.customer_id,
        customers.customer_id as ancestor_id,
        customers.parent_id as next_id,
        lineage.path || customers.customer_id || '|' as path,
        strpos(lineage.path, '|' || customers.customer_id || '|') > 0 as is_cyclic
    from lineage
    inner join customers
        on lineage.connection_id = customers.connection_id and lineage.next_id = customers.customer_id
    where not lineage.is_cyclic
),

cyclic as (
    select
        connection_id,
        customer_id,
        bool_or(is_cyclic) as is_cyclic,
        max(length(path)) as longest_path
    from lineage
    group by connection_id, customer_id
),

rooted as (
    select
        cyclic.connection_id,
        cyclic.customer_id,
        cyclic.is_cyclic,
        case when not cyclic.is_cyclic then lineage.ancestor_id end as top_parent_id
    from cyclic
    inner join lineage
        on
            cyclic.connection_id = lineage.connection_id
            and cyclic.customer_id = lineage.customer_id
            and cyclic.longest_path = length(lineage.path)
)

select * from rooted
