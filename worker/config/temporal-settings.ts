import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';

export interface TemporalSettings {
  readonly namespace: string;
  /** Address, TLS and API key, as both clients and workers take them. */
  readonly connection: Pick<NativeConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>;
}

/**
 * Temporal's own environment configuration (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…), read
 * by Temporal's own library. Without an address there is none to connect to.
 */
export function temporalFromEnv(set: Readonly<Record<string, string | undefined>>): {
  settings: TemporalSettings | undefined;
  problems: string[];
} {
  const names = Object.keys(set).filter((name) => name.startsWith('TEMPORAL_'));
  if (set.TEMPORAL_ADDRESS === undefined) {
    const connecting = names.filter((name) => /^TEMPORAL_(API_KEY|TLS)/.test(name));
    const problems =
      connecting.length > 0 ? [`TEMPORAL_ADDRESS is required with ${connecting.join(', ')}.`] : [];
    return { settings: undefined, problems };
  }
  try {
    const overrideEnvVars = Object.fromEntries(names.map((name) => [name, set[name] ?? '']));
    const { namespace, connectionOptions } = loadClientConnectConfig({ disableFile: true, overrideEnvVars });
    return { settings: { namespace: namespace ?? 'default', connection: connectionOptions }, problems: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { settings: undefined, problems: [`TEMPORAL_*: ${reason}`] };
  }
}
