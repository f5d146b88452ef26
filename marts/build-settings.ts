/** Where and how marts are built: the same for every build of a process. */
export interface BuildPlaces {
  /** Where seeds, profiles and logs are: `DAYBOOK_HOME`. */
  readonly home: string;
  /** Where the Python environment with dbt is kept. */
  readonly cacheFolder: string;
  /** The user's own: PATH and proxies. */
  readonly environment: NodeJS.ProcessEnv;
  /** Whose connections enter the marts. */
  readonly apiAddress: string;
  /** Sessions that dbt may have in Postgres at once. */
  readonly connections: number;
}

/** Who hears of a build, and can end it. */
export interface BuildFollower {
  readonly onStep: (text: string) => void;
  /** What dbt says: warnings and errors, line by line. They may quote a record. */
  readonly onLine?: (line: string) => void;
  readonly onNode?: (node: NodeStarted) => void;
  /** Ends the build, and dbt with it. */
  readonly signal?: AbortSignal;
  /** How long readers of the marts in Postgres are waited for: an hour unless it says so. */
  readonly timeoutMilliseconds?: number;
}

/** dbt begins with a model, a seed or a test: the `index`th of `total`. */
export interface NodeStarted {
  readonly index: number;
  readonly total: number;
  readonly node: string;
}

/** What a build of marts needs to know, whatever it builds on. */
export interface BuildSettings extends BuildPlaces, BuildFollower {
  /** The day the marts speak of, as YYYY-MM-DD. */
  readonly asOfDate: string;
  /** Whose day that is. */
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
  /** On the lake, and on Spark: what they were built on. */
  readonly snapshot_id?: string;
}
