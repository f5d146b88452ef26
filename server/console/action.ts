import type { ConsoleParts } from './console-parts.ts';

export interface ActionRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly form: URLSearchParams;
}

/** What came of it, and the page that says so. */
export interface ActionResult {
  readonly notice: string;
  readonly next: string;
}

export type Action = (parts: ConsoleParts, request: ActionRequest) => Promise<ActionResult>;

/** What was asked for cannot be done; the sentence says why, and what to do. Shown on the page it was asked on. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
}
