import * as z from 'zod';
import { counted } from '../frame/counted.ts';
import { amount, isZero, shownAmount, type Decimal } from './amount.ts';
import { joinScopes } from './join-scopes.ts';
import { wholeSum } from './whole-sum.ts';

interface Words {
  readonly noun: string;
  /** The words after the noun: which documents they are. */
  readonly which: string;
  /** How the figures treat the documents. */
  readonly done: string;
  /** The name of their sum. */
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

/** Returns SQL for the largest amount; null if any amount is not known. */
function wholeLargest(amount: string, where: string): string {
  return `case when count(*) filter (where ${where}) = count(${amount}) filter (where ${where})
      then max(${amount}) filter (where ${where}) end`;
}

/** Bills, and credits below 0, whose deletion waits for approval, each with its largest open amount on a day before today. */
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

/** The documents that figures leave out: a query with one row (connection_id, currency_code, amount) for each, and the words for them. */
const leftOuts = {
  /** Bills of an unknown status, which are in no figure of what is owed. */
  unknown_status: {
    documents: `
    select connection_id, currency_code, amount_due as amount
    from marts.bills where posting_status = 'unknown'`,
    words: { noun: 'bill', which: 'of an unknown status', done: 'left out', sum: 'amount due' },
  },
  /** Vendor credits of an unknown status, which reduce no figure. */
  unknown_credit: {
    documents: `
    select connection_id, currency_code, remaining_amount as amount
    from marts.vendor_credits where posting_status = 'unknown'`,
    words: { noun: 'credit', which: 'of an unknown status', done: 'left out', sum: 'remaining' },
  },
  /** Bills with a part that was settled at an unknown time; past month ends may include them. */
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
  /** Bills that had more due on earlier days than their total minus its settlements, for example because of a late fee. */
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
  /** Bills whose settlements have unknown dates. */
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
  /** Documents without a date, which belong to the spend of no month. */
  undated: {
    documents: `
    select connection_id, currency_code, ${wholeSum('gross_amount')} as amount
    from marts.spend_lines where posting_status = 'posted' and spend_month is null
    group by connection_id, currency_code, source_type, document_id`,
    words: { noun: 'document', which: 'without a date', done: 'left out', sum: 'spend' },
  },
  /** Documents with lines on a settlement account, such as paying off a card, whose spend is recorded where the card was used. */
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
  /** Documents of an unknown status, which are not spend; those without a date would belong to no month anyway. */
  unknown_spend: {
    documents: `
    select connection_id, currency_code, ${wholeSum('gross_amount')} as amount
    from marts.spend_lines as lines
    where posting_status = 'unknown' and not is_in_future and (spend_month is null or (spend_month :during))
    group by connection_id, currency_code, source_type, document_id`,
    words: { noun: 'document', which: 'of an unknown status', done: 'left out', sum: 'spend' },
  },
  /** Bills and credits whose deletion waits for approval: they count as due until then. */
  gone_due: {
    documents: `
    select connection_id, currency_code, open_amount - owed_back_amount as amount
    from marts.bills where awaits_deletion and (is_open or coalesce(owed_back_amount <> 0, true))
    union all
    select connection_id, currency_code, -unapplied_amount
    from marts.vendor_credits where awaits_deletion and is_unapplied`,
    words: goneDue,
  },
  /** Bills, and credits below 0, whose deletion waits for approval: they count as open until then. Money owed back does not. */
  gone_open: {
    documents: `
    select connection_id, currency_code, open_amount as amount
    from marts.bills where awaits_deletion and is_open
    union all
    select connection_id, currency_code, -unapplied_amount
    from marts.vendor_credits where awaits_deletion and unapplied_amount < 0`,
    words: goneDue,
  },
  /** Bills dated ahead whose deletion waits for approval: they count as future cash requirements until then. */
  gone_ahead: {
    documents: `
    select connection_id, currency_code, dated_ahead_amount as amount
    from marts.bills where awaits_deletion and is_dated_ahead`,
    words: goneAhead,
  },
  /** The bills of `gone_ahead` that fall due within 14 days, without what credits settle by then. */
  gone_ahead_soon: {
    documents: `
    select connection_id, currency_code, dated_ahead_amount - credited_later_amount as amount
    from marts.bills
    where awaits_deletion and is_dated_ahead and due_date is not null and greatest(due_date, issue_date) < as_of_date + 14`,
    words: goneAhead,
  },
  /** Bills, and credits below 0, whose deletion waits for approval, settled by today: they were open on earlier days. */
  gone_settled: {
    documents: `${goneOpenBefore}
    having not bool_or(is_today)`,
    words: { noun: 'settled document', ...goneOpenBeforeWords },
  },
  /** The bills and credits of `goneOpenBefore` that have less open today than on an earlier day. */
  gone_partly_settled: {
    documents: `${goneOpenBefore}
    having bool_or(is_today) and bool_or(not is_today)
      and coalesce(
        ${wholeLargest('open_amount', 'not is_today')} > max(open_amount) filter (where is_today),
        max(open_amount) filter (where is_today) is not null
      )`,
    words: { noun: 'partly settled document', ...goneOpenBeforeWords },
  },
  /** Documents whose deletion waits for approval: they count as spend until then. */
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
  /** Subscriptions whose deletion waits for approval: they count as recurring revenue until then, and as churn after. */
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
 * Returns two queries for a `with` list: `left_out_documents` has a row for each document, and `left_out` a row for each scope (null: all
 * connections together) and currency that leaves out something. Amounts above and below 0 are summed separately, so they cannot cancel out.
 * `during` is the condition on months.
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
${names.map((name) => leftOutColumns(name)).join(',\n')}
  from left_out_documents as odd
  ${joinScopes('odd')}
  group by scope.connection_id, odd.currency_code
)`;
}

function leftOutColumns(name: LeftOut): string {
  const of = `what = '${name}'`;
  const part = (sign: string): string =>
    `coalesce(sum(amount) filter (where ${of} and amount ${sign} 0), 0) as`;
  return `    count(*) filter (where ${of}) as ${name},
    count(*) filter (where ${of} and amount is null) as ${name}_unknown,
    ${part('>')} ${name}_above,
    ${part('<')} ${name}_below`;
}

/**
 * Returns the end of a statement: the rows of the query `shown`, whose scope and currency are `of_scope` and `of_currency`, each with what
 * is left out of it. A scope and currency in which everything is left out gets one row without figures.
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

/** Returns at most one sentence for each name. `row` is any row of the scope and currency. */
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

/** The sum above 0, the sum below 0, and the number of unknown amounts, which are in neither. */
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
