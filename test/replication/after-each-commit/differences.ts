import type { ScriptedService } from '../scripted-service.ts';

/** The fields that scenarios change, by resource. */
const compared: Readonly<Record<string, readonly string[]>> = {
  bills: ['memo'],
  expenses: ['memo', 'expense_type'],
  customers: [],
  subscriptions: [],
};

/** The differences, in words, of tables and history from the source's records that can be stored. */
export async function differences(service: ScriptedService, resources: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    resources.map(async (resource) => {
      const [held, atSource] = [await readHeld(service, resource), readSource(service, resource)];
      return held === atSource ? [] : [`${resource}: ${held}; at the source: ${atSource}`];
    }),
  );
  return found.flat();
}

async function readHeld(service: ScriptedService, resource: string): Promise<string> {
  const records = await service.rows(
    `select ${['id', ...comparedFields(resource)].join(', ')} from finance.${resource} where connection_id = $1 order by id`,
  );
  const lines =
    resource === 'bills'
      ? await service.rows('select distinct bill_id as id from finance.bill_lines where connection_id = $1')
      : records;
  const living = await service.rows(
    `select record_id as id from (
       select distinct on (record_id) record_id, op from history.record_versions
       where connection_id = $1 and resource = '${resource}' order by record_id, recorded_at desc
     ) latest where op = 'upsert'`,
  );
  return describeRows({ records, lines, living });
}

function readSource(service: ScriptedService, resource: string): string {
  const all = (service.lists[resource] ?? []).map((text) => JSON.parse(text) as Record<string, unknown>);
  const records = all
    .filter(({ total_amount }) => total_amount !== 'much')
    .map((record) =>
      Object.fromEntries(['id', ...comparedFields(resource)].map((name) => [name, record[name]])),
    );
  return describeRows({ records, lines: records, living: records });
}

type Rows = readonly Readonly<Record<string, unknown>>[];

function describeRows({ records, lines, living }: { records: Rows; lines: Rows; living: Rows }): string {
  const ids = (of: Rows): string =>
    of
      .map(({ id }) => String(id))
      .sort()
      .join();
  const each = records.map((record) => JSON.stringify(record)).sort();
  return `${each.join()}, lines of ${ids(lines)}, in history ${ids(living)}`;
}

function comparedFields(resource: string): readonly string[] {
  return compared[resource] ?? [];
}
