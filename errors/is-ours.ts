/** Whether an error is of a class of ours: it says how to handle it, and its message may be shown, for it quotes no record. */
export function isOurs(error: unknown): error is Error & { readonly handling: unknown } {
  return error instanceof Error && 'handling' in error;
}
