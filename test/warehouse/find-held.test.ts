import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { recordCheckOf } from '../../resources/record-check.ts';
import { subscriptions } from '../../resources/subscriptions.ts';
import { sourceRecord, type SourceRecord } from '../../resources/source-record.ts';
import { contentHash } from '../../warehouse/landing/content-hash.ts';
import { contentAsWritten, createFindHeld } from '../../warehouse/landing/find-held.ts';
import { preparePage } from '../../warehouse/landing/prepared-page.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof } from '../support/proof-test.ts';
import { sourceRecords } from '../support/source-records.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const touched = (text: string): string =>
  text.replace(/"last_synced_at":"[^"]*"/, '"last_synced_at":"2031-01-01T00:00:00Z"');

describe('a record that finance holds is recognized by its text', () => {
  test('if it is unchanged or only touched, but not with other content, from another company, or not landed', async () => {
    const connectionId = await addTestConnection(warehouse);
    const other = await addTestConnection(warehouse);
    const [same, moved, changed, theirs, late] = ['same', 'moved', 'changed', 'theirs', 'late'].map((id) =>
      bill(id),
    ) as [string, string, string, string, string];
    await land(warehouse, { connectionId, stream: 'bills', pages: [[same, moved, changed]] });
    await land(warehouse, { connectionId: other, stream: 'bills', pages: [[theirs]] });
    const sent = [
      late,
      theirs,
      bill('changed', { memo: '"another"' }),
      same,
      touched(moved),
      changed.replace('"id":"changed"', '"id":"same"'),
    ];
    const held = await createFindHeld(warehouse, { connectionId, resource: bills })(sent);
    expect([...held].map(([place, { id, version }]) => ({ place, id, version }))).toEqual([
      { place: 3, id: 'same', version: expect.any(String) as string },
      { place: 4, id: 'moved', version: '2031-01-01T00:00:00Z' },
    ]);
  });

  test('and is neither parsed nor checked, and lands like any other', async () => {
    const connectionId = await addTestConnection(warehouse);
    const scope = { connectionId, resource: bills };
    const texts = [bill('a'), bill('b', { total_amount: '0.1000000000000000000001' })];
    await land(warehouse, { connectionId, stream: 'bills', pages: [texts] });
    const parsed: string[] = [];
    const watched = (await sourceRecords('bills', texts.map(touched), createFindHeld(warehouse, scope))).map(
      (record): SourceRecord => ({
        ...record,
        get value() {
          parsed.push(record.text);
          return record.value;
        },
      }),
    );
    const page = await preparePage(bills, watched);
    expect(parsed).toEqual([]);
    const again = await preparePage(bills, texts.map(touched).map(sourceRecord));
    expect(page).toEqual(again);
  });

  test('a page without records runs no query, and does not affect the next page', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('held')]] });
    const query = vi.spyOn(warehouse.pool, 'query');
    const find = createFindHeld(warehouse, { connectionId, resource: bills });
    expect((await find([])).size).toBe(0);
    expect(query).not.toHaveBeenCalled();
    expect((await find([bill('held')])).size).toBe(1);
    query.mockRestore();
  });

  test('no query runs after a page without held records, nor for subscriptions', async () => {
    const connectionId = await addTestConnection(warehouse);
    const query = vi.spyOn(warehouse.pool, 'query');
    const findBills = createFindHeld(warehouse, { connectionId, resource: bills });
    await findBills([bill('new')]);
    await findBills([bill('newer')]);
    await createFindHeld(warehouse, { connectionId, resource: subscriptions })([subscription('s')]);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
  });

  test.each([
    ['spelled with an escape', '"last_sync\\u0065d_at":"2024-01-15T09:30:00.000Z"'],
    ['after a space', ' "last_synced_at":"2024-01-15T09:30:00.000Z"'],
    ['before one', '"last_synced_at": "2024-01-15T09:30:00.000Z"'],
    ['not a time', '"last_synced_at":"soon"'],
    ['told twice', '"last_synced_at":"2024-01-15T09:30:00.000Z","last_synced_at":"2024-01-15T09:30:00.000Z"'],
    ['the name of something else', '"memo":"last_synced_at"'],
  ])('a version %s is left to JSON.parse', (_, member) => {
    expect(contentAsWritten(`{"id":"b",${member},"currency_code":"USD"}`)).toBeUndefined();
  });

  test('text with the ID and hash of a landed record is that record', () => {
    const check = recordCheckOf(bills);
    let found = 0;
    fc.assert(
      fc.property(anyRecord, anyRecord, fc.array(anyEdit, { maxLength: 3 }), (landed, other, edits) => {
        if (!isJson(landed) || check(JSON.parse(landed)) !== undefined) return;
        const [stored] = prepareOne(landed);
        for (const sent of [
          landed,
          touched(landed),
          other,
          edits.reduce(edited, landed),
          misplaced(landed),
        ]) {
          const content = contentAsWritten(sent);
          if (content?.id !== stored.id || !content.hash.equals(stored.hash)) continue;
          found += 1;
          expect(isJson(sent), sent).toBe(true);
          const [prepared] = prepareOne(sent);
          expect({ id: prepared.id, version: prepared.version, hash: prepared.hash }).toEqual(content);
          expect(withoutVersion(sent)).toEqual(withoutVersion(landed));
        }
      }),
      { numRuns: isProof ? 5_000 : 2_000 },
    );
    expect(found).toBeGreaterThan(isProof ? 1_000 : 400);
  });
});

/** The result of `preparePage` for a record that passes the check. */
function prepareOne(text: string): [{ id: string; version: string; hash: Buffer }] {
  const value = JSON.parse(text) as { id: string; last_synced_at: string };
  const { id, last_synced_at: version } = value;
  return [{ id, version, hash: contentHash(text, version) }];
}

function withoutVersion(text: string): unknown {
  return { ...(JSON.parse(text) as object), last_synced_at: undefined };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Moves the member that the hash leaves out one comma further. */
function misplaced(text: string): string {
  return text.replace(/("last_synced_at":"[^"]*"),/, ',$1');
}

const anyTime = fc.constantFrom(
  '"2024-01-15T09:30:00.000Z"',
  '"2024-01-16T09:30:00Z"',
  '"2024-01-16"',
  '"soon"',
  '"2024-01-1\\u0035"',
);

/** Members in any order, often repeated, with spellings and nesting that mislead code that does not parse. */
const anyMember: fc.Arbitrary<string> = fc.letrec<{ member: string; object: string }>((tie) => ({
  member: fc.oneof(
    anyTime.map((time) => `"last_synced_at":${time}`),
    anyTime.map((time) => `"last_synced_at" :${time}`),
    anyTime.map((time) => `"last_sync\\u0065d_at":${time}`),
    fc.constantFrom('"id":"a"', '"id":"b"', '"id": "a"', '"i\\u0064":"b"'),
    fc.constantFrom(
      '"memo":"x,"',
      '"memo":"\\"last_synced_at\\":\\"2024-01-16\\""',
      '"memo":"last_synced_at"',
    ),
    tie('object').map((object) => `"platform_data":${object}`),
  ),
  object: fc.array(tie('member'), { maxLength: 2 }).map((members) => `{${members.join(',')}}`),
})).member;

const anyRecord = fc
  .tuple(fc.array(anyMember, { maxLength: 3 }), fc.boolean(), fc.constantFrom(',', ' ,', ', '))
  .map(([members, isLast, comma]) => {
    const needed = ['"id":"a"', '"last_synced_at":"2024-01-15T09:30:00.000Z"'];
    const all = isLast ? [...members, ...needed] : [...needed, ...members];
    return `{${all.join(comma)}}`;
  });

interface Edit {
  readonly at: number;
  readonly cut: number;
  readonly put: string;
}

const anyEdit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(120),
  cut: fc.nat(2),
  put: fc.constantFrom(
    '',
    ',',
    ' ',
    '"',
    '}',
    '\\',
    'a',
    '"last_synced_at":"2024-01-17"',
    ',"last_synced_at":"2024-01-17",',
  ),
});

function edited(text: string, { at, cut, put }: Edit): string {
  return text.slice(0, at) + put + text.slice(at + cut);
}
