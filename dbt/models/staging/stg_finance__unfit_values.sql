with listed as (
    {{ daybook.unfit_values({
        'bills': ('id', [], ['amount_due', 'total_amount', 'sub_total', 'tax_amount', 'total_discount', 'currency_rate']),
        'bill_lines': ('bill_id', ['position'], [
            'discount_amount', 'discount_percentage', 'sub_total', 'tax_amount', 'total_amount', 'item_quantity',
            'item_unit_amount'
        ]),
        'bill_payment_allocations': ('bill_id', ['position'], ['allocated_amount']),
        'bill_credit_allocations': ('bill_id', ['position'], ['allocated_amount']),
        'expenses': ('id', [], ['currency_rate']),
        'expense_lines': ('expense_id', ['position'], ['total_amount']),
        'bill_credit_memos': ('id', [], ['remaining_amount', 'total_amount']),
        'bill_credit_memo_lines': ('bill_credit_memo_id', ['position'], [
            'discount_amount', 'discount_percentage', 'sub_total', 'tax_amount', 'total_amount', 'item_quantity',
            'item_unit_amount'
        ]),
        'bill_credit_memo_allocations': ('bill_credit_memo_id', ['position'], ['allocated_amount']),
        'items': ('id', [], ['quantity_on_hand', 'bill_unit_price', 'invoice_unit_price']),
        'subscription_item_versions': ('subscription_id', ['position', 'recorded_at'], ['quantity', 'amount', 'unit_amount'])
    }) }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Rounded by the snapshot and still too large for the marts: it is null here.
in_this_world as (
    select
        table_name,
        connection_id,
        record_id,
        position,
        recorded_at,
        column_name,
        bool_and(is_rounded) as is_rounded
    from listed
    where connection_id in (select connections.connection_id from connections)
    group by table_name, connection_id, record_id, position, recorded_at, column_name
)

select * from in_this_world
