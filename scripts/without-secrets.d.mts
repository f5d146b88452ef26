export function withoutSecrets(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined>;
