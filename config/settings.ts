import type { SecretKey } from '../warehouse/secrets/secret-key.ts';
import type { Config } from './parse-config.ts';
import type { TemporalSettings } from './temporal-settings.ts';

/** Where everything is: the configuration, completed by what `daybook up` provides. Nothing is left open. */
export interface Settings {
  readonly database: {
    readonly url: string;
    /** For what lasts, or needs a session of its own: where no pooler is in the way, or the same. */
    readonly directUrl: string;
    readonly connections: number;
  };
  readonly temporal: TemporalSettings & { readonly ui: string | undefined };
  readonly api: {
    /** What connections are added under: the URL, or `sandbox`, whose port may be another one tomorrow. */
    readonly address: string;
    readonly url: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly version: string;
    readonly requestsPer10s: number;
  };
  readonly secretKey: SecretKey;
  readonly policies: Config['policies'];
  readonly lake: Config['lake'];
  readonly marts: {
    /** `DAYBOOK_HOME`: seeds, and what dbt writes. */
    readonly home: string;
    /** Where the Python environment with dbt is kept. */
    readonly cacheFolder: string;
    /** For Python: PATH and proxies. */
    readonly environment: NodeJS.ProcessEnv;
    /** Whose today the marts speak of. */
    readonly timeZone: string;
    /** Who runs Spark: this machine, or a cluster. */
    readonly sparkMaster: string;
  };
  readonly http: Config['http'];
  readonly consolePassword: string | undefined;
  readonly alertUrl: string | undefined;
  /** Of Daybook itself. */
  readonly productVersion: string;
  readonly logLevel: string;
}
