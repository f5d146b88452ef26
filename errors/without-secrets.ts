/**
 * Removes the secrets of a request from text, however a service that repeats them may have spelled them: unchanged, as in the header, or encoded
 * for a URL. Case-sensitive.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.flatMap(spellingsOf).reduce((left, spelling) => left.replaceAll(spelling, '…'), text);
}

/** A shorter secret would match parts of many names, and can be guessed anyway. */
export function longEnough(secrets: readonly string[]): readonly string[] {
  return secrets.filter(({ length }) => length >= 8);
}

/** Whether a word may be shown: it neither is nor contains a secret, nor is it part of one, as in a truncated header. */
export function isFreeOfSecrets(word: string, secrets: readonly string[]): boolean {
  const spellings = secrets.flatMap(spellingsOf);
  return !spellings.some((spelling) => word.includes(spelling) || spelling.includes(word));
}

/** The longest first, because a short one may be part of a longer one. An empty text is no secret. */
function spellingsOf(secret: string): string[] {
  if (secret === '') return [];
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  const spellings = [
    secret,
    encodeURIComponent(secret),
    base64,
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
  return [...new Set(spellings)].sort((one, other) => other.length - one.length);
}
