/** A deliberate mistake: a piece of a source file replaced by another text. */
export interface Edit {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

export function withEdit(text: string, { start, end, to }: Edit): string {
  return text.slice(0, start) + to + text.slice(end);
}

/** Proposes an edit of a piece of a file. */
export type Propose = (rule: string, start: number, end: number, to: string) => void;

/** Proposes to replace words by their opposite, or by a word that is easily mistaken for them. */
export function proposeWords(
  text: string,
  words: readonly { readonly rule: string; readonly find: RegExp; readonly to: string }[],
  propose: Propose,
): void {
  for (const { rule, find, to } of words) {
    for (const match of text.matchAll(find)) {
      propose(rule, match.index, match.index + match[0].length, to);
    }
  }
}
