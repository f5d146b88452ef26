/** The last thing that a command said which names nobody's numbers: what a person remembers of a fault. */
export function lastWords(heard: readonly string[]): string {
  const lines = heard.flatMap((text) => text.split('\n')).map((line) => line.trim());
  const telling = lines.filter((line) => /does not answer|has failed|cannot|could not|ended/.test(line));
  return telling.at(-1) ?? 'nothing: it took a little longer';
}
