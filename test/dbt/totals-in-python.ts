import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonEnvironment } from '../support/python-environment.ts';
import type { Total } from './totals-by-sql.ts';

/** The totals of a company from the Parquet files of a snapshot, computed with Python's decimals and without DuckDB. */
export async function totalsInPython(snapshot: string, company: string): Promise<Total[]> {
  const python = join(await pythonEnvironment(), 'bin', 'python');
  const { stdout } = await promisify(execFile)(python, ['-c', program, snapshot, company]);
  return JSON.parse(stdout) as Total[];
}

const program = `
import json, sys
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal, getcontext
import pyarrow.parquet as parquet

getcontext().prec = 60
snapshot, company = sys.argv[1:]
totals = defaultdict(Decimal)

def table(name):
    return [row for row in parquet.read_table(f'{snapshot}/{name}').to_pylist() if row['connection_id'] == company]

def posted(name):
    return [row for row in table(name) if row['status'] in ('open', 'partially_paid', 'paid')]

def add(measure, currency, amount):
    totals[f'{measure} {currency}'] += amount

for bill in posted('bills'):
    add('open bills', bill['currency_code'], bill['amount_due'])
    add('spend', bill['currency_code'], bill['total_amount'])
for credit in posted('bill_credit_memos'):
    add('open credits', credit['currency_code'], credit['remaining_amount'])
    add('credits', credit['currency_code'], credit['total_amount'])
    add('spend', credit['currency_code'], -credit['total_amount'])

currencies = {bill['id']: bill['currency_code'] for bill in table('bills')}
for line in table('bill_lines'):
    add('bill lines', currencies[line['bill_id']], 1)

paid = defaultdict(Decimal)
expenses = {expense['id']: expense for expense in table('expenses')}
for line in table('expense_lines'):
    add('expense lines', expenses[line['expense_id']]['currency_code'], 1)
    paid[line['expense_id']] += line['total_amount']
for id, amount in paid.items():
    expense = expenses[id]
    counts = -amount if expense['expense_type'] == 'refund' and amount > 0 else amount
    add('expenses', expense['currency_code'], counts)
    add('spend', expense['currency_code'], counts)

minor = {'JPY': Decimal(1), 'KWD': Decimal('0.001')}
months = {'day': (365, 12), 'week': (52, 12), 'month': (1, 1), 'year': (1, 12)}
subscriptions = {row['id']: row for row in table('subscriptions')}
for item in table('subscription_items'):
    subscription = subscriptions[item['subscription_id']]
    if subscription['status'] == 'active':
        currency = subscription['iso_currency_code']
        numerator, denominator = months[item['interval']]
        exact = item['amount'] * numerator / (denominator * item['interval_count'])
        add('mrr', currency, exact.quantize(minor.get(currency, Decimal('0.01')), ROUND_HALF_UP))

print(json.dumps([{'key': key, 'amount': format(Decimal(amount), 'f')} for key, amount in totals.items()]))
`;
