/** A deliberate mistake: one edit of one file of the product. `find` must occur in it exactly once. */
export interface Mutant {
  readonly name: string;
  /** The scenario that shows it (see `scenarios`). Absent: any history does. */
  readonly about?: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** Returns the file with the mistake in it. Throws if the mistake no longer fits the file: the list is stale. */
export function applyMutant({ name, file, find, replace }: Mutant, right: string): string {
  const [before, after, ...more] = right.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`The list of mutants is stale: "${name}" does not fit ${file}.`);
  return `${before}${replace}${after}`;
}

/** Mistakes that copies of such services have made, or could make. The simulation must notice each. */
export const mutants: readonly Mutant[] = [
  {
    name: 'the watermark is the local clock',
    file: 'warehouse/passes/complete-pass.ts',
    find: 'watermark = greatest(watermark, known.read_to),',
    replace: 'watermark = clock_timestamp(),',
  },
  {
    name: 'what is new is asked for by updated_at',
    file: 'resources/bills.ts',
    find: "floorParameter: 'last_synced_at_min'",
    replace: "floorParameter: 'updated_at_min'",
  },
  {
    name: 'refunds are not asked for',
    file: 'resources/expenses.ts',
    find: "name: 'refunds',\n      query: { expense_type: 'refund',",
    replace: "name: 'refunds',\n      query: { expense_type: 'expense',",
  },
  {
    name: 'no lookback, although records arrive late',
    file: 'warehouse/passes/open-pass.ts',
    find: 'watermark - ${lookbackMilliseconds} *',
    replace: 'watermark - ${lookbackMilliseconds * 0} *',
  },
  {
    name: 'a record is held whose ID is, whatever its content',
    file: 'warehouse/landing/holds-records.ts',
    find: 'and f.id = arriving.id and f._content_hash = arriving.hash',
    replace: 'and f.id = arriving.id and arriving.hash is not null',
  },
  {
    name: 'no tombstone guard',
    file: 'warehouse/landing/classify-records.ts',
    find: "when tombstone.version >= arriving.version then 'suppressed'",
    replace: "when false then 'suppressed'",
  },
  {
    name: 'a tie goes to the record instead of the tombstone',
    about: 'untoldLatePage',
    file: 'warehouse/landing/classify-records.ts',
    find: 'when tombstone.version >= arriving.version',
    replace: 'when tombstone.version > arriving.version',
  },
  {
    name: 'an older version replaces a newer one',
    file: 'warehouse/landing/classify-records.ts',
    find: "when held.version > arriving.version then 'suppressed'",
    replace: "when false then 'suppressed'",
  },
  {
    name: 'a record that lives again stays among the deleted',
    file: 'warehouse/landing/settle-records.ts',
    find: 'where t.connection_id = good.connection_id and',
    replace: 'where false and t.connection_id = good.connection_id and',
  },
  {
    name: 'an older deletion deletes a newer version',
    file: 'warehouse/tombstones/apply-tombstones.ts',
    find: "when held.version > arriving.version then 'suppressed'",
    replace: "when false then 'suppressed'",
  },
  {
    name: 'a deletion closes what waits in quarantine of a newer version',
    file: 'warehouse/quarantine/close-buried.ts',
    find: 'else coalesce(q.version_us <= deletion.version_us, true)',
    replace: 'else true',
  },
  {
    name: 'the lease is not checked',
    about: 'overtakenAttempt',
    file: 'warehouse/passes/lock-pass.ts',
    find: 'and part = $4 and lease = $5',
    replace: 'and part = $4 and $5::text is not null',
  },
  {
    name: 'an attempt has the lease of the one that had its number before somebody reset the activity',
    about: 'overtakenAttempt',
    file: 'activities/create-lease.ts',
    find: '/${randomUUID()}`',
    replace: '`',
  },
  {
    name: 'a page lands wherever the pass stands',
    about: 'lostCommit',
    file: 'warehouse/passes/lock-pass.ts',
    find: 'if (standsAt !== cursor) throw new LeaseLost(pass);',
    replace: '',
  },
  {
    name: 'a run goes on past a failover',
    about: 'lostCommit',
    file: 'warehouse/runs/begin-run.ts',
    find: 'timeline: sql<string | null>`sync.timeline()`,',
    replace: 'timeline: null,',
  },
  {
    name: 'the cursor is committed before the records',
    about: 'overtakenAttempt',
    file: 'warehouse/landing/land-page.ts',
    find: '  const landed = await divide(',
    replace: `  await client.query(
    'update sync.passes set cursor = $5 where connection_id = $1 and stream = $2 and kind = $3 and part = $4',
    [pass.connectionId, pass.stream, pass.kind, pass.part, nextCursor],
  );
  await client.query('commit');
  await client.query('begin');
  const landed = await divide(`,
  },
  {
    name: 'the old lines of a changed record stay behind the new ones',
    file: 'warehouse/landing/remove-children.ts',
    find: 'delete from finance.${child.table} where',
    replace: 'update finance.${child.table} set position = position + 1000 where',
  },
  {
    name: 'money is a float on its way',
    file: 'warehouse/landing/column-expression.ts',
    find: 'return `${text}::numeric`;',
    replace: 'return `${text}::float8::numeric`;',
  },
  {
    name: 'all records of a resource are deleted without asking',
    file: 'warehouse/reconcile/delete-absent.ts',
    find: '(overLimit || all)',
    replace: 'overLimit',
  },
  {
    name: 'more than the delete limit is deleted without asking',
    file: 'warehouse/reconcile/delete-absent.ts',
    find: '(overLimit || all)',
    replace: 'all',
  },
  {
    name: 'the delete limit forgets what the same run has deleted before it listed again',
    about: 'interruptedDeletion',
    file: 'warehouse/reconcile/delete-absent.ts',
    find: 'const gone = confirmed + before;',
    replace: 'const gone = confirmed;',
  },
  {
    name: 'a step of a reconcile that was given up goes on with what a later listing has found',
    about: 'lateStep',
    file: 'warehouse/reconcile/listing-in-hand.ts',
    find: 'if (rows.length < streams.length || rows.some((pass) => pass.lease !== lease))',
    replace: 'if (rows.length < streams.length && lease === "")',
  },
  {
    name: 'a reconcile that stood still, and proves nothing, clears what was wanted',
    about: 'sleptBeforeProof',
    file: 'warehouse/reconcile/finish-resource.ts',
    find: 'if (!stoodStill) {\n      const explained = totals',
    replace: 'if (began !== "") {\n      const explained = stoodStill || totals',
  },
  {
    name: 'a reconcile does not ask the service what time it is before it deletes',
    about: 'sleptBeforeProof',
    file: 'activities/settle-resource.ts',
    find: 'await noteServiceTime(dependencies, listing, signal);',
    replace: 'if (listing.lease === "") await noteServiceTime(dependencies, listing, signal);',
  },
  {
    name: 'a reconcile takes the time of the service from an answer before the one that names the company',
    about: 'sleptBeforeName',
    file: 'activities/note-service-time.ts',
    find: 'connection === null ? await ask() : first',
    replace: 'first',
  },
  {
    name: 'what a listing does not show is deleted without being looked for',
    file: 'warehouse/reconcile/find-absent.ts',
    find: "f.id, 'extra', 'checking'",
    replace: "f.id, 'extra', 'confirmed'",
  },
  {
    name: 'a list that answers 404 is taken for an empty one',
    file: 'source/api-client.ts',
    find: "const answer = await sendRequest(service, { ...request, kind: 'list' });\n      await request.onReceived?.();\n      return parseListPage(answer, plural, { limits: service.limits, findHeld });",
    replace: `return sendRequest(service, { ...request, kind: 'list' }).then(
        (answer) => parseListPage(answer, plural, { limits: service.limits, findHeld }),
        (error) => {
          if (error.name !== 'NotSupported') throw error;
          const [servedAt, receivedAt] = [null, new Date()];
          return { records: [], connection: null, nextCursor: null, requestId: null, servedAt, receivedAt };
        },
      );`,
  },
  {
    name: 'an empty page is taken for the last one',
    file: 'source/responses.ts',
    find: 'nextCursor: parseNextCursor(members.next_cursor, { secrets, failure }),',
    replace:
      'nextCursor: cut.length === 0 ? null : parseNextCursor(members.next_cursor, { secrets, failure }),',
  },
  {
    name: 'a webhook is believed without asking the service',
    about: 'lateWebhooks',
    file: 'activities/apply-announced.ts',
    find: '  try {\n    return { announced,',
    replace: `  if (announced.deleted) {
    const failure = { request: '', status: 404, errorCode: null, requestId: null };
    return { announced, found: new RecordGone(failure, null) };
  }
  try {
    return { announced,`,
  },
  {
    name: 'a record that nobody can store is dropped',
    file: 'warehouse/landing/quarantine-records.ts',
    find: 'if (refused.length === 0) return 0;',
    replace: 'if (refused.length >= 0) return 0;',
  },
  {
    name: 'deletions are not read any further than the first page',
    file: 'warehouse/tombstones/land-events.ts',
    find: 'if (nextCursor === null) await completePass',
    replace: 'if (nextCursor !== undefined) await completePass',
  },
  {
    name: 'one request more than the budget',
    file: 'warehouse/api-budget/api-budget.ts',
    find: 'select count(*) as requests',
    replace: 'select count(*) - 1 as requests',
  },
  {
    name: 'no version header',
    file: 'source/api-client.ts',
    find: "'x-service-version': settings.version,",
    replace: '',
  },
  {
    name: 'a day in a snapshot is the one before, as in another time zone',
    file: 'lake/parquet/write-table.ts',
    find: 'if (scale === undefined) return',
    replace:
      "if (parquet === 'DATE') return `cast(cast(${text} as date) - 1 as date)`;\n  if (scale === undefined) return",
  },
  {
    name: 'a part of a snapshot is kept when the number of its rows is the same',
    file: 'warehouse/snapshots/mark.ts',
    find: 'sum(hashint8extended(xmin::text::bigint, 0))::text',
    replace: "''",
  },
  {
    name: 'a piece of a large connection is kept whatever was changed in it',
    file: 'activities/export/plan-parts.ts',
    find: 'marks: [mark] }]',
    replace: 'marks: [] }]',
  },
  {
    name: 'a list that does not say whose it is is believed',
    about: 'anotherCompanyUnnamed',
    file: 'requests/company-proof.ts',
    find: `    else await prove(identity ?? (await askForCompany(asking)));
  }

  async function requireNow(identity: ServiceIdentity | null): Promise<void> {
    if (identity !== null) await require(identity);
    else if (company.proved !== 'nobody') await prove(await askForCompany(asking));
`,
    replace: `    else if (identity !== null) await prove(identity);
    else {
      const sql = 'update sync.runs set proved_token = $2 where run_id = $1';
      await warehouse.pool.query(sql, [runId, access.mark]);
      company.proved = 'before';
    }
  }

  async function requireNow(identity: ServiceIdentity | null): Promise<void> {
    await require(identity);
`,
  },
  {
    name: 'a company that was named before is believed without a name',
    about: 'anotherCompanyUnnamed',
    file: 'requests/company-proof.ts',
    find: 'if (named === null) await proveTokenAlone(warehouse, of);',
    replace: `const sql = 'update sync.runs set proved_token = $2 where run_id = $1';
    if (named === null) await warehouse.pool.query(sql, [runId, access.mark]);`,
  },
  {
    name: 'a company that no list of its platform names is never copied',
    about: 'unnamedCompany',
    file: 'requests/company-proof.ts',
    find: 'if (unnamed.length === 0 || unnamed.some(({ namesCompany }) => namesCompany))',
    replace: 'if (unnamed.length >= 0)',
  },
  {
    name: 'who was named before an answer that names nobody is named after it',
    about: 'anotherCompanyMidway',
    file: 'activities/read-chunk.ts',
    find: 'else await proof.requireNow(connection);',
    replace: 'else await proof.require(connection);',
  },
  {
    name: 'the last answer of a reconcile may name any company',
    about: 'anotherCompanyMidway',
    file: 'activities/note-service-time.ts',
    find: 'await retryWithDeadline(() => proof.requireNow(connection), signal);',
    replace: 'await retryWithDeadline(() => proof.require(null), signal);',
  },
  {
    name: 'another company is taken for the pinned one',
    about: 'anotherCompany',
    file: 'warehouse/connections/pin-identity.ts',
    find: 'if (known.service_connection_id !== identity.id || known.org_id !== identity.orgId) {',
    replace: 'if (known.org_id !== identity.orgId) {',
  },
  {
    name: 'a token of another company pauses nothing',
    about: 'anotherCompany',
    file: 'warehouse/connections/refuse-token.ts',
    find: "        paused_by: 'daybook',",
    replace: '        paused_by: null,',
  },
  {
    name: 'a run goes on for the connection that has the name of the one it was begun for',
    about: 'replaced',
    file: 'warehouse/runs/begin-run.ts',
    find: 'if (connection.isRemoved) throw',
    replace: 'if (!connection) throw',
  },
  {
    name: 'one 404 makes a list that has answered unsupported',
    about: 'flippingLists',
    file: 'warehouse/passes/note-missing.ts',
    find: `        listed_at is null
          or missing_since <= clock_timestamp() - interval '7 days'`,
    replace: `        listed_at is null
          or missing_since <= clock_timestamp() + interval '7 days'`,
  },
  {
    name: 'one 404 says that the service does not have a list that was never read',
    about: 'flippingLists',
    file: 'activities/ask-missing-again.ts',
    find: 'if (hasAnswered || ',
    replace: 'if (hasAnswered || error instanceof NotSupported || ',
  },
  {
    name: 'a list that answered 404 to a run which was ended from outside is not asked for again',
    about: 'flippingLists',
    file: 'warehouse/passes/note-missing.ts',
    find: 'if (wasListed)',
    replace: 'if (wasListed || !wasListed)',
  },
  {
    name: 'a reconcile does not see what is ahead of the source',
    about: 'correctedPlatform',
    file: 'warehouse/reconcile/find-ahead.ts',
    find: 'if (suppressed.length === 0) return;',
    replace: 'if (suppressed.length >= 0) return;',
  },
  {
    name: 'what a fetch shows under an older version is not believed',
    about: 'correctedPlatform',
    file: 'warehouse/reconcile/land-ahead.ts',
    find: 'const isAhead = held !== undefined && beats(held, versionOfEntry(input.record.text, resource));',
    replace:
      'const isAhead = held === undefined && beats(held, versionOfEntry(input.record.text, resource));',
  },
  {
    name: 'a subscription is never repaired, however often it shows the same',
    about: 'correctedPlatform',
    file: 'warehouse/reconcile/find-ahead.ts',
    find: 'd.shown_hash = shown.hash and d.shown_by is not null',
    replace: 'd.shown_hash = shown.hash and d.shown_by is null',
  },
  {
    name: 'two listings are two words, however soon one follows the other',
    about: 'oldLists',
    file: 'warehouse/reconcile/find-ahead.ts',
    find: "and ${isLongAgo(`d.shown_at <= $6::timestamptz - ${listLag(resource, '$7')}`, listLag(resource, '$7'))}",
    replace: 'and $6::timestamptz is not null and $7::float8 is not null',
  },
  {
    name: 'a reconcile says that it succeeded, whatever it has found',
    about: 'correctedPlatform',
    file: 'warehouse/reconcile/finish-resource.ts',
    find: 'const { unclear, unanswered, nameless, stoodStill, equal } = input;',
    replace: 'const { nameless, stoodStill } = input;\n  const [unclear, unanswered, equal] = [0, 0, true];',
  },
  {
    name: 'a record that lives again under an old version stays deleted',
    about: 'livesAsItWas',
    file: 'warehouse/reconcile/find-ahead.ts',
    find: 'then tombstone.noted_at < began.at',
    replace: 'then false',
  },
  {
    name: 'the tombstone of a reconcile has the version that was held',
    about: 'latePageOfGone',
    file: 'warehouse/reconcile/delete-absent.ts',
    find: 'greatest(version, gone_by)::text as version',
    replace: 'version::text as version',
  },
  {
    name: 'the watermark goes past the time at which the reading began',
    about: 'future',
    file: 'warehouse/passes/complete-pass.ts',
    find: 'watermark = greatest(watermark, known.read_to),',
    replace: 'watermark = greatest(watermark, known.highest_seen),',
  },
  {
    name: 'a clock that the service has put back is not noticed once time has caught up with it',
    about: 'correctedService',
    file: 'activities/service-clock.ts',
    find: "const putBack = pass.kind === 'sync' ? putBackBy(reading) : 0;",
    replace: 'const putBack = 0 * putBackBy(reading);',
  },
  {
    name: 'only the first page of a reading shows that the service has put its clock back',
    about: 'correctedMidway',
    file: 'activities/service-clock.ts',
    find: "const putBack = pass.kind === 'sync' ? putBackBy(reading) : 0;",
    replace: 'const putBack = reading.isFirst ? putBackBy(reading) : 0;',
  },
  {
    name: 'the time for which a page waits in hand counts as the time of the service',
    about: 'correctedMidway',
    file: 'warehouse/passes/record-page.ts',
    find: 'then least(clock_timestamp(), $17::timestamptz)',
    replace: 'then greatest(clock_timestamp(), $17::timestamptz)',
  },
  {
    name: 'a reading that begins again forgets when it began',
    about: 'givenUpBehindFuture',
    file: 'warehouse/passes/restart-pass.ts',
    find: 'coalesce(served_from, case when served_until is null then ${beganUntold} end)',
    replace: 'coalesce(served_from, highest_seen)',
  },
  {
    name: 'where the service tells no time, a reading began by our clock',
    about: 'untoldTime',
    file: 'warehouse/passes/reading-began.ts',
    find: 'then least(highest_seen - ${readFor}, started_at) end',
    replace: 'then started_at end',
  },
  {
    name: 'the order of versions is that of the clock of Postgres',
    about: 'databaseAhead',
    file: 'warehouse/clock/resource-clock.ts',
    find: 'when excluded.landed_at > clock.landed_at then excluded.landed_at',
    replace: 'when true then excluded.landed_at',
  },
  {
    name: 'a tick takes the first page of a list for all of it',
    about: 'ticks',
    file: 'activities/sync-within-tick.ts',
    find: `if (state !== 'done' && state !== 'unsupported') return wait?.reason ?? 'more pages';
    outcomes.push({ stream, state });`,
    replace: "if (wait !== undefined) return wait.reason;\n    outcomes.push({ stream, state: 'done' });",
  },
  {
    name: 'a cursor that a run gave up on is the first of the next one',
    about: 'forgottenCursors',
    file: 'activities/settle-read-failure.ts',
    find: 'if (failure instanceof GaveUp || failure instanceof RequestRefused)',
    replace: 'if (failure instanceof RequestRefused)',
  },
  {
    name: 'how long a service wants to be left alone goes by the clock of a worker',
    about: 'askedForSilence',
    file: 'workflows/asked-milliseconds.ts',
    find: 'if (milliseconds !== undefined) return milliseconds;',
    replace: 'if (milliseconds === null) return milliseconds;',
  },
  {
    name: 'nobody else hears that the service wants to be left alone',
    about: 'askedForSilence',
    file: 'warehouse/api-budget/api-budget.ts',
    find: 'await warehouse.pool.query(reportSql, [budget, milliseconds]);',
    replace: 'await warehouse.pool.query(reportSql, [budget, milliseconds * 0]);',
  },
  {
    name: 'deletions are forgotten with their connection, although its data are kept',
    about: 'addedAgain',
    file: 'warehouse/connections/removed-tables.ts',
    find: '[...stateTables, openEntries]',
    replace: `[...stateTables, openEntries, table('sync.tombstones')]`,
  },
  {
    name: 'whose the kept data are is forgotten',
    about: 'addedAgain',
    file: 'warehouse/connections/add-connection.ts',
    find: 'service_connection_id: kept?.service_connection_id ?? null,',
    replace: 'service_connection_id: null,',
  },
  {
    name: 'an approval is of whatever waits',
    about: 'staleApproval',
    file: 'warehouse/reconcile/deletion-question.ts',
    find: 'return approved?.run === run_id && records <= approved.records;',
    replace: "return approved !== undefined && run_id !== '' && records > 0;",
  },
  {
    name: 'what a person discarded comes back when it is seen again',
    about: 'discarded',
    file: 'warehouse/landing/quarantine-records.ts',
    find: 'and discarded.discarded_content = refused.content',
    replace: 'and discarded.discarded_content = refused.content and discarded.payload = refused.payload',
  },
  {
    name: 'a record without an id is another one whenever it is seen',
    about: 'oddRecords',
    file: 'warehouse/landing/quarantine-records.ts',
    find: 'else sync.content_hash(payload) end as content',
    replace: 'else sync.content_hash(payload) || md5(payload) end as content',
  },
  {
    name: 'an older good version closes the entry of a newer bad one',
    about: 'spoiledMeanwhile',
    file: 'warehouse/landing/settle-records.ts',
    find: 'and (q.version_us is null or q.version_us <= good.version_us)',
    replace: '',
  },
  {
    name: 'an id with half of a surrogate pair is an id',
    about: 'oddRecords',
    file: 'warehouse/landing/prepared-page.ts',
    find: "id !== '' && isWellFormed(id) ? id : null",
    replace: "id !== '' ? id : null",
  },
  {
    name: 'a record without an id waits for ever',
    about: 'oddRecords',
    file: 'warehouse/reconcile/close-unlisted.ts',
    find: 'and q.run_id <> $3 and q.last_seen_at < $4',
    replace: 'and q.run_id = $3 and q.last_seen_at < $4',
  },
  {
    name: 'a record without an id that a lagging list does not show leaves quarantine',
    about: 'oddRecordsBehind',
    file: 'warehouse/reconcile/close-unlisted.ts',
    find: 'q.version_us < surely_listed_us,',
    replace: 'q.version_us < surely_listed_us + 1e15,',
  },
  {
    name: 'one 404 to a fetch is proof where other records are found',
    about: 'flippingFetches',
    file: 'requests/prove-absence.ts',
    find: 'if (!(await isStillGone(others.fetch, id))) throw new FetchWavers(gone);',
    replace: '',
  },
  {
    name: 'what a list does not show twice is gone, however young it is',
    about: 'oldLists',
    file: 'warehouse/reconcile/confirm-absent.ts',
    find: 'when surely_listed is not null then d.version < surely_listed',
    replace: 'when true then true',
  },
  {
    name: 'what never landed, and is not shown twice, is gone, however young it is',
    about: 'neverLandedBehind',
    file: 'warehouse/reconcile/confirm-absent.ts',
    find: "then $6 and d.shown_by <> $3 and ${isLongAgo('d.shown_at < surely_listed', listLag(resource, '$5'))}",
    replace: 'then $6 or not $6',
  },
  {
    name: 'history keeps the version of a clock that was put right, and a rebuild brings it back',
    about: 'correctedService',
    file: 'warehouse/history/move-versions.ts',
    find: "await moveVersions(client, records, { whichAre: '>' });",
    replace: 'await Promise.resolve();',
  },
  {
    name: 'a bad version of a wrong clock waits in quarantine for ever',
    about: 'correctedService',
    file: 'warehouse/quarantine/close-overruled.ts',
    find: "and status = 'open' and last_seen_at < $4",
    replace: "and status = 'open' and last_seen_at < $4 and false",
  },
  {
    name: 'a fetch says that a record is gone whose id cannot be asked for',
    about: 'oddRecordsBehind',
    file: 'requests/ask-for-records.ts',
    find: "return !id.includes('\\uFFFD');",
    replace: 'return id !== undefined;',
  },
  {
    name: 'what lived again, could not be stored and is gone waits in quarantine for ever',
    about: 'spoiledAtReturn',
    file: 'warehouse/reconcile/confirm-absent.ts',
    find: 'select c.id, c.version is not null and not exists (',
    replace: 'select c.id, not exists (',
  },
  {
    name: 'what never landed and is gone waits in quarantine for ever where nothing can be fetched',
    about: 'spoiledAtReturn',
    file: 'warehouse/reconcile/find-absent.ts',
    find: "and d.version is null and d.status = 'checking' and d.shown_by is not null",
    replace: 'and false',
  },
  {
    name: 'a deletion that a reconcile has overruled is believed again',
    about: 'correctedService',
    file: 'warehouse/landing/settle-records.ts',
    find: 'where version >= good_version\n',
    replace: 'where false\n',
  },
  {
    name: 'a deletion that a version of a wrong clock had beaten is believed once that is put right',
    about: 'correctedService',
    file: 'warehouse/tombstones/note-overruled.ts',
    find: 'if (ids.length === 0) return;',
    replace: 'if (ids.length >= 0) return;',
  },
  {
    name: 'a lost row that comes again is in history twice',
    about: 'lostRows',
    file: 'warehouse/landing/land-records.ts',
    find: 'records: [...changed, ...lost] });',
    replace: 'records: changed });',
  },
  {
    name: 'what is gone, and whose row was lost before, lives in history',
    about: 'lostRows',
    file: 'warehouse/reconcile/find-absent.ts',
    find: "where latest.op = 'upsert' and (",
    replace: 'where false and (',
  },
  {
    name: 'what was changed since is in no snapshot',
    file: 'warehouse/snapshots/find-weights.ts',
    find: 'weight.changes is not distinct from coalesce(clock.changes, -1)',
    replace: 'weight.changes is not null',
  },
];
