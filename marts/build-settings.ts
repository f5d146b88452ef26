/** The settings for building marts that are the same for every build of a process. */
export interface BuildPlaces {
  /** The folder of seeds, profiles and logs: `DAYBOOK_HOME`. */
  readonly home: string;
  /** The folder of the Python environment with dbt. */
  readonly cacheFolder: string;
  /** The user's environment: PATH and proxies. */
  readonly environment: NodeJS.ProcessEnv;
  /** The API address whose connections enter the marts. */
  readonly apiAddress: string;
  /** The maximum number of dbt's concurrent Postgres sessions. */
  readonly connections: number;
}

/** The observer of a build, who can also end it. */
export interface BuildFollower {
  readonly onStep: (text: string) => void;
  /** Receives dbt's warnings and errors, line by line. They may quote a record. */
  readonly onLine?: (line: string) => void;
  readonly onNode?: (node: NodeStarted) => void;
  /** Ends the build, and dbt with it. */
  readonly signal?: AbortSignal;
  /** How long to wait for readers of the marts in Postgres; default: an hour. */
  readonly timeoutMilliseconds?: number;
}

/** dbt begins with a model, a seed or a test: the `index`th of `total`. */
export interface NodeStarted {
  readonly index: number;
  readonly total: number;
  readonly node: string;
}

/** The input of a build of marts, whatever its target. */
export interface BuildSettings extends BuildPlaces, BuildFollower {
  /** The date of the marts, as YYYY-MM-DD. */
  readonly asOfDate: string;
  /** The time zone of that date. */
  readonly timeZone: string;
}

export interface MartsBuilt {
  readonly target: 'postgres' | 'lake' | 'spark';
  readonly as_of_date: string;
  readonly marts: readonly string[];
  readonly models: number;
  readonly tests: number;
  readonly warnings: number;
  readonly seconds: number;
  /** For the lake and Spark: the snapshot on which they were built. */
  readonly snapshot_id?: string;
}
