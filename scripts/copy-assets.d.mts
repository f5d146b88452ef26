export function copyAssets(input: {
  readonly from: string;
  readonly to: string;
  readonly names: readonly string[];
}): void;
