/** What a build of marts needs to know, whatever it builds on. */
export interface BuildSettings {
  /** Where seeds, profiles and logs are: `DAYBOOK_HOME`. */
  readonly home: string;
  /** Where the Python environment with dbt is kept. */
  readonly cacheFolder: string;
  /** The user's own: PATH and proxies. */
  readonly environment: NodeJS.ProcessEnv;
  /** Whose connections enter the marts. */
  readonly apiAddress: string;
  /** The day the marts speak of, as YYYY-MM-DD. */
  readonly asOfDate: string;
  readonly connections: number;
  readonly onStep: (text: string) => void;
}

export interface MartsBuilt {
  readonly target: 'postgres' | 'lake';
  readonly as_of_date: string;
  readonly marts: readonly string[];
  readonly models: number;
  readonly tests: number;
  readonly warnings: number;
  readonly seconds: number;
  /** On the lake: what they were built on. */
  readonly snapshot_id?: string;
}
