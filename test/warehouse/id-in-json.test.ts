import { expect, test } from 'vitest';
import { idInJson } from '../../warehouse/erase/id-in-json.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const escaped = (text: string): string =>
  text.replace(/[^A-Za-z0-9"\\]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
const deep = (text: string): string => JSON.stringify(JSON.stringify(`one\n${text}\ntwo`));

test.each(['AC/12', 'a"b', 'a\\', '\\a', 'é', 'n', '-1', 'x\ny', '😀1', '$&', '{}', 'a b', 'A=', '\u0001x'])(
  'the ID %j is found in JSON in any spelling, but not as a part of a longer ID',
  async (id) => {
    for (const spelled of [id, `"${id}"`, JSON.stringify(id), escaped(JSON.stringify(id)), deep(id)]) {
      expect(await isFound(id, spelled), spelled).toBe(true);
      for (const other of [`${id}8`, `8${id}`])
        expect(await isFound(other, spelled), `${other} in ${spelled}`).toBe(false);
    }
  },
);

test.each([
  ['AC/12', 'xAC/12'],
  ['AC/12', 'AC/123'],
  ['/a', 'x/a'],
  ['é1', 'xé1'],
  ['a\\', 'a\\8'],
  ['5', '15-x'],
  ['00e9', 'é'],
])('the ID %j is not found in %j', async (id, other) => {
  for (const spelled of [other, escaped(JSON.stringify(other)), deep(other)])
    expect(await isFound(id, spelled), spelled).toBe(false);
});

async function isFound(id: string, told: string): Promise<unknown> {
  const { part, pattern } = idInJson(id);
  const { rows } = await warehouse.pool.query<{ found: boolean }>(
    'select strpos($1::jsonb::text, $2) > 0 and $1::jsonb::text ~ $3 as found',
    [JSON.stringify({ told }), part, pattern],
  );
  return rows[0]?.found;
}
