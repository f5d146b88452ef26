import type { ConsoleParts } from './console-parts.ts';

export interface ActionRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly form: URLSearchParams;
}

/** The outcome in words, and the page that shows it. */
export interface ActionResult {
  readonly notice: string;
  readonly next: string;
}

export type Action = (parts: ConsoleParts, request: ActionRequest) => Promise<ActionResult>;

/** An action that cannot be done. The message says why and what to do; it is shown on the page that asked for the action. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
}
