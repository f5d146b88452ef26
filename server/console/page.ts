import type { ComponentChildren } from 'preact';
import type { ConsoleParts } from './console-parts.ts';

export interface Page {
  readonly title: string;
  readonly content: ComponentChildren;
  /** Something runs that the page shows: it is refreshed every two seconds instead of every ten. */
  readonly changing?: boolean;
}

export interface PageRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** By the warehouse's clock; ages on the page are counted from it. */
  readonly now: Date;
}

/** Reads what a page shows and draws it; undefined when there is nothing of that name. */
export type PageReader = (parts: ConsoleParts, request: PageRequest) => Promise<Page | undefined>;
