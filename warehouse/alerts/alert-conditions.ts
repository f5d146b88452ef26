import { sql, type RawBuilder } from 'kysely';
import { freshSince, lastComplete, stale } from '../connections/stale.ts';
import { countInWords, countLimit, mostCounted } from '../quarantine/count-open-entries.ts';
import { listedInQuarantine } from '../quarantine/listed-in-quarantine.ts';
import { askedForApproval } from '../reconcile/asked-for-approval.ts';
import { holdsAnyRecord } from '../reconcile/holds-any-record.ts';
import type { AlertKind } from '../tables/alerts.ts';
import { newestFailures } from './newest-failures.ts';
import { newestRunsOfAll } from './newest-runs-of-all.ts';

/**
 * The problems by kind of alert: each statement selects kind, connection, message and remedy, one row for each connection. Anybody may see them: they
 * hold names, counts and our own sentences, but no token and no record. Stuck workflows and the backlog are not here, because only Temporal knows
 * them.
 */
export const alertConditions: Record<Exclude<AlertKind, 'stuck' | 'backlog'>, RawBuilder<unknown>> = {
  /**
   * A failure counts until another run of its kind succeeded with the same streams, or a person resumed the connection. Connections that paused
   * themselves, stalled streams, missing lists, deletions to be approved and the quarantine have alerts of their own.
   */
  failed: sql`
    select 'failed' as kind, connection_id,
      connection_id || ': ' || string_agg(
        format('the last %s failed%s at %s%s: %s', kind, case when status = 'partial' then ' in part' end,
          ${moment('finished_at')}, case when kind = 'sync' and failures > 1 then format(', %s times in a row', failures) end,
          failure),
        ' ' order by kind) as message,
      'Do what the failure says, then '
        || string_agg(format('"daybook %s %s%s"', kind, connection_id, case when kind = 'backfill' then ' …' end),
          ' and ' order by kind)
        || format('. "daybook runs %s" says how each stream fared.', connection_id) as remedy
    from (${newestFailures}) newest
    group by connection_id`,

  /** A pause that a person made raises no alert. */
  paused: sql`
    select 'paused', c.connection_id,
      format('%s has paused itself since %s, because its sync failed: %s', c.connection_id, ${moment('c.paused_at')},
        coalesce(r.failure, 'see the remedy.')),
      c.paused_why
    from sync.connections c
    left join sync.runs r on r.run_id = c.failed_run_id
    where c.paused_by = 'daybook'`,

  stale: sql`
    select 'stale', connection_id,
      format('%s is stale: it should be synced every %s min, and %s. %s',
        connection_id, trim_scale(round((extract(epoch from sync_every) * sync_stretch)::numeric / 60, 1)),
        coalesce((
          select string_agg(format('%s (last at %s)', s.stream, coalesce(${moment('s.last_success_at')}, 'no time')), ', '
            order by s.stream) || case when count(*) > 1 then ' were' else ' was' end || ' not complete for more than twice that'
          from sync.streams s
          where s.connection_id = connections.connection_id and s.capability <> 'unsupported'
            and ${freshSince} > coalesce(${lastComplete}, created_at)
        ), 'nothing was read since it was added'),
        coalesce((
          select format('A sync has been running since %s.', ${moment('min(r.started_at)')})
          from sync.runs r
          where r.connection_id = connections.connection_id and r.kind = 'sync' and r.status = 'running'
          having count(*) > 0
        ), 'No sync is running.')),
      format('"daybook runs %1$s" says what the last syncs did, and the workflow sync/%1$s in the Temporal Web UI what a running '
        'one waits for. If none starts, "daybook doctor" says what is missing; a "daybook worker" has to run.', connection_id)
    from sync.connections
    where ${stale}`,

  stalled: sql`
    select 'stalled', connection_id,
      format('%s: the service has newer records of %s than its list shows, so %s not move.', connection_id,
        string_agg(stream, ', ' order by stream),
        case when count(*) > 1 then 'these streams do' else 'this stream does' end),
      format('"daybook reconcile %s" brings them. If it comes back, report it to the finance API.', connection_id)
    from sync.streams
    join sync.connections using (connection_id)
    where stalled_at is not null
    group by connection_id`,

  /** Stored records are no longer kept up to date. Deletions come from a separate list, which holds no records. */
  unsupported: sql`
    select 'unsupported', connection_id,
      format('%s: the service answers 404 for %s although it listed %s before, so the stored records of %s are no longer updated.',
        connection_id,
        string_agg(format('%s (since %s)', stream, ${moment('coalesce(missing_since, capability_checked_at)')}), ', '
          order by stream),
        case when count(*) > 1 then 'them' else 'it' end, case when count(*) > 1 then 'them' else 'it' end),
      format('Check DAYBOOK_API_URL, and ask the finance API why it is gone. It is requested once a day; when it answers again, '
        'the next sync continues and "daybook reconcile %s" proves that nothing is missing.', connection_id)
    from sync.streams s
    join sync.connections using (connection_id)
    where capability = 'unsupported' and (${holdsAnyRecord} or resource = 'events' and listed_at is not null)
    group by connection_id`,

  approval: sql`
    select 'approval', connection_id,
      format('%s: a reconcile has stopped to ask. %s', connection_id,
        string_agg(distinct failure, ' ' order by failure)),
      format('If they are really gone: "daybook reconcile %1$s --approve-deletes", or send the signal approveDeletes to the '
        'workflow approve-deletes/%1$s in the Temporal Web UI. That approves these, and nothing that is found later. If not, nothing is deleted: find out what the source does, and '
        'reconcile again.', connection_id)
    from (${askedForApproval}) asked
    join sync.connections using (connection_id)
    group by connection_id`,

  /**
   * The quarantine grows: a record came within a day and is still there. Older entries are known. Only the newest entries of each resource are read,
   * in the order of an index, as `countOpenEntries` does.
   */
  quarantine: sql`
    select 'quarantine', connection_id,
      format('%s: %s could not be landed since %s (%s) and wait in quarantine, %s with those before.',
        connection_id, case when sum(recent) = 1 then '1 record' else ${counted('sum(recent)')} || ' records' end,
        ${moment('min(since)')},
        string_agg(${counted('recent')} || ' of ' || resource, ', ' order by resource) filter (where recent > 0),
        ${counted('sum(open)')}),
      '"daybook quarantine list" names them and "daybook quarantine show ID" says what is wrong; "daybook quarantine replay" '
        'retries them once the source has fixed them, "discard" closes those that you do not want.'
    from (${listedInQuarantine}) listed
    join sync.connections using (connection_id)
    cross join lateral (
      select count(*) as open, count(*) filter (where entry.recent) as recent,
        min(first_seen_at) filter (where entry.recent) as since
      from (
        select first_seen_at, first_seen_at > now() - interval '24 hours' as recent
        from sync.quarantine q
        where q.status = 'open' and q.connection_id between listed.connection_id and listed.connection_id
          and q.resource between listed.resource and listed.resource
        order by q.connection_id desc, q.resource desc, q.id desc
        limit ${countLimit}
      ) entry
    ) newest
    group by connection_id
    having sum(recent) > 0`,

  /** Webhooks rightly wait while the service has asked for a pause or the connection is paused; only the time since counts. */
  webhooks: sql`
    select 'webhooks', w.connection_id,
      format('%s: %s since %s, though they should be applied within seconds. Nothing is lost: the next sync brings the records that they announce.',
        w.connection_id, case when count(*) = 1 then '1 webhook has waited' else count(*) || ' webhooks have waited' end,
        ${moment('min(greatest(w.received_at, c.webhooks_after))')}),
      '"daybook doctor" says whether Temporal and the database answer; a "daybook worker" has to run, and its log says what fails.'
    from sync.webhook_inbox w
    join sync.connections c using (connection_id)
    where w.status = 'waiting' and c.paused_at is null
      and greatest(w.received_at, c.webhooks_after) < now() - interval '60 seconds'
    group by w.connection_id`,

  /** A connection that completed a sync since then is not affected any more. */
  missed: sql`
    select 'missed', null::text,
      format('Schedules of %s did not start everything that was due (noticed at %s): Temporal was down, or stalled, for longer than '
        'their interval.',
        case when count(*) = 1 then min(connection_id)
          else count(*) || ' connections, such as ' || min(connection_id) || ',' end,
        ${moment('max(ticks_missed_at)')}),
      'Nothing is lost: the next sync of each reads the changes in between, and ends this. Find out why Temporal was down: its log, its '
        'disk, its limits.'
    from sync.connections c
    where ticks_missed_at > now() - interval '24 hours' and sync_every is not null and paused_at is null
      and exists (
        select from sync.streams s
        where s.connection_id = c.connection_id and s.capability <> 'unsupported'
          and coalesce(s.last_success_at < c.ticks_missed_at, true)
      )
    having count(*) > 0`,

  export: sql`
    select 'export', null::text,
      format('The last export failed at %s%s: %s', ${moment('finished_at')},
        case when failure not like 'Published snapshot %' then ', so there is no newer snapshot' end, failure),
      'Do what the failure says, then "daybook export"; the snapshots that are there stay as they are.'
    from (${newestRunsOfAll}) newest
    where kind = 'export' and status = 'failed'`,

  /** Missing build tools raise an alert only if there are marts that could become outdated. */
  marts: sql`
    select 'marts', null::text,
      string_agg(
        format('The last build of the marts %s failed at %s: %s %s',
          case target when 'lake' then 'on the lake' when 'spark' then 'on Spark' else 'in Postgres' end, ${moment('finished_at')},
          coalesce(failure, outcome),
          case when as_of_date is null then 'There are none yet.' else format('Readers see those of %s.', as_of_date) end),
        ' ' order by target desc),
      'Do what the failure says, then '
        || string_agg(case target when 'postgres' then '"daybook dbt build"' else format('"daybook dbt build --target %s"', target) end,
          ' and ' order by target desc)
        || case when bool_and(target = 'spark') then '.'
          else format('; the next export builds them again too%s.', case when bool_or(target = 'spark') then ', except those on Spark' end) end
    from (${newestRunsOfAll}) newest
    left join (select target as shown, as_of_date from sync.marts) m on m.shown = target
    where kind = 'marts' and (status = 'failed' or (status = 'unsupported' and as_of_date is not null))
    having count(*) > 0`,
};

/** Formats a number of entries, of which at most `countLimit` were read for each resource. */
function counted(expression: string): RawBuilder<string> {
  return sql<string>`case when ${sql.raw(expression)} > ${sql.lit(mostCounted)} then ${sql.lit(countInWords(mostCounted + 1))}
    else (${sql.raw(expression)})::text end`;
}

/** Formats a time for people, to the minute. */
function moment(expression: string): RawBuilder<string> {
  return sql<string>`to_char(${sql.raw(expression)} at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')`;
}
