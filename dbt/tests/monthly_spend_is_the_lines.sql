with lines as (
    select coalesce(sum(gross_amount), 0) as spend
    from {{ ref('spend_lines') }}
    where posting_status = 'posted'
),

vendors as (
    select coalesce(sum(spend), 0) as spend from {{ ref('vendor_spend_monthly') }}
),

dimensions as (
    select
        dimension,
        sum(spend) as spend
    from {{ ref('spend_by_dimension_monthly') }}
    group by dimension
)

select
    'vendor' as dimension,
    vendors.spend,
    lines.spend as line_spend
from vendors
cross join lines
where vendors.spend <> lines.spend
union all
select
    dimensions.dimension,
    dimensions.spend,
    lines.spend as line_spend
from dimensions
cross join lines
where dimensions.spend <> lines.spend
