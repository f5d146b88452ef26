import * as z from 'zod';
import { counted } from '../frame/counted.ts';
import { amount, isZero, shownAmount, type Decimal } from './amount.ts';
import { scopesOf } from './scopes-of.ts';
import { wholeSum } from './whole-sum.ts';

interface Words {
  readonly noun: string;
  /** Which of them. */
  readonly which: string;
  /** What became of them. */
  readonly done: string;
  /** What their sum is. */
  readonly sum: string;
}

const gone = {
  which: 'that a reconcile found gone at the source',
  done: 'counted until somebody approves the deletion',
} as const;

const goneDue = { noun: 'document', ...gone, sum: 'due' } as const;

const goneAhead = {
  noun: 'document',
  which: 'dated ahead that a reconcile found gone at the source',
  done: gone.done,
  sum: 'dated ahead',
} as const;

/** The largest of amounts, null where one is not known. */
function wholeLargest(amount: string, where: string): string {
  return `case when count(*) filter (where ${where}) = count(${amount}) filter (where ${where})
      then max(${amount}) filter (where ${where}) end`;
}

/** Bills, and credits below 0, whose deletion waits for approval, each with the most that was open of it on a day before today. */
const goneOpenBefore = `
    select connection_id, currency_code, ${wholeLargest('open_amount', 'not is_today')} as amount
    from marts.ap_open_items as items
    inner join (
      select connection_id, 'bill' as document_type, bill_id as document_id from marts.bills where awaits_deletion
      union all
      select connection_id, 'vendor_credit', vendor_credit_id from marts.vendor_credits where awaits_deletion
    ) as gone using (connection_id, document_type, document_id)
    where not is_credit and as_of_date :during
    group by connection_id, currency_code, document_type, document_id`;

const goneOpenBeforeWords = {
  which: gone.which,
  done: 'counted at past month ends until somebody approves the deletion',
  sum: 'open then',
} as const;

const isOfMonthBefore = `coalesce(issue_date < date_trunc('month', as_of_date), true)`;

/** The documents that figures leave out: one row (connection_id, currency_code, amount) for each, and the words for them. */
const leftOuts = {
  /** Bills of an unknown status, which no figure of what is owed has. */
  unknown_status: {
    documents: `
    select connection_id, currency_code, amount_due as amount
    from marts.bills where posting_status = 'unknown'`,
    words: { noun: 'bill', which: 'of an unknown status', done: 'left out', sum: 'amount due' },
  },
  /** Vendor credits of an unknown status, which nothing is lowered by. */
  unknown_credit: {
    documents: `
    select connection_id, currency_code, remaining_amount as amount
    from marts.vendor_credits where posting_status = 'unknown'`,
    words: { noun: 'credit', which: 'of an unknown status', done: 'left out', sum: 'remaining' },
  },
  /** Bills of which nobody knows when a part of them was settled, and which a month end that is over may have. */
  unexplained: {
    documents: `
    select connection_id, currency_code, unexplained_amount as amount
    from marts.bills where is_posted and has_unexplained_amount and unexplained_amount > 0
      and ${isOfMonthBefore}`,
    words: {
      noun: 'bill',
      which: 'with an amount that no payment or credit explains',
      done: 'shown without it in past months',
      sum: 'together',
    },
  },
  /** Bills of which more was due on days before than their total less what had settled them, such as a late fee. */
  overstated: {
    documents: `
    select connection_id, currency_code, max(due_beyond_total) as amount
    from marts.ap_open_items
    where due_beyond_total > 0 and not is_today and as_of_date :during
    group by connection_id, currency_code, document_id`,
    words: {
      noun: 'bill',
      which: 'of which more is due than payments and credits leave',
      done: 'shown with it at past month ends, although it is unknown since when',
      sum: 'together',
    },
  },
  /** Bills of which nobody knows when what settled them did. */
  undated_settlement: {
    documents: `
    select connection_id, currency_code, undated_amount as amount
    from marts.bills where is_posted and coalesce(undated_amount <> 0, true)
      and ${isOfMonthBefore}`,
    words: {
      noun: 'bill',
      which: 'with payments or credits without a date',
      done: 'shown as settled with them on every day',
      sum: 'together',
    },
  },
  /** Documents without a date, which are spend of no month. */
  undated: {
    documents: `
    select connection_id, currency_code, ${wholeSum('gross_amount')} as amount
    from marts.spend_lines where posting_status = 'posted' and spend_month is null
    group by connection_id, currency_code, source_type, document_id`,
    words: { noun: 'document', which: 'without a date', done: 'left out', sum: 'spend' },
  },
  /** Documents with lines on an account that others are settled on: paying off a card, which is spend where the card was used. */
  settling: {
    documents: `
    select lines.connection_id, currency_code, ${wholeSum('gross_amount')} as amount
    from marts.spend_lines as lines
    inner join marts.accounts using (connection_id, account_id)
    where posting_status = 'posted' and not is_in_future and role in ('ap_credit', 'payment_source')
      and coalesce(gross_amount <> 0, true) and spend_month :during
    group by lines.connection_id, currency_code, source_type, document_id`,
    words: {
      noun: 'document',
      which: 'with lines on an account that bills are owed on or expenses are paid from',
      done: 'in spend, perhaps a second time',
      sum: 'those lines',
    },
  },
  /** Documents of an unknown status, which are no spend; those without a date would be of no month either. */
  unknown_spend: {
    documents: `
    select connection_id, currency_code, ${wholeSum('gross_amount')} as amount
    from marts.spend_lines as lines
    where posting_status = 'unknown' and not is_in_future and (spend_month is null or (spend_month :during))
    group by connection_id, currency_code, source_type, document_id`,
    words: { noun: 'document', which: 'of an unknown status', done: 'left out', sum: 'spend' },
  },
  /** Bills and credits whose deletion waits for approval: they are due until then. */
  gone_due: {
    documents: `
    select connection_id, currency_code, open_amount - owed_back_amount as amount
    from marts.bills where awaits_deletion and (is_open or coalesce(owed_back_amount <> 0, true))
    union all
    select connection_id, currency_code, -unapplied_amount
    from marts.vendor_credits where awaits_deletion and is_unapplied`,
    words: goneDue,
  },
  /** Bills, and credits below 0, whose deletion waits for approval, and that are open until then: what is owed back is not. */
  gone_open: {
    documents: `
    select connection_id, currency_code, open_amount as amount
    from marts.bills where awaits_deletion and is_open
    union all
    select connection_id, currency_code, -unapplied_amount
    from marts.vendor_credits where awaits_deletion and unapplied_amount < 0`,
    words: goneDue,
  },
  /** Bills dated ahead whose deletion waits for approval: they are cash to come until then. */
  gone_ahead: {
    documents: `
    select connection_id, currency_code, dated_ahead_amount as amount
    from marts.bills where awaits_deletion and is_dated_ahead`,
    words: goneAhead,
  },
  /** Those of them that fall due within 14 days, without what credits settle by then. */
  gone_ahead_soon: {
    documents: `
    select connection_id, currency_code, dated_ahead_amount - credited_later_amount as amount
    from marts.bills
    where awaits_deletion and is_dated_ahead and due_date is not null and greatest(due_date, issue_date) < as_of_date + 14`,
    words: goneAhead,
  },
  /** Bills, and credits below 0, whose deletion waits for approval, and that are settled by today: they were open on days before. */
  gone_settled: {
    documents: `${goneOpenBefore}
    having not bool_or(is_today)`,
    words: { noun: 'settled document', ...goneOpenBeforeWords },
  },
  /** Those of which less is open today than was on a day before. */
  gone_partly_settled: {
    documents: `${goneOpenBefore}
    having bool_or(is_today) and bool_or(not is_today)
      and coalesce(
        ${wholeLargest('open_amount', 'not is_today')} > max(open_amount) filter (where is_today),
        max(open_amount) filter (where is_today) is not null
      )`,
    words: { noun: 'partly settled document', ...goneOpenBeforeWords },
  },
  /** Documents whose deletion waits for approval: they are spend until then. */
  gone_spend: {
    documents: `
    select lines.connection_id, currency_code, ${wholeSum('gross_amount')} as amount
    from marts.spend_lines as lines
    inner join (
      select connection_id, 'bill' as source_type, bill_id as document_id from marts.bills where awaits_deletion
      union all
      select connection_id, expense_type, expense_id from marts.expenses where awaits_deletion
      union all
      select connection_id, 'vendor_credit', vendor_credit_id from marts.vendor_credits where awaits_deletion
    ) as gone using (connection_id, source_type, document_id)
    where posting_status = 'posted' and not is_in_future and spend_month :during
    group by lines.connection_id, currency_code, source_type, document_id`,
    words: { noun: 'document', ...gone, sum: 'spend' },
  },
  /** Subscriptions whose deletion waits for approval: what they bring in is recurring revenue until then, and churn after. */
  gone_revenue: {
    documents: `
    select connection_id, currency_code, ${wholeSum('mrr')} as amount
    from marts.subscription_mrr_monthly
    where awaits_deletion and month = (select date_trunc('month', max(as_of_date))::date from marts.connections)
    group by connection_id, currency_code, subscription_id
    having coalesce(${wholeSum('mrr')} <> 0, true)`,
    words: { noun: 'subscription', ...gone, sum: 'revenue this month' },
  },
} as const satisfies Record<string, { readonly documents: string; readonly words: Words }>;

export type LeftOut = keyof typeof leftOuts;

/**
 * Queries of a `with` list: `left_out_documents`, a row each, and `left_out`, a row for each scope (null: all connections together) and
 * currency that leaves out something. What is above 0 and what is below hide nothing of each other. `during` says of which months.
 */
export function leftOutQueries(names: readonly LeftOut[], during = 'is not null'): string {
  const documents = names.map(
    (name) => `
  select '${name}' as what, documents.*
  from (${leftOuts[name].documents.replaceAll(':during', during)}
  ) as documents`,
  );
  return `left_out_documents as (${documents.join('\n  union all')}
),

left_out as (
  select
    scope.connection_id as in_scope,
    odd.currency_code as in_currency,
${names.map((name) => columnsOf(name)).join(',\n')}
  from left_out_documents as odd
  ${scopesOf('odd')}
  group by scope.connection_id, odd.currency_code
)`;
}

function columnsOf(name: LeftOut): string {
  const of = `what = '${name}'`;
  const part = (sign: string): string =>
    `coalesce(sum(amount) filter (where ${of} and amount ${sign} 0), 0) as`;
  return `    count(*) filter (where ${of}) as ${name},
    count(*) filter (where ${of} and amount is null) as ${name}_unknown,
    ${part('>')} ${name}_above,
    ${part('<')} ${name}_below`;
}

/**
 * The end of a statement: the rows of the query `shown`, whose scope and currency are `of_scope` and `of_currency`, each with what is
 * left out of them; and a row without figures where there is nothing but what is left out.
 */
export function withLeftOuts(order: string): string {
  return `select
  coalesce(of_scope, in_scope) as connection_id, -- null: all connections together
  coalesce(of_currency, in_currency) as currency_code,
  of_scope is not null or of_currency is not null as has_figures,
  shown.*,
  left_out.*
from shown
full join left_out
  on coalesce(of_scope, '') = coalesce(in_scope, '') and coalesce(of_currency, '') = coalesce(in_currency, '')
order by connection_id nulls first, ${order}`;
}

/** At most one sentence for each, of any row of the scope and currency. */
export function leftOutWords(
  names: readonly LeftOut[],
  row: Record<string, unknown> | undefined,
  currency: string,
): string[] {
  return names.flatMap((name) => {
    const count = z.number().parse(row?.[name] ?? 0);
    if (count === 0) return [];
    const sums = {
      above: amount.parse(row?.[`${name}_above`]),
      below: amount.parse(row?.[`${name}_below`]),
      unknown: z.number().parse(row?.[`${name}_unknown`]),
    };
    const { noun, which, done, sum } = leftOuts[name].words;
    const are = count === 1 ? 'is' : 'are';
    return [`${counted(count, noun)} ${which} ${are} ${done} (${sum} ${sumWords(sums, currency)})`];
  });
}

/** The sum above 0, the sum below, and how many unknown amounts are in neither. */
function sumWords(
  { above, below, unknown }: { above: Decimal; below: Decimal; unknown: number },
  currency: string,
): string {
  const parts = [above, below].filter((side) => !isZero(side)).map((side) => shownAmount(side, currency));
  if (unknown === 1) parts.push('an unknown amount');
  if (unknown > 1) parts.push(`${unknown.toLocaleString('en-US')} unknown amounts`);
  const [first, ...others] = parts;
  if (first === undefined) return shownAmount('0', currency);
  const last = others.pop();
  return last === undefined ? first : `${[first, ...others].join(', ')} and ${last}`;
}
