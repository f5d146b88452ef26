export class ForeignFolder extends Error {
  readonly handling = 'stop';
  readonly isUsage = true;
}
export function isTrusted(uid: number): boolean;
export function requireOwnCache(cache: string, names: readonly string[]): Promise<void>;
