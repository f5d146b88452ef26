/**
 * Whether Postgres can store a text. It refuses half of a surrogate pair (`"\ud800"` in JSON) in JSON; in a parameter of a statement the half
 * becomes U+FFFD, so that an id would match another record's.
 */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
