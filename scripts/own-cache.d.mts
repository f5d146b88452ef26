export class ForeignFolder extends Error {
  readonly handling = 'stop';
}
export function isTrusted(uid: number): boolean;
export function requireOwnCache(cache: string, names: readonly string[]): Promise<void>;
