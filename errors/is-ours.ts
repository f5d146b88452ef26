/** Whether an error is of one of Daybook's classes: it says how to handle it, and its message may be shown because it quotes no record. */
export function isOurs(error: unknown): error is Error & { readonly handling: unknown } {
  return error instanceof Error && 'handling' in error;
}
