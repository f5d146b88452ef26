-- What is expected in the row of what is overdue is overdue: nothing is there of bills that fall due later.
select
    connection_id,
    currency_code,
    expected_amount
from {{ ref('cash_requirements') }}
where due_bucket = 'overdue' and document_count = 0
