-- Every vendor with its present name, those with the most spend first, for the template of the seed vendor_names. Names of
-- vendors that are not here are kept.
with vendors as (
    select * from {{ ref('vendors') }}
),

spend as (
    select
        connection_id,
        vendor_id,
        sum(spend) as spend
    from {{ ref('vendor_spend_monthly') }}
    group by connection_id, vendor_id
),

vendor_names as (
    select * from {{ ref('vendor_names') }}
),

listed as (
    select
        vendors.connection_id,
        vendors.vendor_id,
        vendors.known_name as vendor_name,
        case when spend.vendor_id is null then 0 else spend.spend end as spend
    from vendors
    left join spend on vendors.connection_id = spend.connection_id and vendors.vendor_id = spend.vendor_id
    where vendors.vendor_id <> '(none)'
    union all
    select
        vendor_names.connection_id,
        vendor_names.vendor_id,
        vendor_names.vendor_name,
        0 as spend
    from vendor_names
    left join vendors
        on vendor_names.connection_id = vendors.connection_id and vendor_names.vendor_id = vendors.vendor_id
    where vendors.vendor_id is null
),

ranked as (
    select
        connection_id,
        vendor_id,
        -- A spreadsheet cell holds 32,767 characters, and a vendor's name may have millions.
        left(vendor_name, 1000) as vendor_name,
        row_number() over (
            order by {{ daybook.binary_order('connection_id') }}, spend desc nulls last, {{ daybook.binary_order('vendor_id') }}
        ) as place
    from listed
)

select * from ranked
