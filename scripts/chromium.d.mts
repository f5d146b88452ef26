export function ensureChromium(input: { report: (progress: string) => void }): Promise<string>;
export function findChromium(): Promise<string | undefined>;
