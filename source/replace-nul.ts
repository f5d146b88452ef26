import { isEscaped } from './value-end.ts';

/**
 * Replaces every `\u0000` in JSON text by `\ufffd`, as Postgres can store no NUL. `\\u0000` is a backslash followed by
 * letters and stays. Text without one, nearly all there is, is returned as it came.
 */
export function replaceNul(jsonText: string): string {
  if (!jsonText.includes(nul)) return jsonText;
  return jsonText.replaceAll(nul, (escape, at: number) => (isEscaped(jsonText, at) ? escape : '\\ufffd'));
}

const nul = '\\u0000';
