export function ensureTemporalCli(input: { readonly report: (progress: string) => void }): Promise<string>;
export function findTemporalCli(): Promise<string | undefined>;
