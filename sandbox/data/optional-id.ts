import { pick } from './pick.ts';

/** JSON text of a reference that only one record in `every` has; `number` decides both whether and which. */
export function optionalId(ids: readonly [string, ...string[]], every: number, number: number): string {
  return number % every === 0 ? `"${pick(ids, number >>> 8)}"` : 'null';
}
