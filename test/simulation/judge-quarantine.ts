import { parseExactly } from '../support/exact-json.ts';
import { canonicalJson } from '../support/source-value.ts';
import type { Company } from './play-run.ts';
import { nameOf, type TrueRecord } from './true-record.ts';
import { BrokenPromise } from './watch.ts';

/** In quarantine is what nobody can store, as the source has it, and nothing else; of the records that `known` says. */
export async function judgeQuarantine(
  { stage, connection, source }: Pick<Company, 'stage' | 'connection' | 'source'>,
  known: (record: TrueRecord) => boolean,
): Promise<void> {
  const { rows } = await stage.watcher.query<{ name: string; payload: string }>(
    `select resource || '/' || record_id as name, payload from sync.quarantine
     where connection_id = $1 and status = 'open'`,
    [connection],
  );
  const waiting = new Map(rows.map(({ name, payload }) => [name, contentOf(payload)]));
  const texts = new Map<string, string>();
  for (const resource of source.listed)
    for (const line of await stage.admin.content(connection, resource))
      texts.set(nameOf({ resource, id: (JSON.parse(line) as { id: string }).id }), contentOf(line));
  for (const [name, record] of source.records) {
    if (!known(record)) continue;
    const wanted = record.live && record.spoiled ? texts.get(name) : undefined;
    if (wanted === waiting.get(name)) continue;
    throw new BrokenPromise(
      wanted === undefined
        ? `${name} waits in quarantine, and is ${record.live ? 'fine' : 'gone'}.`
        : `${name} cannot be stored, and does not wait in quarantine as it is.`,
    );
  }
}

function contentOf(text: string): string {
  return canonicalJson(parseExactly(text));
}
