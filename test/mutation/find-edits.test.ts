import { describe, expect, test } from 'vitest';
import { withEdit } from './edit.ts';
import { findEdits } from './find-edits.ts';

describe('the mistakes planted in SQL', () => {
  test('omit each condition, or change its operator', () => {
    expect(mistakesIn('select a from t where a >= $1 and b = ${x} or c is null')).toEqual([
      'select a from t where true and b = ${x} or c is null',
      'select a from t where a > $1 and b = ${x} or c is null',
      'select a from t where a >= $1 or b = ${x} or c is null',
      'select a from t where a >= $1 and true or c is null',
      'select a from t where a >= $1 and b = ${x} and c is null',
      'select a from t where a >= $1 and b = ${x} or false',
      'select a from t where a >= $1 and b = ${x} or c is not null',
    ]);
  });

  test('omit each assignment, and turn none into a comparison', () => {
    expect(mistakesIn('update t set a = case when b <> 1 then 2 end, c = $1 where d = $2')).toEqual([
      'update t set c = $1 where d = $2',
      'update t set a = case when b = 1 then 2 end, c = $1 where d = $2',
      'update t set a = case when b <> 0 then 2 end, c = $1 where d = $2',
      'update t set a = case when b <> 1 then 3 end, c = $1 where d = $2',
      'update t set a = case when b <> 1 then 2 end where d = $2',
      'update t set a = case when b <> 1 then 2 end, c = $1 where false and d = $2',
      'update t set a = case when b <> 1 then 2 end, c = $1 where true',
    ]);
  });

  test('swap two branches of a case', () => {
    expect(mistakesIn("case when a then 'x' when b then 'y' else 'z' end")).toEqual([
      "case when b then 'y' when a then 'x' else 'z' end",
      "case when a then 'x' when b then 'z' else 'y' end",
    ]);
  });

  test('change functions, orders and limits', () => {
    expect(mistakesIn('select coalesce(greatest(a, b), c) from t order by d limit 1')).toEqual([
      'select greatest(a, b) from t order by d limit 1',
      'select coalesce(least(a, b), c) from t order by d limit 1',
      'select coalesce(greatest(a, b), c) from t order by d desc limit 1',
      'select coalesce(greatest(a, b), c) from t order by d ',
      'select coalesce(greatest(a, b), c) from t order by d limit 0',
    ]);
  });

  test('leave comments, string literals and sentences for people alone', () => {
    expect(mistakesIn("select '1 = 2 and true' -- where a = 1")).toEqual([]);
    expect(mistakesIn('Nothing is equal, and nothing is where it was.')).toEqual([]);
  });

  /** The SQL after each mistake. */
  function mistakesIn(sql: string): string[] {
    return applyEdits(`const sql = \`${sql}\`;`).map((text) => text.slice('const sql = `'.length, -2));
  }
});

test('mistakes are planted in code, but not in imports, types, comments or names', () => {
  const code = `
import { a } from './1.ts';
interface B { readonly b: true }
// if (a > 1) return
const query = { name: 'select 1', text: 'x' };
if (a > 5) await b(c ?? d);
const e = !f;`;
  const changed = applyEdits(code).map((text) => text.split('\n').slice(-2).join(' '));
  expect(changed).toEqual([
    'if (false) await b(c ?? d); const e = !f;',
    'if (a >= 5) await b(c ?? d); const e = !f;',
    'if (a > 6) await b(c ?? d); const e = !f;',
    'if (a > 5) ; const e = !f;',
    'if (a > 5) await b(c); const e = !f;',
    'if (a > 5) await b(c ?? d); const e = f;',
  ]);
});

function applyEdits(text: string): string[] {
  return findEdits(text).map((edit) => withEdit(text, edit));
}
