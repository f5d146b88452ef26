/** A chart for one choice of connection and currency: words and figures, ready to be shown. */
export interface View {
  /** The answer, with its most important number. */
  readonly sentence: string;
  /** One sentence about what the figures leave out. */
  readonly gap?: string | undefined;
  readonly columns: readonly ViewColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** If absent, the figures are all there is to see. */
  readonly drawing?: Drawing;
}

export interface ViewColumn {
  readonly head: string;
  readonly kind?: 'number' | 'code';
}

export type Cell = string | Mark;

/** A state, in words and a color. */
export interface Mark {
  readonly words: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'quiet';
}

export interface Drawing {
  /** Columns are side by side along time; bars are below each other, one per name. */
  readonly kind: 'columns' | 'bars';
  readonly labels: readonly string[];
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  /** A color name of dashboard.css. */
  readonly color: string;
  /** The legend of all series of this color; if absent, the name. */
  readonly legend?: string;
  readonly shape: 'stacked' | 'beside' | 'line';
  /** As shown; null: unknown. */
  readonly values: readonly (string | null)[];
}
