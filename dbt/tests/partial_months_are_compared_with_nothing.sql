select
    connection_id,
    vendor_id,
    spend_month
from {{ ref('vendor_spend_monthly') }}
where
    year_over_year is not null
    and (not is_complete or spend_month is null or {{ daybook.add_months('spend_month', 1) }} > {{ daybook.as_of_date() }} + 1)
