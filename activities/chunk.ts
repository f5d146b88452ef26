/** A chunk is short, so that other connections get their turn and a worker that stops has little to finish. */
export const pagesOfChunk = 50;
const maximumMilliseconds = 30_000;

export interface Chunk {
  /** Counts a step: a page, a few fetches. */
  countPage(): void;
  /** Whether the last step counted was the last of this chunk. */
  isOver(): boolean;
  /** Counts a step; true when it was the last of this chunk. */
  pageWasLast(): boolean;
}

export function startChunk(stopping: AbortSignal, maximumPages = pagesOfChunk): Chunk {
  const started = performance.now();
  let pages = 0;
  const chunk: Chunk = {
    countPage() {
      pages += 1;
    },
    isOver: () =>
      stopping.aborted || pages >= maximumPages || performance.now() - started > maximumMilliseconds,
    pageWasLast() {
      chunk.countPage();
      return chunk.isOver();
    },
  };
  return chunk;
}
