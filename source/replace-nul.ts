import { isEscaped } from './value-end.ts';

/**
 * Replaces every `\u0000` in JSON text with `\ufffd`, because Postgres cannot store NUL. `\\u0000` is a backslash followed by letters and stays.
 * Text without any, which is the usual case, is returned unchanged.
 */
export function replaceNul(jsonText: string): string {
  if (!jsonText.includes(nul)) return jsonText;
  return jsonText.replaceAll(nul, (escape, at: number) => (isEscaped(jsonText, at) ? escape : '\\ufffd'));
}

const nul = '\\u0000';
