-- A share of what is to be paid is between 0 and 1.
with shares as (
    select overdue_share as share from {{ ref('ap_ageing') }}
    union all
    select overdue_share as share from {{ ref('ap_kpis_monthly') }}
    union all
    select over_90_share as share from {{ ref('ap_kpis_monthly') }}
)

select share from shares
where not share between 0 and 1
