import { checkBooks } from './check-books.ts';

/** The results of random books. */
export interface BooksResult {
  readonly batches: number;
  readonly books: number;
  readonly documents: number;
  readonly rows: number;
  readonly figures: number;
  readonly seconds: number;
  /** The first batch with a wrong figure. */
  readonly failure: {
    readonly seed: number;
    readonly today: string;
    readonly differences: readonly string[];
  } | null;
}

/** With so many bills a book has every kind of document and edit, and is quick for a person to read. */
export const billsPerBook = 24;

/** The number of books that share one build: a build takes half a minute, whether for one book or for forty. */
export const booksPerBatch = 40;

/** Checks batch after batch of random books, until a figure is wrong or `goesOn` returns false. */
export async function runBooks(
  createDatabase: () => Promise<string>,
  input: {
    seed: number;
    documents: number;
    goesOn: (batches: number) => boolean;
    onBatch?: (sofar: BooksResult) => void;
  },
): Promise<BooksResult> {
  const started = performance.now();
  let result: BooksResult = {
    batches: 0,
    books: 0,
    documents: 0,
    rows: 0,
    figures: 0,
    seconds: 0,
    failure: null,
  };
  while (result.failure === null && input.goesOn(result.batches)) {
    const seed = input.seed + result.batches * booksPerBatch;
    const databaseUrl = await createDatabase();
    const checked = await checkBooks({ databaseUrl, seed, books: booksPerBatch, documents: input.documents });
    const { today, differences } = checked;
    result = {
      batches: result.batches + 1,
      books: result.books + checked.books,
      documents: result.documents + checked.documents,
      rows: result.rows + checked.rows,
      figures: result.figures + checked.figures,
      seconds: Math.round((performance.now() - started) / 1000),
      failure: differences.length === 0 ? null : { seed, today, differences },
    };
    input.onBatch?.(result);
  }
  return result;
}
