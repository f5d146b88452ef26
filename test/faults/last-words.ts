/** The last message of a command about the fault, which is what a person remembers of it. */
export function lastWords(heard: readonly string[]): string {
  const lines = heard.flatMap((text) => text.split('\n')).map((line) => line.trim());
  const telling = lines.filter((line) => /does not answer|has failed|cannot|could not|ended/.test(line));
  return telling.at(-1) ?? 'nothing: it took a little longer';
}
