import type { ComponentChildren } from 'preact';
import type { ConsoleParts } from './console-parts.ts';

export interface Page {
  readonly title: string;
  readonly content: ComponentChildren;
  /** True if the page shows something that is running: it then refreshes every two seconds instead of every ten. */
  readonly changing?: boolean;
}

export interface PageRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** By the warehouse's clock; ages on the page are relative to it. */
  readonly now: Date;
}

/** Reads the data of a page and renders it. Returns undefined if the thing it names does not exist. */
export type PageReader = (parts: ConsoleParts, request: PageRequest) => Promise<Page | undefined>;
