import * as finance from './2026-11-21-finance.ts';
import * as history from './2026-11-21-history.ts';
import * as sync from './2026-11-21-sync.ts';
import * as upkeep from './2026-11-22-upkeep.ts';
import * as inSight from './2026-11-23-in-sight.ts';
import * as lake from './2026-11-24-lake.ts';
import * as marts from './2026-11-24-marts.ts';
import * as martBuilds from './2026-11-25-mart-builds.ts';
import * as erasures from './2026-11-26-erasures.ts';
import * as beats from './2026-11-27-beats.ts';
import * as discardedContent from './2026-11-27-discarded-content.ts';
import * as keptData from './2026-11-27-kept-data.ts';
import * as missingLists from './2026-11-27-missing-lists.ts';
import * as orderAndIdentity from './2026-11-27-order-and-identity.ts';
import * as ownership from './2026-11-27-ownership.ts';
import * as streamMonths from './2026-11-27-stream-months.ts';
import * as cursorMark from './2026-11-28-cursor-mark.ts';
import * as grantsKey from './2026-11-28-grants-key.ts';
import * as hosts from './2026-11-28-hosts.ts';
import * as knownBefore from './2026-11-28-known-before.ts';
import * as ledgerIndexes from './2026-11-28-ledger-indexes.ts';
import * as locks from './2026-11-28-locks.ts';
import * as locksOfTransactions from './2026-11-28-locks-of-transactions.ts';
import * as noCode from './2026-11-28-no-code.ts';
import * as roomForUpdates from './2026-11-28-room-for-updates.ts';
import * as shownAt from './2026-11-28-shown-at.ts';
import * as unfit from './2026-11-28-unfit.ts';
import * as increments from './2026-11-29-increments.ts';
import * as incrementsIndexes from './2026-11-29-increments-indexes.ts';
import * as readers from './2026-11-29-readers.ts';
import * as asOf from './2026-11-30-as-of.ts';
import * as overruledDeletions from './2026-11-30-overruled-deletions.ts';
import * as oneBadRecord from './2026-11-30-one-bad-record.ts';
import * as historyCompression from './2026-11-30-history-compression.ts';
import * as historyByTime from './2026-12-01-history-by-time.ts';
import * as metSince from './2026-12-01-met-since.ts';
import * as absentItems from './2026-12-02-absent-items.ts';
import * as prunedMonths from './2026-12-02-pruned-months.ts';
import * as ledgerLookups from './2026-12-03-ledger-lookups.ts';
import * as runsByTime from './2026-12-03-runs-by-time.ts';
import * as schedulesSettled from './2026-12-03-schedules-settled.ts';
import * as removals from './2026-12-04-removals.ts';
import * as quietDays from './2026-12-05-quiet-days.ts';
import * as missedTicks from './2026-12-06-missed-ticks.ts';
import * as removedRuns from './2026-12-06-removed-runs.ts';
import * as serviceTime from './2026-12-07-service-time.ts';
import * as syncStretch from './2026-12-07-sync-stretch.ts';
import * as standstills from './2026-12-09-standstills.ts';
import * as firstAnswers from './2026-12-10-first-answers.ts';
import * as decidedDiscrepancies from './2026-12-11-decided-discrepancies.ts';
import * as unanswered from './2026-12-12-unanswered.ts';
import * as erased from './2026-12-13-erased.ts';
import * as changes from './2026-12-14-changes.ts';
import * as snapshotParts from './2026-12-15-snapshot-parts.ts';
import * as failedRuns from './2026-12-16-failed-runs.ts';
import * as observedDays from './2026-12-16-observed-days.ts';
import * as unknownWebhooks from './2026-12-16-unknown-webhooks.ts';
import * as waitingDeletions from './2026-12-17-waiting-deletions.ts';
import * as stalledFreshness from './2026-12-18-stalled-freshness.ts';
import * as stalledMonths from './2026-12-18-stalled-months.ts';
import * as lostChanges from './2026-12-19-lost-changes.ts';
import * as unrepeatedChanges from './2026-12-19-unrepeated-changes.ts';
import * as icebergCatalog from './2026-12-20-iceberg-catalog.ts';
import * as largeSubscriptions from './2026-12-21-large-subscriptions.ts';
import * as emptyPages from './2026-12-22-empty-pages.ts';
import * as sparkMarts from './2026-12-22-spark-marts.ts';
import * as timelines from './2026-12-23-timelines.ts';
import * as rulesWithoutRoles from './2026-12-24-rules-without-roles.ts';
import * as openQuarantine from './2026-12-25-open-quarantine.ts';
import * as entriesInColumns from './2026-12-26-entries-in-columns.ts';
import * as newestDiscrepancies from './2026-12-27-newest-discrepancies.ts';
import * as completeErasures from './2026-12-27-complete-erasures.ts';
import * as alertsToSend from './2026-12-28-alerts-to-send.ts';
import * as temporarySchemasLast from './2026-12-28-temporary-schemas-last.ts';
import * as lockPath from './2026-12-29-lock-path.ts';
import * as issuesCounted from './2026-12-30-issues-counted.ts';
import * as martsCopied from './2026-12-31-marts-copied.ts';
import * as sparkCommits from './2027-01-01-spark-commits.ts';
import * as alertKinds from './2027-01-02-alert-kinds.ts';
import * as rightsOfReaders from './2026-11-30-rights-of-readers.ts';
import type { Migration } from './migration.ts';

/** The migrations in the order in which they run. A released one is never edited, because its results exist in users' databases. */
export const migrations: Readonly<Record<string, Migration>> = {
  '2026-11-21-finance': finance,
  '2026-11-21-history': history,
  '2026-11-21-sync': sync,
  '2026-11-22-upkeep': upkeep,
  '2026-11-23-in-sight': inSight,
  '2026-11-24-lake': lake,
  '2026-11-24-marts': marts,
  '2026-11-25-mart-builds': martBuilds,
  '2026-11-26-erasures': erasures,
  '2026-11-27-beats': beats,
  '2026-11-27-discarded-content': discardedContent,
  '2026-11-27-kept-data': keptData,
  '2026-11-27-missing-lists': missingLists,
  '2026-11-27-order-and-identity': orderAndIdentity,
  '2026-11-27-ownership': ownership,
  '2026-11-27-stream-months': streamMonths,
  '2026-11-28-cursor-mark': cursorMark,
  '2026-11-28-grants-key': grantsKey,
  '2026-11-28-hosts': hosts,
  '2026-11-28-known-before': knownBefore,
  '2026-11-28-ledger-indexes': ledgerIndexes,
  '2026-11-28-locks': locks,
  '2026-11-28-locks-of-transactions': locksOfTransactions,
  '2026-11-28-no-code': noCode,
  '2026-11-28-room-for-updates': roomForUpdates,
  '2026-11-28-shown-at': shownAt,
  '2026-11-28-unfit': unfit,
  '2026-11-29-readers': readers,
  '2026-11-29-increments': increments,
  '2026-11-29-increments-indexes': incrementsIndexes,
  '2026-11-30-as-of': asOf,
  '2026-11-30-overruled-deletions': overruledDeletions,
  '2026-11-30-one-bad-record': oneBadRecord,
  '2026-11-30-rights-of-readers': rightsOfReaders,
  '2026-11-30-history-compression': historyCompression,
  '2026-12-01-history-by-time': historyByTime,
  '2026-12-01-met-since': metSince,
  '2026-12-02-absent-items': absentItems,
  '2026-12-02-pruned-months': prunedMonths,
  '2026-12-03-ledger-lookups': ledgerLookups,
  '2026-12-03-runs-by-time': runsByTime,
  '2026-12-03-schedules-settled': schedulesSettled,
  '2026-12-04-removals': removals,
  '2026-12-05-quiet-days': quietDays,
  '2026-12-06-missed-ticks': missedTicks,
  '2026-12-06-removed-runs': removedRuns,
  '2026-12-07-service-time': serviceTime,
  '2026-12-07-sync-stretch': syncStretch,
  '2026-12-09-standstills': standstills,
  '2026-12-10-first-answers': firstAnswers,
  '2026-12-11-decided-discrepancies': decidedDiscrepancies,
  '2026-12-12-unanswered': unanswered,
  '2026-12-13-erased': erased,
  '2026-12-14-changes': changes,
  '2026-12-15-snapshot-parts': snapshotParts,
  '2026-12-16-failed-runs': failedRuns,
  '2026-12-16-observed-days': observedDays,
  '2026-12-16-unknown-webhooks': unknownWebhooks,
  '2026-12-17-waiting-deletions': waitingDeletions,
  '2026-12-18-stalled-freshness': stalledFreshness,
  '2026-12-18-stalled-months': stalledMonths,
  '2026-12-19-lost-changes': lostChanges,
  '2026-12-19-unrepeated-changes': unrepeatedChanges,
  '2026-12-20-iceberg-catalog': icebergCatalog,
  '2026-12-21-large-subscriptions': largeSubscriptions,
  '2026-12-22-empty-pages': emptyPages,
  '2026-12-22-spark-marts': sparkMarts,
  '2026-12-23-timelines': timelines,
  '2026-12-24-rules-without-roles': rulesWithoutRoles,
  '2026-12-25-open-quarantine': openQuarantine,
  '2026-12-26-entries-in-columns': entriesInColumns,
  '2026-12-27-newest-discrepancies': newestDiscrepancies,
  '2026-12-27-complete-erasures': completeErasures,
  '2026-12-28-alerts-to-send': alertsToSend,
  '2026-12-28-temporary-schemas-last': temporarySchemasLast,
  '2026-12-29-lock-path': lockPath,
  '2026-12-30-issues-counted': issuesCounted,
  '2026-12-31-marts-copied': martsCopied,
  '2027-01-01-spark-commits': sparkCommits,
  '2027-01-02-alert-kinds': alertKinds,
};
