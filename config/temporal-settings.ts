import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { reasonOf } from '../errors/reason-of.ts';

export interface TemporalSettings {
  readonly namespace: string;
  /** Address, TLS and API key, as clients and workers accept them. */
  readonly connection: Pick<NativeConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>;
  /** The deployment version of the workers, if Temporal is to decide which version gets the work. */
  readonly deployment?: WorkerDeploymentVersion;
}

/**
 * Reads Temporal's own environment configuration (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…) with Temporal's
 * library. Without an address there is none to connect to. Temporal's worker controller sets TEMPORAL_DEPLOYMENT_NAME and
 * TEMPORAL_WORKER_BUILD_ID.
 */
export function temporalFromEnv(set: Readonly<Record<string, string | undefined>>): {
  settings: TemporalSettings | undefined;
  problems: string[];
} {
  const names = Object.keys(set).filter((name) => name.startsWith('TEMPORAL_'));
  if (set.TEMPORAL_ADDRESS === undefined) {
    const connecting = names.filter((name) =>
      /^TEMPORAL_(API_KEY|TLS|NAMESPACE$|DEPLOYMENT_NAME$|WORKER_BUILD_ID$)/.test(name),
    );
    const problems =
      connecting.length > 0 ? [`TEMPORAL_ADDRESS is required with ${connecting.join(', ')}.`] : [];
    return { settings: undefined, problems };
  }
  if (/[@/?#\s]/.test(set.TEMPORAL_ADDRESS)) {
    // Temporal has no passwords in addresses; if one is there nevertheless, it must not be shown.
    const problem = 'TEMPORAL_ADDRESS must be HOST:PORT, without https://, a user or a password.';
    return { settings: undefined, problems: [problem] };
  }
  if ((set.TEMPORAL_DEPLOYMENT_NAME === undefined) !== (set.TEMPORAL_WORKER_BUILD_ID === undefined)) {
    const problem = 'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID are required together.';
    return { settings: undefined, problems: [problem] };
  }
  try {
    const overrideEnvVars = Object.fromEntries(names.map((name) => [name, set[name] ?? '']));
    const { namespace, connectionOptions } = loadClientConnectConfig({ disableFile: true, overrideEnvVars });
    const settings = { namespace: namespace ?? 'default', connection: connectionOptions };
    return { settings: { ...settings, ...parseDeployment(set) }, problems: [] };
  } catch (error) {
    const reason = reasonOf(error);
    return { settings: undefined, problems: [`TEMPORAL_*: ${reason}`] };
  }
}

function parseDeployment(
  set: Readonly<Record<string, string | undefined>>,
): Pick<TemporalSettings, 'deployment'> {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = set;
  if (deploymentName === undefined || buildId === undefined) return {};
  return { deployment: { deploymentName, buildId } };
}
