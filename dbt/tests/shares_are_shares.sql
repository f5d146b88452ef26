-- A share is between 0 and 1, and the shares of all vendors of a month add up to 1.
with shares as (
    select overdue_share as share from {{ ref('ap_ageing') }}
    union all
    select overdue_share as share from {{ ref('ap_kpis_monthly') }}
    union all
    select over_90_share as share from {{ ref('ap_kpis_monthly') }}
    union all
    select paid_late_share as share from {{ ref('ap_kpis_monthly') }}
    union all
    select share_of_month as share from {{ ref('vendor_spend_monthly') }}
    union all
    select cumulative_share as share from {{ ref('vendor_spend_monthly') }}
),

months as (
    select max(cumulative_share) as share
    from {{ ref('vendor_spend_monthly') }}
    group by connection_id, spend_month, currency_code
)

select share from shares
where not share between 0 and 1
union all
select share from months
where share <> 1
