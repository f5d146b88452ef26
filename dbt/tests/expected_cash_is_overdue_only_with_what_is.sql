-- Expected cash in the overdue row is overdue: bills that fall due later are not in it.
select
    connection_id,
    currency_code,
    expected_amount
from {{ ref('cash_requirements') }}
where due_bucket = 'overdue' and document_count = 0
