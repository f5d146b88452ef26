import type { SecretKey } from '../warehouse/secrets/secret-key.ts';
import type { Config } from './parse-config.ts';
import type { TemporalSettings } from './temporal-settings.ts';

/** The configuration, completed by `daybook up`: nothing that a process needs is optional now. */
export interface Settings {
  readonly database: {
    readonly url: string;
    /** For long work, or work that needs its own session: bypasses the pooler if there is one, and otherwise equals `url`. */
    readonly directUrl: string;
    readonly connections: number;
  };
  readonly temporal: TemporalSettings & { readonly ui: string | undefined };
  readonly api: {
    /** The address stored with connections: the URL, or `sandbox`, whose port may change. */
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
    /** `DAYBOOK_HOME`: seeds, and dbt's output. */
    readonly home: string;
    /** The folder of the Python environment with dbt. */
    readonly cacheFolder: string;
    /** The environment of Python: PATH and proxies. */
    readonly environment: NodeJS.ProcessEnv;
    /** The time zone that decides which day is today in the marts. */
    readonly timeZone: string;
    /** The master URL of Spark: this machine or a cluster. */
    readonly sparkMaster: string;
  };
  readonly http: Config['http'];
  readonly consolePassword: string | undefined;
  readonly alertUrl: string | undefined;
  /** The version of Daybook. */
  readonly productVersion: string;
  readonly logLevel: string;
}
