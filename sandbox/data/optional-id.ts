import { pick } from './pick.ts';

/** Returns the JSON text of a reference that one record in `every` has. `number` determines whether, and which. */
export function optionalId(ids: readonly [string, ...string[]], every: number, number: number): string {
  return number % every === 0 ? `"${pick(ids, number >>> 8)}"` : 'null';
}
