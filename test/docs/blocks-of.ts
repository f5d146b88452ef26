import { readFileSync } from 'node:fs';

export interface Block {
  readonly language: string;
  /** The text after the language. */
  readonly note: string;
  readonly text: string;
}

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const fenced = readFileSync(page, 'utf8').matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm);
  return [...fenced].map(([, language = '', note = '', text = '']) => ({ language, note, text }));
}
