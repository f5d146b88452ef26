export function readEnvFile(): Readonly<Record<string, string | undefined>>;
