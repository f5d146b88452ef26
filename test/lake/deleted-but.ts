/** S3's answer, with 200, to a request to remove objects when it has not removed these. */
export function deletedBut(keys: readonly string[], code: string): string {
  const errors = keys.map(
    (key) => `<Error><Key>${key}</Key><Code>${code}</Code><Message>no</Message></Error>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?><DeleteResult>${errors.join('')}</DeleteResult>`;
}
