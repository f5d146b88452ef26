with lines as (
    select * from {{ ref('stg_finance__bill_lines') }}
),

{{ daybook.taxed_lines('lines') }}

select * from taxed
