/** The encodings of a secret: plain, in JSON, in addresses and forms, in hex, and in base64, which differs at each of three offsets. */
export function encodeSecret(secret: Buffer): Buffer[] {
  const text = secret.toString('utf8');
  const isText = Buffer.from(text).equals(secret);
  const texts = [
    ...(isText ? asTexts(text) : []),
    secret.toString('hex'),
    secret.toString('hex').toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => {
      const base64 = base64Within(secret, offset);
      return [base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
    }),
  ];
  return [secret, ...[...new Set(texts)].map((one) => Buffer.from(one))];
}

function asTexts(text: string): string[] {
  return [
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    new URLSearchParams([['', text]]).toString().slice(1),
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  ];
}

/** The characters that depend on the secret alone, whatever surrounds it. */
function base64Within(secret: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), secret]);
  const from = Math.ceil((offset * 8) / 6);
  const to = Math.floor((whole.length * 8) / 6);
  return whole.toString('base64').slice(from, to);
}
