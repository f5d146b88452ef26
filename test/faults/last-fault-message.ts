/** The last message of a command about the fault, or a note that there was none. */
export function lastFaultMessage(outputs: readonly string[]): string {
  const lines = outputs.flatMap((text) => text.split('\n')).map((line) => line.trim());
  const faultLines = lines.filter((line) => /does not answer|has failed|cannot|could not|ended/.test(line));
  return faultLines.at(-1) ?? 'nothing: it took a little longer';
}
