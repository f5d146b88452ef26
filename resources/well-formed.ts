/**
 * Whether Postgres can store a text: half of a surrogate pair (`"\ud800"` in JSON) it refuses in JSON, and as a parameter of a
 * statement it becomes U+FFFD, so that an id would be another record's.
 */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
